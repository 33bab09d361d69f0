//! What is known of nests: that they are legal, that they are not, or neither.

use super::program::Program;
use super::violation::Violation;
use crate::ir::Name;
use crate::poly::Error;
use std::fmt;

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The nests compute what their definition says.
    Legal,
    /// They do not.
    Illegal(Box<Violation>),
    /// That is not known.
    Undecided(Undecided),
}

/// Why nothing is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecided {
    /// A nest was read: nothing says what it should compute.
    #[error("nothing says what the nest should compute")]
    NoDefinition,
    /// A statement was made by hand.
    #[error("what `{statement}` executes of the definition is not known")]
    Unknown {
        /// A statement.
        statement: String,
    },
    /// A statement computes something else than the definition says.
    #[error("`{statement}` is not what the definition says: `{original}`")]
    Rewritten {
        /// The statement.
        statement: String,
        /// The original at the same place.
        original: String,
    },
    /// An access may leave its tensor.
    #[error("it is not clear whether `{text}` stays inside its tensors in all iterations")]
    Outside {
        /// The nest, counted from 0.
        nest: usize,
        /// The statement or fill.
        text: String,
    },
    /// Values pass through too many copies.
    #[error("a value is copied more often than is followed")]
    Copied,
    /// The polyhedral library did not find out in time.
    #[error(
        "the polyhedral library took more than {operations} operations to find out whether {question}"
    )]
    Budget {
        /// What was asked.
        question: Question,
        /// Of which nest, counted from 0.
        nest: usize,
        /// How many operations it was given.
        operations: u64,
    },
    /// The polyhedral library has no answer.
    #[error(transparent)]
    Library(#[from] Error),
}

/// What is asked of nests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Whether all instances of the definition are executed, each once.
    Instances,
    /// Whether the instances of two statements of the definition, or of one, keep their order.
    Order([String; 2]),
    /// Whether values pass through local tensors to what reads them.
    Values,
    /// Whether no two iterations that a loop runs at the same time touch one element.
    Independence {
        /// The loop.
        by: Name,
        /// Whether it is parallel; else it is vector.
        parallel: bool,
    },
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Question::Instances => f.write_str("every instance of the definition is executed once"),
            Question::Order([one, other]) if one == other => {
                write!(f, "the instances of `{one}` keep their order")
            }
            Question::Order([one, other]) => {
                write!(f, "the instances of `{one}` and `{other}` keep their order")
            }
            Question::Values => f.write_str("every operand has the value of the definition"),
            Question::Independence { by, parallel } => {
                let mode = if *parallel { "parallel" } else { "vector" };
                write!(
                    f,
                    "the iterations of the {mode} loop `{by}` are independent"
                )
            }
        }
    }
}

impl Undecided {
    /// That a question about a program has no answer.
    pub(super) fn of(program: &Program, question: Question, error: Error) -> Undecided {
        match error {
            Error::Quota { operations } => Undecided::Budget {
                question,
                nest: program.leaves.first().map_or(0, |leaf| leaf.place[0]),
                operations,
            },
            other => Undecided::Library(other),
        }
    }

    /// The nest that is asked about, counted from 0, if it is one.
    pub fn nest(&self) -> Option<usize> {
        match self {
            Undecided::Budget { nest, .. } | Undecided::Outside { nest, .. } => Some(*nest),
            _ => None,
        }
    }

    /// The loops that it is about.
    pub fn culprits(&self) -> Vec<Name> {
        match self {
            Undecided::Budget {
                question: Question::Independence { by, .. },
                ..
            } => vec![by.clone()],
            _ => Vec::new(),
        }
    }

    /// What can be done.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Undecided::NoDefinition | Undecided::Library(_) => None,
            Undecided::Budget { .. } => Some(
                "put fewer statements or loops into one nest; or let `teml check --exhaustive` execute \
                 every instance at a small size, and say why all sizes are right with \
                 `assume(nest, why)`",
            ),
            Undecided::Unknown { .. }
            | Undecided::Rewritten { .. }
            | Undecided::Outside { .. }
            | Undecided::Copied => Some(
                "let `teml check --exhaustive` execute every instance, and say why the nest is right \
                 with `assume(nest, why)`",
            ),
        }
    }
}
