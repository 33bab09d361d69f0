//! Stops isl from another thread, in all contexts.

use super::library::{Library, RawContext};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A live context.
struct Alive {
    library: &'static Library,
    raw: NonNull<RawContext>,
}

// SAFETY: other threads only set and clear the flag that isl keeps for them.
unsafe impl Send for Alive {}

/// All contexts, and whether they are stopped.
struct Contexts {
    alive: Vec<Alive>,
    stopped: bool,
}

static CONTEXTS: Mutex<Contexts> = Mutex::new(Contexts {
    alive: Vec::new(),
    stopped: false,
});

fn contexts() -> MutexGuard<'static, Contexts> {
    CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers a new context, and stops it if the others are stopped.
pub(super) fn add(library: &'static Library, raw: NonNull<RawContext>) {
    let mut contexts = contexts();
    let context = Alive { library, raw };
    if contexts.stopped {
        context.stop();
    }
    contexts.alive.push(context);
}

/// Unregisters a context before it is freed.
pub(super) fn remove(raw: NonNull<RawContext>) {
    contexts().alive.retain(|context| context.raw != raw);
}

/// Stops isl in all threads. The current operation fails with
/// [`Error::Stopped`](super::Error::Stopped), and so do all others until [`resume`].
///
/// Source: `isl_ctx_abort`.
pub fn stop() {
    let mut contexts = contexts();
    contexts.stopped = true;
    contexts.alive.iter().for_each(Alive::stop);
}

/// Whether isl is stopped. Every long computation polls this, also outside of isl.
pub fn is_stopped() -> bool {
    contexts().stopped
}

/// Lets isl continue after [`stop`].
///
/// Source: `isl_ctx_resume`.
pub fn resume() {
    let mut contexts = contexts();
    if std::mem::replace(&mut contexts.stopped, false) {
        contexts.alive.iter().for_each(Alive::resume);
    }
}

impl Alive {
    fn stop(&self) {
        // SAFETY: contexts are removed before they are freed, under the lock that is held; isl
        // means this call for other threads.
        unsafe { (self.library.ctx_abort)(self.raw.as_ptr()) };
    }

    fn resume(&self) {
        // SAFETY: as for `stop`.
        unsafe { (self.library.ctx_resume)(self.raw.as_ptr()) };
    }
}
