//! The notations of other papers: texts for programs of tensors.
//!
//! Each notation has a parser, which reads a whole text and reports all mistakes in it with their
//! places. The typing rules of the paper check the result, which is then lowered to the trees of
//! scripts: a [`Program`]. Every notation is read to a program and written from one.

mod elaborate;
mod items;
mod lower;
mod model;
mod notation;
mod operators;
mod sac;
mod teil;
mod term;
mod text;
mod token;
mod typing;
mod write;

pub use crate::problem::{Problem, Span};
pub use notation::Notation;
pub use sac::Variable;
pub use write::{NotSaid, written};

use crate::ir::{Expr, Program};
use std::collections::BTreeMap;

/// The assignment of an array expression of SaC to a tensor named □. The expression may use
/// `variables`.
///
/// # Errors
/// All mistakes in the text.
pub fn array_expression(
    text: &str,
    variables: BTreeMap<String, Variable>,
) -> Result<Expr, Vec<Problem>> {
    sac::expression(text, variables)
}

/// Reads the program of a text; `sizes` are values for the names of extents.
///
/// # Errors
/// All mistakes in the text.
pub fn read(
    notation: Notation,
    text: &str,
    sizes: &BTreeMap<String, u64>,
) -> Result<Program, Vec<Problem>> {
    let (unit, problems) = match notation {
        Notation::Model => model::read(text),
        Notation::Teil => teil::read(text, sizes),
        Notation::Operators => operators::read(text),
        Notation::Sac => return sac::read(text, sizes),
        Notation::Teml => {
            let problem = Problem::new(&(0..0), "TeML's programs are scripts");
            return Err(vec![problem.help("`teml run` runs them as such")]);
        }
    };
    elaborate::program(&unit, sizes, problems)
}
