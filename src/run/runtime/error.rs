//! The errors between C text and a result.

use super::agreement::Agreement;
use super::diagnostics::{SHOWN, is_lack};
use super::elements::Scalar;
use super::facts::FalseFact;
use super::protocol::DeviceFailure;
use crate::ir::{Elem, Tensor};
use std::path::PathBuf;
use std::time::Duration;

/// Why a kernel could not be compiled, run, checked or measured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RuntimeError {
    /// None of the compilers could be started.
    #[error("no C compiler found (tried {}): {}", tried.join(", "), compiler_help(tried))]
    NoCompiler {
        /// The compilers that were tried, each with the reason why it failed.
        tried: Vec<String>,
    },
    /// The compiler refused the C.
    #[error("the C compiler `{compiler}` refused kernel `{kernel}`\n{report}")]
    CompileFailed {
        kernel: String,
        compiler: String,
        /// The line of the first error in the C, counted from 1, where the compiler named one.
        line: Option<usize>,
        /// The first error and the C around it; all the compiler's output where it named no
        /// line.
        report: String,
    },
    /// The compiler exceeded its time limit.
    #[error(
        "the C compiler `{compiler}` was still at kernel `{kernel}` after {limit:?} and was \
         stopped: a very large unrolled or vectorized body can cause that, so unroll less or \
         raise the limit"
    )]
    CompileTimedOut {
        kernel: String,
        compiler: String,
        /// The time limit.
        limit: Duration,
    },
    /// The compiler died of a signal.
    #[error(
        "the C compiler `{compiler}` was killed by {signal} while it compiled kernel `{kernel}`: \
         {hint}"
    )]
    CompilerKilled {
        kernel: String,
        compiler: String,
        signal: &'static str,
        /// The usual cause.
        hint: &'static str,
    },
    /// A shared object cannot be stored anywhere.
    #[error(
        "cannot store compiled kernels: {}; make room there, or point TEML_CACHE_DIR or TMPDIR at \
         a directory that can be written",
        tried.join("; ")
    )]
    NoStorage {
        /// The directories that were tried, each with the reason why it failed.
        tried: Vec<String>,
    },
    /// There is no memory for a tensor.
    #[error("no memory for tensor `{tensor}` of {}: {reason}", bytes_text(*bytes))]
    Allocation {
        tensor: String,
        /// Bytes of its elements (saturated if they overflow).
        bytes: u64,
        /// The system's message.
        reason: String,
    },
    /// A list of values has the wrong length.
    #[error("tensor `{tensor}` has {expected} elements, and {given} values were given")]
    DataLength {
        tensor: String,
        /// The number of its elements.
        expected: u64,
        /// The number of values.
        given: u64,
    },
    /// A value cannot be an element of the tensor.
    #[error(
        "{value} cannot be an element of tensor `{tensor}`: its elements are {elem}, whole numbers"
    )]
    NotAnElement {
        tensor: String,
        elem: Elem,
        value: Scalar,
    },
    /// A tensor has another element than 0 where its declaration says that it has zeros.
    #[error("{}, and {}{} is {value}", zeros(.tensor), .tensor.label(), place(.index))]
    NotZero {
        tensor: Tensor,
        /// The indices of the element.
        index: Vec<u64>,
        value: Scalar,
    },
    /// An entry is not as the facts about the tensor say.
    #[error("{0}")]
    FalseFact(Box<FalseFact>),
    /// Values of another type than the tensor's elements.
    #[error("tensor `{tensor}` has elements of type {expected}, and {given} values were given")]
    DataType {
        tensor: String,
        /// The type of its elements.
        expected: Elem,
        /// The type of the values.
        given: Elem,
    },
    /// The bounds of random numbers exclude all numbers.
    #[error(
        "there are no random numbers from {low} to {high} for tensor `{tensor}`, whose elements \
         are {elem}"
    )]
    NoRange {
        tensor: String,
        elem: Elem,
        low: Scalar,
        high: Scalar,
    },
    /// A file does not hold an array.
    #[error("cannot read `{}`: {reason}", file.display())]
    NoArray { file: PathBuf, reason: String },
    /// The number of data sources is not the number of arguments.
    #[error("kernel `{kernel}` takes {expected} arguments, and data for {given} were given")]
    Arguments {
        kernel: String,
        /// The number of its arguments.
        expected: usize,
        /// The number of data sources.
        given: usize,
    },
    /// The worker process could not be started.
    #[error(
        "cannot start the process that runs kernels (`{} worker`): {reason}",
        program.display()
    )]
    WorkerStart {
        program: PathBuf,
        /// The system's message, or the program's answer.
        reason: String,
    },
    /// The worker process refused a request, or gave an unexpected answer.
    #[error("the process that runs kernels failed with kernel `{kernel}`: {reason}")]
    WorkerFailed {
        kernel: String,
        /// The worker's message.
        reason: String,
    },
    /// Processes on other machines were not started, or have all ended.
    #[error("{program}: {reason}")]
    NotLaunched {
        /// The program that was to start them.
        program: String,
        /// The program's message.
        reason: String,
    },
    /// A kernel crashed.
    #[error("kernel `{kernel}` crashed ({signal}): {hint}")]
    Crashed {
        kernel: String,
        signal: &'static str,
        /// The usual cause.
        hint: &'static str,
    },
    /// A device did not run a kernel.
    #[error("the device cannot run kernel `{kernel}`: {}", failure.reason)]
    Device {
        kernel: String,
        failure: DeviceFailure,
    },
    /// A kernel ended its process.
    #[error("kernel `{kernel}` ended its process (exit status {status}) instead of returning")]
    Exited { kernel: String, status: i32 },
    /// A kernel did not return in time.
    #[error(
        "kernel `{kernel}` was still running after {limit:?} and was stopped: use smaller extents \
         or raise the limit"
    )]
    TimedOut {
        kernel: String,
        /// The time limit.
        limit: Duration,
    },
    /// A kernel wrote outside a tensor.
    #[error(
        "kernel `{kernel}` wrote outside tensor `{tensor}`: to what would be its element \
         {position}, {distance} bytes {} (its elements count from 0 to {})",
        if *position < 0 { "before its first" } else { "after its last" },
        elements.saturating_sub(1)
    )]
    OutOfBounds {
        kernel: String,
        tensor: String,
        /// The number of the tensor's elements.
        elements: u64,
        /// The flat index that the write would have had; negative before the tensor.
        position: i64,
        /// Bytes between the tensor and the nearest byte written.
        distance: u64,
    },
    /// Two tensors cannot be compared element by element.
    #[error("cannot compare {left} with {right}")]
    Incomparable {
        /// The reference, in words.
        left: String,
        /// The result, in words.
        right: String,
    },
    /// A kernel's output after its timed runs is not the output that was checked.
    #[error(
        "kernel `{kernel}` of `{label}` gave another `{tensor}` after its timed runs than when \
         it was checked, so its times count for nothing; a data race can cause that.\n{comparison}"
    )]
    Unstable {
        label: String,
        kernel: String,
        tensor: String,
        /// The differences.
        comparison: Box<Agreement>,
    },
    /// Someone asked to stop.
    #[error("interrupted while {during}")]
    Interrupted {
        /// The activity that was interrupted, such as "compiling kernel `mm`".
        during: String,
    },
}

