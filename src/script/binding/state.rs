//! The state that the functions of a session share.

use crate::diag::Diagnostic;
use crate::ir::Site;
use crate::reader::places::Places;
use crate::verbs::Bench;
use rhai::Position;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The state that the functions of a session share. Never hold the lock while script code runs.
pub struct State {
    /// The texts that were compiled.
    pub places: Places,
    /// The directory that imports may not leave, in canonical form.
    pub root: PathBuf,
    /// The same directory as the user gave it.
    pub given_root: PathBuf,
    /// The calls of the library that are under way, each where a script asked for it.
    pub invocations: Vec<Site>,
    /// How often kernels were run.
    pub runs: usize,
    /// Warnings for the user at the end of the script, by position.
    pub warnings: Vec<(Position, Diagnostic)>,
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

    /// The place in a script of the call at a position. For a position in the library, that is the
    /// script's call of the library.
    pub fn site(&self, position: Position) -> Option<Site> {
        if self.places.is_library(position) {
            self.invocations.last().cloned()
        } else {
            None
        }
        .or_else(|| self.places.site(position))
    }
}

/// The state and the workbench behind their locks; cheap to clone.
#[derive(Clone)]
pub struct Shared {
    state: Arc<Mutex<State>>,
    bench: Bench,
}

impl Shared {
    /// Shares `state`, with the workbench where kernels are made and tried.
    pub fn new(state: State, bench: Bench) -> Shared {
        let state = Arc::new(Mutex::new(state));
        Shared { state, bench }
    }

    /// The workbench.
    pub fn bench(&self) -> &Bench {
        &self.bench
    }

    /// The state. A panic of another holder does not matter: nothing is left half done.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
