//! What the functions of a session share.

use super::definitions::Definitions;
use super::places::Places;
use super::workbench::Workbench;
use crate::diag::Diagnostic;
use crate::ir::Site;
use rhai::Position;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the functions of a session share. Never hold the lock while script code runs.
pub struct State {
    /// The texts that were compiled.
    pub places: Places,
    /// What was assigned.
    pub definitions: Definitions,
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
    /// The calls of the library that are under way, each where a script asked for it.
    pub invocations: Vec<Site>,
    /// How often kernels were run.
    pub runs: usize,
    /// What to tell the user when the script has ended, by the places that it is about.
    pub warnings: Vec<(Position, Diagnostic)>,
    /// The notes that were printed since a script, or a line of a dialog, began.
    pub notes: Vec<String>,
    /// Whether it was said what the order of sums costs.
    pub explains_order: bool,
    /// Whether anything was shown, checked, run or written.
    pub has_effect: bool,
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
    /// Keeps a warning, once for each place.
    pub fn warn(&mut self, position: Position, warning: Diagnostic) {
        if self.warnings.iter().all(|(known, _)| *known != position) {
            self.warnings.push((position, warning));
        }
    }

    /// Where a script asked for what is called at a position: there or, in the library, where it
    /// called the library.
    pub fn site(&self, position: Position) -> Option<Site> {
        if self.places.is_library(position) {
            self.invocations.last().cloned()
        } else {
            None
        }
        .or_else(|| self.places.site(position))
    }

    /// Prints a line. Where that fails, the script goes on, since what it saves may be wanted all
    /// the same, and [`State::written`] tells.
    pub fn print(&mut self, text: &str) {
        self.has_effect = true;
        let printed = writeln!(self.output, "{text}");
        self.note(printed);
    }

    /// Prints a note, once for each script and each line of a dialog.
    pub fn print_note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.print_now(&note);
            self.notes.push(note);
        }
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
