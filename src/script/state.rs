//! What the functions of a session share.

use super::places::Places;
use super::workbench::Workbench;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the functions of a session share. Never hold the lock while script code runs.
pub struct State {
    /// The texts that were compiled.
    pub places: Places,
    /// Where scripts print to.
    pub output: Box<dyn Write + Send>,
    /// Where kernels are made and tried.
    pub workbench: Workbench,
    /// The directory that imports may not leave, in canonical form.
    pub root: PathBuf,
    /// The same directory as the user gave it.
    pub given_root: PathBuf,
}

impl State {
    /// A path below the root as messages show it.
    pub fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.root) {
            Ok(relative) => self.given_root.join(relative).display().to_string(),
            Err(_) => path.display().to_string(),
        }
    }
}

impl State {
    /// Prints a line. Nobody is left to tell when output cannot be written: a closed pipe is no
    /// error.
    pub fn print(&mut self, text: &str) {
        let _ = writeln!(self.output, "{text}");
    }
}

/// The state behind its lock; cheap to clone.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<State>>);

impl Shared {
    /// Shares `state`.
    pub fn new(state: State) -> Shared {
        Shared(Arc::new(Mutex::new(state)))
    }

    /// The state. A panic of another holder does not matter: nothing is left half done.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
