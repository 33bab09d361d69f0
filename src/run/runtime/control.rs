//! What bounds the work of this room: limits, places, and the wish to stop.

use super::error::RuntimeError;
use super::sys;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Limits and places for compiling and running; passed explicitly to everything that waits.
#[derive(Clone, Debug)]
pub struct Control {
    /// Set (by a Ctrl-C handler, say) to stop what is under way: it then ends with
    /// [`RuntimeError::Interrupted`]. This room only reads it.
    pub interrupt: Arc<AtomicBool>,
    /// How long one call of a kernel may take. 60 s by default.
    pub run_limit: Duration,
    /// How long compiling one kernel may take. 120 s by default.
    pub compile_limit: Duration,
    /// How long another program may take to say what it is: the compiler its version, or pkg-config
    /// where a library is. 20 s by default.
    pub answer_limit: Duration,
    /// How long the runs of one set of probes that measure the machine may take together. Half a
    /// second by default.
    pub probe_time: Duration,
    /// How many bytes these probes may touch; never more than a 16th of the free memory. `None`
    /// stands for 512 MiB or, where that is more, a 64th of the free memory.
    pub probe_memory: Option<u64>,
    /// How many OpenMP threads a kernel gets in [`run_once`](super::run_once). By default as
    /// many as the machine offers this process.
    pub threads: usize,
    /// Whether compilers may run while something is measured. Only where kernels leave cores free.
    pub compiles_beside: bool,
    /// Whether other processes of this program may measure on this machine, so that compilers wait
    /// for them.
    pub shares_machine: bool,
    /// Whether a measurement waits until others leave its cores alone, and repeats the runs that they
    /// disturb, within limits.
    pub patient: bool,
    /// The program whose subcommand `worker` calls [`serve`](fn@super::serve). By default the
    /// running program itself.
    pub worker: PathBuf,
    /// Where shared objects are kept. `None` stands for `$TEML_CACHE_DIR` or, without it, the
    /// user's cache directory.
    pub cache_dir: Option<PathBuf>,
    /// Gets a line of text when something takes longer than its user expects, such as another
    /// process that measures. By default it goes to standard error.
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
            // Not the path of the executable: an upgrade may have replaced what lies there.
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

    /// How many bytes probes of the machine may touch, as [`Control::probe_memory`] says.
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