/// A number of bytes for messages: `1.5 GiB`.
pub(super) fn bytes_text(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0);
    format!("{value:.digits$} {}", UNITS[unit])
}

/// The name of a signal, and the usual cause when a kernel or a compiler dies of it.
pub(super) fn signal_text(signal: i32) -> (&'static str, &'static str) {
    match signal {
        libc::SIGSEGV => (
            "SIGSEGV",
            "it touched memory outside its tensors, wrote to an input, or its local arrays are \
             larger than the stack",
        ),
        libc::SIGFPE => (
            "SIGFPE",
            "integer division by zero, or its quotient overflowed",
        ),
        libc::SIGABRT => (
            "SIGABRT",
            "it called abort, or the C library found its memory damaged",
        ),
        libc::SIGBUS => ("SIGBUS", "memory that it touched could not be provided"),
        libc::SIGILL => (
            "SIGILL",
            "an instruction that this processor does not have, or a trap",
        ),
        libc::SIGTRAP => ("SIGTRAP", "a trap"),
        libc::SIGKILL => (
            "SIGKILL",
            "something outside killed it, most often the system when memory runs out",
        ),
        libc::SIGTERM => ("SIGTERM", "something outside ended it"),
        libc::SIGXCPU => (
            "SIGXCPU",
            "it used up the processor time that `ulimit -t` allows",
        ),
        libc::SIGXFSZ => ("SIGXFSZ", "it met the file size that `ulimit -f` allows"),
        _ => ("a signal", "something outside may have sent it"),
    }
}

/// Help for a missing C compiler.
fn compiler_help(tried: &[String]) -> String {
    if tried.iter().any(|why| is_lack(why)) {
        format!("the system gives too little; {SHOWN}")
    } else {
        "install one (`apt install gcc`, or `dnf install gcc`), or name one in the environment \
              variable CC"
            .to_owned()
    }
}
/// The zeros of a tensor, by its declaration.
fn zeros(tensor: &Tensor) -> String {
    let label = tensor.label();
    match (tensor.triangle(), tensor.inner()) {
        (Some(triangle), _) => format!("`{label}` was said to be {} triangular", triangle.word()),
        (None, inner) => format!("`{label}` has zeros behind {}", place(inner.unwrap_or(&[]))),
    }
}

fn place(index: &[u64]) -> String {
    index.iter().map(|k| format!("[{k}]")).collect()
}
