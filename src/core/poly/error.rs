//! Errors of sets and maps.

use super::assumed::Parameters;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// isl could not be loaded.
    #[error(
        "the polyhedral library isl was not found: install it (`apt install libisl23`, or \
         `dnf install isl`), or name its file in the environment variable TEML_ISL (tried {})",
        tried.join(", ")
    )]
    Missing {
        /// The files that were tried, each with its reason for failure.
        tried: Vec<String>,
    },
    /// isl cannot read this text.
    #[error("this is not a set or map in isl's notation ({reason}): {text}")]
    Text {
        text: String,
        /// isl's message.
        reason: String,
    },
    /// The computation exceeded its budget.
    #[error("not decided within {operations} operations of isl")]
    Quota {
        /// The budget in operations.
        operations: u64,
    },
    /// It was stopped from another thread.
    #[error("stopped before it was decided")]
    Stopped,
    /// There are more points or pairs than the limit.
    #[error("there are more than {limit} points")]
    TooMany { limit: usize },
    /// Infinitely many points cannot be listed.
    #[error("there are infinitely many points")]
    Unbounded,
    /// Points of a set with parameters cannot be listed.
    #[error("the set has parameters, and its points depend on them")]
    Parameters,
    /// A set is not empty, at these values of the parameters that are assumed.
    #[error("the answer depends on sizes")]
    Depends(Parameters),
    /// isl refused, for instance because tuples do not match.
    #[error("isl_{function} failed: {reason}")]
    Failed {
        /// The function of isl, without `isl_`.
        function: &'static str,
        /// isl's message.
        reason: String,
    },
}
