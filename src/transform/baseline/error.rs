//! Reasons why there is no schedule.

use crate::ir::Name;
use crate::legality::{Undecided, Violation};
use crate::poly;

/// Why there is no schedule.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NoSchedule {
    /// The nest has no definition, or its definition is not what `build` makes.
    #[error("only nests that `build`, `sweep` and `repeat` made of them are scheduled")]
    Unknown,
    /// An initialization is part of a loop of the definition.
    #[error(
        "the loops keep their order: {tensor} is initialized anew in each iteration of a loop, and \
         initializations of what is scheduled come before all loops. Give {tensor} a dimension for \
         that loop"
    )]
    Initialized { tensor: String },
    /// A loop of the definition has a step other than 1.
    #[error("outside of what is scheduled: loop `{name}` of the definition has steps of {step}")]
    Steps {
        /// The loop.
        name: Name,
        step: i64,
    },
    /// The bounds of a loop of the definition are read from a tensor.
    #[error(
        "outside of what Pluto's algorithm schedules: the bounds of loop `{name}` are read from a \
         tensor"
    )]
    Read { name: Name },
    /// A value passes through a local tensor.
    #[error(
        "the loops keep their order: all iterations of the loops around share the local tensor \
         {tensor}, as they share a scalar in Pluto, which renames none. Give {tensor} a dimension for \
         these loops, and make it no local tensor"
    )]
    Local {
        /// The local tensor.
        tensor: String,
    },
    /// There is no legal hyperplane with nonnegative coefficients.
    #[error(
        "outside of what Pluto's algorithm finds: no further loop over {} keeps all dependences, \
         with coefficients that are not negative",
        .targets.join(", ")
    )]
    NoHyperplane {
        /// The targets of the statements that would share it.
        targets: Vec<String>,
    },
    /// Statements would change places inside of shared loops.
    #[error(
        "outside of what steps express: the loops found have {later} before {first}, which the \
         definition has first"
    )]
    Order {
        /// The statement that is first in the definition.
        first: String,
        /// The statement that would run before it.
        later: String,
    },
    /// The new loops would skip iterations.
    #[error(
        "outside of what steps express: the loops found for {target} would need strides ({rows})"
    )]
    Strided {
        /// The target of the statement.
        target: String,
        /// The hyperplanes as text.
        rows: String,
    },
    /// The requested diamond tiles are impossible.
    #[error("there are no diamond tiles: {0}")]
    NoDiamond(&'static str),
    /// A transformation refuses.
    #[error("the schedule has no path: {0}")]
    NoPath(Box<crate::Error>),
    /// The polyhedral library has no answer.
    #[error(transparent)]
    Library(#[from] poly::Error),
    /// The result is illegal.
    #[error(
        "outside of what is scheduled: the order that Pluto's algorithm finds would break a \
         dependence: {0}"
    )]
    Illegal(Box<Violation>),
    /// The result is not proved to be legal.
    #[error("there is no proof that the schedule that was found is legal: {0}")]
    Undecided(Undecided),
    /// Sizes name a statement that does not exist.
    #[error(
        "the option `{option}` has sizes for `{name}`, which is neither what a statement writes nor \
         `S` and a statement's number: there are {}",
        .valid.join(", ")
    )]
    NoStatement {
        option: &'static str,
        /// The given name.
        name: String,
        /// All statements.
        valid: Vec<String>,
    },
    /// Statements that share tiles have different sizes.
    #[error(
        "{first} and {later} share a loop over tiles, whose size in the option `{option}` is {} for \
         the one and {} for the other: give both the same size there",
        .sizes[0], .sizes[1]
    )]
    SharedSize {
        option: &'static str,
        /// A statement.
        first: String,
        /// Another one.
        later: String,
        /// Their sizes.
        sizes: [i64; 2],
    },
    /// There are more sizes than loops.
    #[error(
        "the option `{option}` has too many sizes for {statement}: {sizes}, and the number of its \
         tiled loops is {loops}"
    )]
    TooManySizes {
        option: &'static str,
        statement: String,
        /// The number of sizes.
        sizes: usize,
        /// The number of loops.
        loops: usize,
    },
    /// An option does not exist.
    #[error("there is no option `{name}`: the options are {}", .valid.join(", "))]
    NoOption {
        /// The given name.
        name: String,
        /// The existing names.
        valid: Vec<&'static str>,
    },
    /// An option has the wrong type, or is out of range.
    #[error("the option `{name}` must be {expected}")]
    BadOption {
        /// The option.
        name: &'static str,
        /// The expected value.
        expected: &'static str,
    },
}

impl From<crate::Error> for NoSchedule {
    fn from(error: crate::Error) -> NoSchedule {
        NoSchedule::NoPath(Box::new(error))
    }
}
