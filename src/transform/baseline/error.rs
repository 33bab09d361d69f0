//! Why there is no schedule.

use crate::ir::Name;
use crate::legality::{Undecided, Violation};
use crate::poly;

/// Why there is none.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NoSchedule {
    /// Nothing says what a nest computes, or it is not what `build` makes.
    #[error("only nests that `build`, `sweep` and `repeat` made of them are scheduled")]
    Unknown,
    /// An initialization is part of a loop of the definition.
    #[error(
        "the loops keep their order: {tensor} is initialized anew in each iteration of a loop, and \
         initializations of what is scheduled come before all loops. Give {tensor} a dimension for \
         that loop"
    )]
    Initialized {
        /// The tensor.
        tensor: String,
    },
    /// A loop of the definition has steps.
    #[error("outside of what is scheduled: loop `{name}` of the definition has steps of {step}")]
    Steps {
        /// The loop.
        name: Name,
        /// How far its iterator moves.
        step: i64,
    },
    /// A value goes through a temporary.
    #[error(
        "the loops keep their order: all iterations of the loops around share the local tensor \
         {tensor}, as they share a scalar in Pluto, which renames none. Give {tensor} a dimension for \
         these loops, and make it no local tensor"
    )]
    Local {
        /// The temporary.
        tensor: String,
    },
    /// No legal hyperplane with coefficients that are not negative.
    #[error(
        "outside of what Pluto's algorithm finds: no further loop over {} keeps all dependences, \
         with coefficients that are not negative",
        .targets.join(", ")
    )]
    NoHyperplane {
        /// The targets of the statements that would share it.
        targets: Vec<String>,
    },
    /// Statements would change places inside of loops that they share.
    #[error(
        "outside of what steps express: the loops found have {later} before {first}, which the \
         definition has first"
    )]
    Order {
        /// The statement that is first in the definition.
        first: String,
        /// The one that would run before it.
        later: String,
    },
    /// The new loops would skip iterations.
    #[error(
        "outside of what steps express: the loops found for {target} would need strides ({rows})"
    )]
    Strided {
        /// The target of the statement.
        target: String,
        /// The hyperplanes as texts.
        rows: String,
    },
    /// Diamond tiles are asked for.
    #[error("there are no diamond tiles: {0}")]
    NoDiamond(&'static str),
    /// A transformation refuses.
    #[error("the schedule has no path: {0}")]
    NoPath(Box<crate::Error>),
    /// The polyhedral library has no answer.
    #[error(transparent)]
    Library(#[from] poly::Error),
    /// The result is not legal.
    #[error(
        "outside of what is scheduled: the order that Pluto's algorithm finds would break a \
         dependence: {0}"
    )]
    Illegal(Box<Violation>),
    /// The result is not proved to be legal.
    #[error("there is no proof that the schedule that was found is legal: {0}")]
    Undecided(Undecided),
    /// Sizes for a statement that there is not.
    #[error(
        "the option `{option}` has sizes for `{name}`, which is neither what a statement writes nor \
         `S` and a statement's number: there are {}",
        .valid.join(", ")
    )]
    NoStatement {
        /// The option.
        option: &'static str,
        /// What was given.
        name: String,
        /// All statements.
        valid: Vec<String>,
    },
    /// Sizes that differ where statements share tiles.
    #[error(
        "{first} and {later} share a loop over tiles, whose size in the option `{option}` is {} for \
         the one and {} for the other: give both the same size there",
        .sizes[0], .sizes[1]
    )]
    SharedSize {
        /// The option.
        option: &'static str,
        /// A statement.
        first: String,
        /// Another one.
        later: String,
        /// Their sizes.
        sizes: [i64; 2],
    },
    /// More sizes than loops.
    #[error(
        "the option `{option}` has too many sizes for {statement}: {sizes}, and the number of its \
         tiled loops is {loops}"
    )]
    TooManySizes {
        /// The option.
        option: &'static str,
        /// The statement.
        statement: String,
        /// How many sizes.
        sizes: usize,
        /// How many loops.
        loops: usize,
    },
    /// An option that there is not.
    #[error("there is no option `{name}`: the options are {}", .valid.join(", "))]
    NoOption {
        /// What was given.
        name: String,
        /// The names that exist.
        valid: Vec<&'static str>,
    },
    /// An option of another type, or out of range.
    #[error("the option `{name}` must be {expected}")]
    BadOption {
        /// The option.
        name: &'static str,
        /// What it must be.
        expected: &'static str,
    },
}

impl From<crate::Error> for NoSchedule {
    fn from(error: crate::Error) -> NoSchedule {
        NoSchedule::NoPath(Box::new(error))
    }
}
