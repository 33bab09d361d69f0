//! One measurement at a time in this process; among processes, `machine_lock.rs`.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Measurements hold it for writing, and work that would disturb them for reading. Work that is
/// distributed among threads must not hold it: a thread that waits for its share may be given other
/// work, which may want this lock.
static MEASURING: RwLock<()> = RwLock::new(());

/// Waits until no measurement runs, and lets none begin while the guard lives.
pub(super) fn pause_measuring() -> RwLockReadGuard<'static, ()> {
    MEASURING.read().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until no measurement runs.
pub(super) fn wait() {
    drop(pause_measuring());
}

/// Waits until no disturbing work runs, and lets none begin while the guard lives.
pub(super) fn alone() -> RwLockWriteGuard<'static, ()> {
    MEASURING.write().unwrap_or_else(PoisonError::into_inner)
}
