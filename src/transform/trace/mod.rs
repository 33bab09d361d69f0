//! Paths as values: printed as a script, as the paper writes them and as JSON; replayed,
//! shortened and compared.

mod assignment;
mod json;
mod program;
mod replay;

pub use json::{from_json, to_json};
pub use program::{paper, script};
pub use replay::{diff, replay, undo};
pub(super) use replay::{one_step, steps_on};

/// Whether calls of the library are written as such, or as the steps that they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calls {
    /// As calls, where a script that calls the library again gets the same nest.
    #[default]
    Folded,
    /// As steps, each call in a comment.
    Unfolded,
}

/// Why a path cannot be written down or replayed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NoTrace {
    /// The nest was not made by operations.
    #[error("the nest does not know the steps that made it")]
    Unknown,
    /// Fewer steps than are to be undone.
    #[error("{wanted} steps cannot be undone: the nest has taken {taken} since it was built")]
    TooFew {
        /// How many were to be undone.
        wanted: i64,
        /// How many there are.
        taken: usize,
    },
    /// A step does not apply.
    #[error("step {number}, {step}: {error}")]
    Step {
        /// Counted from 1.
        number: usize,
        /// The step.
        step: String,
        /// Why.
        error: Box<crate::Error>,
    },
    /// A text that is no path.
    #[error("this is not a path: {0}")]
    Unreadable(String),
}
