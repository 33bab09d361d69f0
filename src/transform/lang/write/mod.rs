//! Writes programs in each of the notations.
//!
//! If a notation cannot express an assignment, the error names the missing operation.

mod collective;
mod sac;
mod teml;

use super::notation::Notation;
use super::text;
use crate::ir::{Expr, Infix, Program, Tensor};
use thiserror::Error;

/// Why a program cannot be written in a notation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{assignment}`: {notation} has no {what}")]
pub struct NotSaid {
    /// The assignment, in teml's own notation.
    pub assignment: String,
    /// The title of the notation.
    pub notation: &'static str,
    /// The operation that it lacks.
    pub what: String,
}

/// Writes a program in a notation; [`super::read`] reads it.
///
/// # Errors
/// An assignment that the notation cannot express.
pub fn written(program: &Program, notation: Notation) -> Result<String, NotSaid> {
    let mut lines = Vec::new();
    for variable in program.variables() {
        let is_assigned = |a: &Expr| a.tensor().and_then(Tensor::name) == variable.tensor.name();
        let is_assigned = program.assignments().iter().any(is_assigned);
        let tensor = &variable.tensor;
        let extents = tensor.shape().texts();
        let name = tensor.label();
        let qualifiers = match (variable.is_input, variable.is_output) {
            (true, true) => "input output ",
            (true, false) => "input ",
            (false, true) => "output ",
            (false, false) => "",
        };
        lines.extend(match notation {
            Notation::Model => Some(format!("var {qualifiers}{name} : [{}]", extents.join(" "))),
            Notation::Teil => Some(format!(
                "alloc {qualifiers}{name} : [{}]",
                extents.join(", ")
            )),
            Notation::Sac if is_assigned && !variable.is_input => None,
            Notation::Sac => Some(sac::declaration(tensor)),
            Notation::Teml => Some(teml::declaration(tensor)),
            Notation::Operators => None,
        });
    }
    for assignment in program.assignments() {
        let said = match notation {
            Notation::Model => collective::term(assignment).and_then(|term| {
                let lacks = text::lacks(&term);
                lacks.map_or_else(|| Ok(text::model(&term)), Err)
            }),
            Notation::Teil => collective::term(assignment).map(|term| text::teil(&term)),
            Notation::Sac => sac::value(assignment),
            Notation::Teml => teml::value(assignment),
            Notation::Operators => {
                Err("way to be written: the operator language is only read".into())
            }
        };
        let text = said.map_err(|what| NotSaid {
            assignment: Infix(assignment).to_string(),
            notation: notation.title(),
            what,
        })?;
        let target = assignment.tensor().map_or("", Tensor::label);
        let end = match notation {
            Notation::Sac => ";",
            _ => "",
        };
        lines.push(format!("{target} = {text}{end}"));
    }
    Ok(lines.join("\n"))
}
