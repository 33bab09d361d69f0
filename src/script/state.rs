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
    /// The first error of printing.
    pub unwritten: Option<std::io::Error>,
    /// Where kernels are made and tried.
    pub workbench: Workbench,
    /// The directory that imports may not leave, in canonical form.
    pub root: PathBuf,
    /// The same directory as the user gave it.
    pub given_root: PathBuf,
    /// The file of the script that runs; `None` for lines of a dialog and standard input.
    pub main: Option<PathBuf>,
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
    /// Prints a line. Where that fails, the script goes on, since what it saves may be wanted all
    /// the same, and [`State::written`] tells.
    pub fn print(&mut self, text: &str) {
        let printed = writeln!(self.output, "{text}");
        self.note(printed);
    }

    /// Prints a line that someone may be waiting for.
    pub fn print_now(&mut self, text: &str) {
        self.print(text);
        let flushed = self.output.flush();
        self.note(flushed);
    }

    /// Whether all that was printed could be written.
    ///
    /// # Errors
    /// The first error since this was asked.
    pub fn written(&mut self) -> std::io::Result<()> {
        let flushed = self.output.flush();
        self.note(flushed);
        self.unwritten.take().map_or(Ok(()), Err)
    }

    fn note(&mut self, written: std::io::Result<()>) {
        self.unwritten = self.unwritten.take().or(written.err());
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
