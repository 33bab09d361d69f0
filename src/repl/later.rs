//! A REPL that is opened while its prompt is already shown.

use super::Repl;
use crate::script::ScriptError;
use std::io::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// A REPL that may still be opening.
pub(super) struct Later(Mutex<Opening>);

enum Opening {
    Going(JoinHandle<Result<Repl, ScriptError>>),
    Done(Box<Repl>),
    Failed(Option<ScriptError>),
}

/// The stack of the thread that opens a session, which compiles the library.
const STACK: usize = 16 << 20;

impl Later {
    pub(super) fn open(repl: Repl) -> Later {
        Later(Mutex::new(Opening::Done(Box::new(repl))))
    }

    pub(super) fn opening(
        open: impl FnOnce() -> Result<Repl, ScriptError> + Send + 'static,
    ) -> Result<Later, Error> {
        let thread = std::thread::Builder::new().stack_size(STACK);
        Ok(Later(Mutex::new(Opening::Going(thread.spawn(open)?))))
    }

    /// Waits until the REPL is open and returns the result of `use_it`; `None` if it cannot be
    /// opened.
    pub(super) fn with<T>(&self, use_it: impl FnOnce(&mut Repl) -> T) -> Option<T> {
        let mut state = self.state();
        if let Opening::Going(_) = *state
            && let Opening::Going(thread) = std::mem::replace(&mut *state, Opening::Failed(None))
        {
            let opened = thread.join();
            *state = match opened.unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
                Ok(repl) => Opening::Done(Box::new(repl)),
                Err(error) => Opening::Failed(Some(error)),
            };
        }
        match &mut *state {
            Opening::Done(repl) => Some(use_it(repl)),
            Opening::Going(_) | Opening::Failed(_) => None,
        }
    }

    /// Why it cannot be opened.
    pub(super) fn failure(&self) -> Option<ScriptError> {
        match &mut *self.state() {
            Opening::Failed(error) => error.take(),
            Opening::Going(_) | Opening::Done(_) => None,
        }
    }

    fn state(&self) -> MutexGuard<'_, Opening> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
