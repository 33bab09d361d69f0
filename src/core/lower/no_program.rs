//! Errors of texts that should be programs.

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
    /// The line of the text in which they begin, counted from 1.
    pub line: usize,
    /// The character of that line, counted from 1.
    pub column: usize,
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = self.0.iter().map(
            |Fault {
                 why, line, column, ..
             }| match why {
                NoProgram::Empty => why.to_string(),
                why => format!("line {line}, column {column}: {why}"),
            },
        );
        f.write_str(&texts.collect::<Vec<_>>().join("\n"))
    }
}

/// Why a text is not a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoProgram {
    /// A line that cannot be parsed.
    #[error("{what}")]
    Unreadable {
        /// The error: what was expected or found.
        what: String,
        /// The message at its place; may be empty.
        label: String,
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
    #[error("{why}")]
    Elems {
        /// The operands.
        why: Mismatch,
    },
    /// A function that is not defined for integers.
    #[error("`{function}` takes floating-point numbers, and these are of type {elem}")]
    NeedsFloat {
        function: &'static str,
        /// The element type.
        elem: Elem,
    },
    /// A function that is not defined for floating-point numbers.
    #[error("`{function}` takes integers, and these are of type {elem}")]
    NeedsInteger {
        function: &'static str,
        /// The element type.
        elem: Elem,
    },
    /// A reduction in a statement, where a loop is needed.
    #[error("`{}` over iterators is not supported in a statement", .reduction.name())]
    Reduction { reduction: Reduction },
    /// An access that leaves its tensor, or cannot be decided.
    #[error("{0}")]
    Outside(Mismatch),
    /// A fill without a statement that it begins.
    #[error("`{text}` begins nothing: no statement of its own that assigns {tensor} follows it")]
    IdleFill {
        /// The fill.
        text: String,
        tensor: String,
    },
}

impl NoProgram {
    /// The message at the place; may be empty.
    pub fn label(&self) -> String {
        match self {
            NoProgram::Unreadable { label, .. } => label.clone(),
            NoProgram::Hidden { .. } => "the name of a loop around".to_owned(),
            NoProgram::Elems {
                why: Mismatch::Elems { right_elem, .. },
                ..
            } => format!("of type {right_elem}"),
            NoProgram::NeedsFloat { elem, .. } | NoProgram::NeedsInteger { elem, .. } => {
                format!("of values of type {elem}")
            }
            NoProgram::Outside(Mismatch::Leaves { value, place, .. }) => {
                format!("{value} is not in 0..{}", place.extent)
            }
            _ => String::new(),
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
            NoProgram::Hidden { .. } => "give the inner loop another name",
            NoProgram::IdleFill { .. } => "write loops that assign the elements",
            NoProgram::Outside(Mismatch::Leaves { index, place, .. }) => {
                let within = format!("an index of this dimension is in 0..{}", place.extent);
                return Some(match index.terms().first() {
                    Some((iterator, _)) => format!(
                        "{within}: narrow the range of `{iterator}`, or of a loop that its bounds \
                         depend on"
                    ),
                    None => within,
                });
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
                return Some(format!(
                    "convert one of them: `{}(…)`",
                    left.or_float(*right)
                ));
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
            NoProgram::Outside(why) => unclear(why),
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
