//! What this program and its workers say to each other: one JSON value per line.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;

/// What a worker is asked to do. It numbers kernels and buffers from 0 in the order of requests.
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
    /// What always comes first.
    pub(super) arguments: Vec<OsString>,
    /// The flags of CFLAGS.
    pub(super) flags: Vec<OsString>,
    /// What is added to the environment.
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
    /// Whether to call it once more before, which does not count, and to restore what it reads then:
    /// kernels that were run in between left their data in the caches, and threads that slept take
    /// longer than a short kernel to wake.
    pub(super) warm_up: bool,
}

impl Call {
    /// Writes to another buffer instead of one; `word` is what unset elements hold there.
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

/// What a buffer must hold before a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Restore {
    /// What the buffer `from`, of the same length, holds.
    Copy { from: usize, to: usize },
    /// The same word all over.
    Fill { to: usize, word: u32 },
}

impl Restore {
    /// Whether the kernel reads what it restores.
    pub(super) fn copies(&self) -> bool {
        matches!(self, Restore::Copy { .. })
    }
}

/// What a worker answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// It has started and takes requests.
    Ready,
    /// The kernel or the buffer is there.
    Done,
    /// The call took so long.
    Ran { nanoseconds: u64 },
    /// The compiler.
    Compiler(Configured),
    /// It could not do it.
    Failed { reason: String },
}
