//! Budgets of polyhedral operations for proofs.

use crate::poly;

/// The budget of one proof, in operations of the polyhedral library.
pub(super) const OPERATIONS: u64 = 20_000_000;

/// Runs proofs that share the budget of a single one.
pub fn together(ask: &mut dyn FnMut()) {
    let asked = poly::bounded(OPERATIONS, || {
        ask();
        Ok(())
    });
    if asked.is_err() {
        // Without the polyhedral library nothing takes long.
        ask();
    }
}

/// Runs `questions` with a shared budget of `operations`. Questions asked after it is spent stay
/// undecided.
pub fn within<T>(operations: u64, questions: impl FnOnce() -> T) -> Option<T> {
    poly::bounded(operations, || Ok(questions())).ok()
}
