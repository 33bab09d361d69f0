//! Errors of texts that should be programs.

use crate::analysis::outside::Outside;
use crate::analysis::shape::Mismatch;
use crate::analysis::verify::Invalid;
use crate::ir::{Elem, Name, Reduction};
use std::fmt;
use std::ops::Range;

/// All errors of a text, in its order. At least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

/// An error of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub why: NoProgram,
    /// The bytes of the text at fault.
    pub span: Range<usize>,
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(|fault| fault.why.to_string()).collect();
        f.write_str(&texts.join("\n"))
    }
}

/// Why a text is not a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoProgram {
    /// A line that cannot be parsed.
    #[error("line {line} of the text, `{text}`: {what}")]
    Unreadable {
        /// Counted from 1.
        line: usize,
        text: String,
        /// The error: what was expected or found.
        what: String,
        /// The text to write instead.
        help: Option<String>,
    },
    /// The text assigns nothing.
    #[error("the text assigns nothing")]
    Empty,
    /// A loop inside a loop with the same name.
    #[error("the loop `{name}` is inside of another loop `{name}`")]
    Hidden { name: Name },
    /// A nest that violates an invariant.
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
    /// A function that is not defined for integers.
    #[error("`{text}`: `{function}` takes floating-point numbers, and these are of type {elem}")]
    NeedsFloat {
        /// The statement.
        text: String,
        function: &'static str,
        /// The element type.
        elem: Elem,
    },
    /// A function that is not defined for floating-point numbers.
    #[error("`{text}`: `{function}` takes integers, and these are of type {elem}")]
    NeedsInteger {
        /// The statement.
        text: String,
        function: &'static str,
        /// The element type.
        elem: Elem,
    },
    /// A reduction in a statement, where a loop is needed.
    #[error("`{text}`: `{}` over iterators is not supported in a statement", .reduction.name())]
    Reduction {
        /// The statement.
        text: String,
        reduction: Reduction,
    },
    /// An access that leaves its tensor, or cannot be decided.
    #[error("`{}`: {}", .0.text, .0.why)]
    Outside(Outside),
    /// A fill without a statement that it begins.
    #[error("`{text}` begins nothing: no statement of its own that assigns {tensor} follows it")]
    IdleFill {
        /// The fill.
        text: String,
        tensor: String,
    },
}

impl NoProgram {
    /// The message without the line.
    pub fn at_place(&self) -> String {
        match self {
            NoProgram::Unreadable { what, .. } => what.clone(),
            why => why.to_string(),
        }
    }

    /// The text to write instead.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            NoProgram::Unreadable {
                help: Some(help), ..
            } => help,
            NoProgram::Unreadable { what, .. } if what.ends_with("is not declared") => {
                "declare it above the loops: `f64 x[8]`, or `${x}` for a tensor `x` of the script"
            }
            NoProgram::Unreadable { what, .. } if what.contains("indentation") => {
                "lines in a loop have one indentation, deeper than that of the loop"
            }
            NoProgram::Hidden { .. } => "give the inner loop another name",
            NoProgram::IdleFill { .. } => "write loops that assign the elements",
            NoProgram::Invalid(Invalid::Malformed(what)) if what.ends_with("of its loop") => {
                "indices are sums of iterators of the loops around and numbers; `${n}` is the number \
                 `n` of the script"
            }
            NoProgram::Elems {
                why:
                    Mismatch::Elems {
                        left_elem: left,
                        right_elem: right,
                        ..
                    },
                ..
            } => {
                let to = if right.is_float() && !left.is_float() {
                    right
                } else {
                    left
                };
                return Some(format!("convert one of them: `{to}(…)`"));
            }
            NoProgram::NeedsFloat { .. } => "convert what it takes: `f64(…)`",
            NoProgram::NeedsInteger { .. } => "convert what it takes: `i64(…)`",
            NoProgram::Reduction { reduction, .. } => {
                return Some(format!(
                    "loop over the values, and update the target: `x {}= …`",
                    reduction.op().symbol()
                ));
            }
            _ => return None,
        };
        Some(help.to_owned())
    }

    /// Whether the text is a limitation: possibly meaningful, but not supported.
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
