//! What can go wrong with a set.

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
        /// What was tried, each with the reason it did not do.
        tried: Vec<String>,
    },
    /// isl cannot read this.
    #[error("this is not a set or map in isl's notation ({reason}): {text}")]
    Text {
        /// What was to be read.
        text: String,
        /// What isl says.
        reason: String,
    },
    /// The computation took more than it was given.
    #[error("not decided within {operations} operations of isl")]
    Quota {
        /// What it was given.
        operations: u64,
    },
    /// Somebody stopped it.
    #[error("stopped before it was decided")]
    Stopped,
    /// There are more points or pairs than were asked for.
    #[error("there are more than {limit} points")]
    TooMany {
        /// How many were asked for.
        limit: usize,
    },
    /// Infinitely many points cannot be listed.
    #[error("there are infinitely many points")]
    Unbounded,
    /// Points of a set with parameters cannot be listed.
    #[error("the set has parameters, and its points depend on them")]
    Parameters,
    /// isl refused, for instance because tuples do not fit together.
    #[error("isl_{function} failed: {reason}")]
    Failed {
        /// The function of isl, without `isl_`.
        function: &'static str,
        /// What isl says.
        reason: String,
    },
}
