//! Paths as values. They are printed as a script, in the paper's notation and as JSON. They are
//! also replayed, shortened and compared.

mod assignment;
mod json;
mod program;
mod replay;

pub use json::{from_json, to_json};
pub use program::{paper, script};
pub use replay::{diff, replay, undo};
pub(super) use replay::{one_step, steps_on};

/// Whether a call of the library is printed as one call, or as the steps that it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calls {
    /// As calls, if a script that makes the call again gets the same nest.
    #[default]
    Folded,
    /// As steps, with each call in a comment.
    Unfolded,
}

/// Why a path cannot be printed or replayed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NoTrace {
    /// The nest was not made by operations.
    #[error("the nest does not know the steps that made it")]
    Unknown,
    /// The path has fewer steps than should be undone.
    #[error("{wanted} steps cannot be undone: the nest has taken {taken} since it was built")]
    TooFew {
        /// The number of steps to undo.
        wanted: i64,
        /// The number of steps taken.
        taken: usize,
    },
    /// A step does not apply.
    #[error("step {number}, {step}: {error}")]
    Step {
        /// The step's number, counted from 1.
        number: usize,
        step: String,
        error: Box<crate::Error>,
    },
    /// The text is not a path.
    #[error("this is not a path: {0}")]
    Unreadable(String),
}
