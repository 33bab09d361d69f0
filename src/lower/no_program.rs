//! Texts that are no programs.

use crate::analysis::outside::Outside;
use crate::analysis::shape::Mismatch;
use crate::analysis::verify::Invalid;
use crate::ir::{Elem, Name};

/// Why a text is no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoProgram {
    /// A line that cannot be read.
    #[error("line {line} of the text, `{text}`: {what}")]
    Unreadable {
        /// Counted from 1.
        line: usize,
        /// The line.
        text: String,
        /// What was expected or found.
        what: String,
    },
    /// Nothing is assigned.
    #[error("the text assigns nothing")]
    Empty,
    /// A loop inside of one with the same name.
    #[error("the loop `{name}` is inside of another loop `{name}`")]
    Hidden {
        /// The name.
        name: Name,
    },
    /// A nest that violates what every nest satisfies.
    #[error("{0}")]
    Invalid(Invalid),
    /// Element types that differ.
    #[error("`{text}`: {why}")]
    Elems {
        /// The statement.
        text: String,
        /// The operands.
        why: Mismatch,
    },
    /// A function that integers do not have.
    #[error("`{text}`: `{function}` takes floating-point numbers, and these are of type {elem}")]
    NeedsFloat {
        /// The statement.
        text: String,
        /// The function.
        function: &'static str,
        /// The element type.
        elem: Elem,
    },
    /// An access that leaves its tensor, or may do so.
    #[error("`{}`: {}", .0.text, .0.why)]
    Outside(Outside),
    /// A fill that no reduction follows.
    #[error("`{text}` begins no reduction: no update of {tensor} of its own follows it")]
    IdleFill {
        /// The fill.
        text: String,
        /// The tensor.
        tensor: String,
    },
}

impl NoProgram {
    /// What to write instead.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            NoProgram::Unreadable { what, .. } if what.ends_with("is not declared") => {
                "declare it above the loops: `f64 x[8]`, or `${x}` for a tensor `x` of the script"
            }
            NoProgram::Unreadable { what, .. } if what.contains("indentation") => {
                "lines in a loop have one indentation, deeper than that of the loop"
            }
            NoProgram::Hidden { .. } => "give the inner loop another name",
            NoProgram::IdleFill { .. } => "write loops that assign the elements",
            _ => return None,
        };
        Some(help.to_owned())
    }

    /// Whether the text may mean something, but more than is supported.
    pub fn is_limitation(&self) -> bool {
        let unclear = |why: &Mismatch| matches!(why, Mismatch::Unclear { .. });
        match self {
            NoProgram::Outside(outside) => unclear(&outside.why),
            NoProgram::Invalid(invalid) => matches!(
                invalid,
                Invalid::TooDeep
                    | Invalid::TooLarge { .. }
                    | Invalid::IndexTooLarge { .. }
                    | Invalid::LocalTooLarge { .. }
            ),
            _ => false,
        }
    }
}
