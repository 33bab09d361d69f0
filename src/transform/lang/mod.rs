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
mod setting;
mod stage;
mod teil;
mod term;
mod text;
mod token;
mod typing;
mod write;

pub use crate::problem::{Problem, Span};
pub use notation::Notation;
pub use sac::Variable;
pub use setting::Setting;
pub use write::{NotSaid, written};

use crate::ir::{Elem, Expr, Program};
use std::collections::BTreeMap;

/// The assignment of an array expression of SaC to a tensor named □. The expression may use
/// `variables`. Its numbers with decimals are of type `elem`, if that holds them.
///
/// # Errors
/// All mistakes in the text.
pub fn array_expression(
    text: &str,
    variables: BTreeMap<String, Variable>,
    elem: Elem,
) -> Result<Expr, Vec<Problem>> {
    sac::expression(text, variables, elem)
}

/// Reads the program of a text.
///
/// # Errors
/// All mistakes in the text.
pub fn read(notation: Notation, text: &str, setting: &Setting) -> Result<Program, Vec<Problem>> {
    let (unit, problems) = match notation {
        Notation::Model => model::read(text),
        Notation::Teil => teil::read(text, &setting.sizes),
        Notation::Operators => operators::read(text),
        Notation::Sac => return sac::read(text, setting),
        Notation::Teml => {
            let problem = Problem::new(&(0..0), "TeML's programs are scripts");
            return Err(vec![problem.help("`teml run` runs them as such")]);
        }
    };
    elaborate::program(&unit, setting, problems)
}
