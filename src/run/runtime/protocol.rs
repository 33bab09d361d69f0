//! The messages between this program and its workers: one JSON value per line.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;

/// A request to a worker. It numbers kernels and buffers from 0 in the order of requests.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// Load a kernel: the function `entry` of a shared object.
    Load { path: OsString, entry: String },
    /// Map a buffer, whose elements begin after `start` bytes.
    Map {
        path: String,
        start: usize,
        writable: bool,
    },
    /// Restore buffers, then call a kernel.
    Run(Call),
    /// Find the C compiler that the environment names.
    Compiler,
}

/// A C compiler and how it is started.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Configured {
    /// A path, or a name to be found in PATH.
    pub(super) program: OsString,
    /// The arguments that always come first.
    pub(super) arguments: Vec<OsString>,
    /// The flags of CFLAGS.
    pub(super) flags: Vec<OsString>,
    /// Additions to the environment.
    pub(super) environment: Vec<(OsString, OsString)>,
}

/// One call of a kernel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) kernel: usize,
    /// The buffer of each argument.
    pub(super) buffers: Vec<usize>,
    pub(super) restore: Vec<Restore>,
    /// How often to call the kernel; the time is the mean.
    pub(super) repeats: u32,
    /// Untimed warm-up call before the timed ones, after which the inputs are restored again. Other
    /// kernels may have filled the caches, and sleeping threads take longer to wake than a short
    /// kernel runs.
    pub(super) warm_up: bool,
}

impl Call {
    /// Redirects writes from one buffer to another; `word` fills the unset elements of the new one.
    pub(super) fn rewire(&mut self, (old, new): (usize, usize), word: u32) {
        for buffer in self.buffers.iter_mut().filter(|buffer| **buffer == old) {
            *buffer = new;
        }
        for restore in &mut self.restore {
            match restore {
                Restore::Copy { to, .. } if *to == old => *to = new,
                Restore::Fill { to, word: known } if *to == old => (*to, *known) = (new, word),
                Restore::Copy { .. } | Restore::Fill { .. } => {}
            }
        }
    }
}

/// The contents that a buffer must have before a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Restore {
    /// Those of the buffer `from`, which has the same length.
    Copy { from: usize, to: usize },
    /// The same word everywhere.
    Fill { to: usize, word: u32 },
}

impl Restore {
    /// Whether the kernel reads the restored contents.
    pub(super) fn copies(&self) -> bool {
        matches!(self, Restore::Copy { .. })
    }
}

/// Why a device did not run a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFailure {
    /// The step that failed and the reason, as the C says them.
    pub reason: String,
    /// Whether no kernel can run, since there is no device, or no library for it.
    pub is_absent: bool,
}

/// A worker's answer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// It has started and takes requests.
    Ready,
    /// The kernel or the buffer is loaded.
    Done,
    /// The time of the call.
    Ran {
        nanoseconds: u64,
    },
    Compiler(Configured),
    /// The device failed with the kernel.
    Device(DeviceFailure),
    /// It failed.
    Failed {
        reason: String,
    },
}
