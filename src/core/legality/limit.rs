//! How much proofs may take of the polyhedral library.

use crate::poly;

/// How much a proof may take of the polyhedral library.
pub(super) const OPERATIONS: u64 = 20_000_000;

/// Asks for proofs that share the limit which each of them has otherwise.
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

/// What `questions` returns, all of whose answers may take so many operations of the polyhedral
/// library together; what is asked after that is not proved.
pub fn within<T>(operations: u64, questions: impl FnOnce() -> T) -> Option<T> {
    poly::bounded(operations, || Ok(questions())).ok()
}
