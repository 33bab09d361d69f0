//! The bounds of compiling and running: limits, paths, and the request to stop.

use super::error::RuntimeError;
use super::sys;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Limits and paths for compiling and running. They are passed explicitly to everything that waits.
#[derive(Clone, Debug)]
pub struct Control {
    /// A Ctrl-C handler, say, sets this to stop the current work, which then ends with
    /// [`RuntimeError::Interrupted`]. `runtime` only reads it.
    pub interrupt: Arc<AtomicBool>,
    /// The time limit of one call of a kernel. 60 s by default.
    pub run_limit: Duration,
    /// The time limit of compiling one kernel. 120 s by default.
    pub compile_limit: Duration,
    /// The time limit of a query of another program, such as the compiler's version or the path
    /// that pkg-config gives for a library. 20 s by default.
    pub answer_limit: Duration,
    /// The total time of the runs of one set of probes that measure the machine. Half a second by
    /// default.
    pub probe_time: Duration,
    /// The memory limit of these probes in bytes; never more than a 16th of the free memory. `None`
    /// means 512 MiB or, if that is more, a 64th of the free memory.
    pub probe_memory: Option<u64>,
    /// The number of OpenMP threads of a kernel in [`run_once`](super::run_once). By default all
    /// threads that the machine offers this process.
    pub threads: usize,
    /// Whether compilers may run during a measurement. Only if kernels leave cores free.
    pub compiles_beside: bool,
    /// Whether other processes of this program may measure on this machine, so that compilers wait
    /// for them.
    pub shares_machine: bool,
    /// Whether a measurement waits until other programs leave its cores alone, and repeats
    /// disturbed runs, within limits.
    pub patient: bool,
    /// The program whose subcommand `worker` calls [`serve`](fn@super::serve). By default the
    /// running program itself.
    pub worker: PathBuf,
    /// The directory of shared objects. `None` means `$TEML_CACHE_DIR` or, without it, the user's
    /// cache directory.
    pub cache_dir: Option<PathBuf>,
    /// Receives a line of text when something takes longer than its user expects, such as waiting
    /// for another process that measures. By default it goes to standard error.
    pub notice: fn(&str),
}

impl Default for Control {
    fn default() -> Control {
        Control {
            interrupt: Arc::new(AtomicBool::new(false)),
            run_limit: Duration::from_secs(60),
            compile_limit: Duration::from_secs(120),
            answer_limit: Duration::from_secs(20),
            probe_time: Duration::from_millis(500),
            probe_memory: None,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            compiles_beside: false,
            shares_machine: false,
            patient: true,
            // Not the path of the executable: an upgrade may have replaced the file.
            worker: PathBuf::from("/proc/self/exe"),
            cache_dir: None,
            notice: |text| eprintln!("{text}"),
        }
    }
}

impl Control {
    /// Whether someone asked to stop.
    pub fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// How many bytes probes of the machine may touch; see [`Control::probe_memory`].
    pub fn memory_for_probes(&self) -> u64 {
        const USUAL: u64 = 512 << 20;
        let free = sys::available().unwrap_or(u64::MAX);
        let wanted = self.probe_memory.unwrap_or(match free {
            u64::MAX => USUAL,
            free => USUAL.max(free / 64),
        });
        wanted.min(free / 16)
    }

    /// # Errors
    /// [`RuntimeError::Interrupted`] when someone asked to stop.
    pub fn go_on(&self, during: impl FnOnce() -> String) -> Result<(), RuntimeError> {
        if self.interrupted() {
            return Err(RuntimeError::Interrupted { during: during() });
        }
        Ok(())
    }
}
