//! Verdicts on nests: legal, illegal or undecided.

use super::program::Program;
use super::violation::Violation;
use crate::ir::Name;
use crate::poly::Error;
use std::fmt;

/// The answer of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The nests compute their definition.
    Legal,
    /// They do not.
    Illegal(Box<Violation>),
    /// Neither is known.
    Undecided(Undecided),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecided {
    /// A nest was read from a text: it has no definition.
    #[error("nothing says what the nest should compute")]
    NoDefinition,
    /// A statement was made by hand.
    #[error("what `{statement}` executes of the definition is not known")]
    Unknown { statement: String },
    /// A statement computes something else than the definition.
    #[error("`{statement}` is not what the definition says: `{original}`")]
    Rewritten {
        statement: String,
        /// The original at the same position.
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
    /// It is right at some sizes, for which it could not be proved together with all others.
    #[error("it is right at {at}, and not proved for all sizes")]
    Sizes {
        /// The sizes, such as `M = 1, N = 2`.
        at: String,
    },
    /// A fill or an update sets elements only in iterations whose bounds are read.
    #[error("`{text}` runs only where bounds that are read allow it, which is not followed")]
    Skipped {
        /// The statement or fill.
        text: String,
    },
    /// A chain of copies is too long to follow.
    #[error("a value is copied more often than is followed")]
    Copied,
    /// The polyhedral library exhausted its budget.
    #[error(
        "the polyhedral library took more than {operations} operations to find out whether {question}"
    )]
    Budget {
        /// The open question.
        question: Question,
        /// The nest that it concerns, counted from 0.
        nest: usize,
        /// The budget in operations.
        operations: u64,
    },
    /// The polyhedral library has no answer.
    #[error(transparent)]
    Library(#[from] Error),
}

/// A question about nests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Whether all instances of the definition are executed, each once.
    Instances,
    /// Whether the instances of two statements of the definition, or of one, keep their order.
    Order([String; 2]),
    /// Whether values pass through local tensors to their readers.
    Values,
    /// Whether no two iterations that a loop runs at the same time conflict.
    Independence {
        by: Name,
        /// Whether it is parallel; otherwise it is a vector loop.
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
    /// An undecided question about a program.
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

    /// The nest in question, counted from 0, if there is exactly one.
    pub fn nest(&self) -> Option<usize> {
        match self {
            Undecided::Budget { nest, .. } | Undecided::Outside { nest, .. } => Some(*nest),
            _ => None,
        }
    }

    /// The loops in question.
    pub fn culprits(&self) -> Vec<Name> {
        match self {
            Undecided::Budget {
                question: Question::Independence { by, .. },
                ..
            } => vec![by.clone()],
            _ => Vec::new(),
        }
    }

    /// A remedy for the user.
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
            | Undecided::Sizes { .. }
            | Undecided::Skipped { .. }
            | Undecided::Copied => Some(
                "let `teml check --exhaustive` execute every instance, and say why the nest is right \
                 with `assume(nest, why)`",
            ),
        }
    }
}
