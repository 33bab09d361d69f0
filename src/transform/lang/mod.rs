//! The notations of other papers: texts for programs of tensors.
//!
//! Each notation has a parser, which reads a whole text and reports all mistakes in it with their
//! places. The typing rules of the paper check the result, which is then lowered to the trees of
//! scripts: a [`Program`]. Every notation is read to a program and written from one.
//!
//! An expression with two readings is refused, with both of them.

mod elaborate;
mod items;
mod lower;
mod model;
mod operators;
mod problem;
mod sac;
mod teil;
mod term;
mod token;
mod typing;
mod write;

pub use problem::{Problem, Span};
pub use write::{NotSaid, written};

use crate::ir::{Expr, Program, Tensor};
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// The model language (Rink 2018).
    Model,
    /// TeIL (Rink and Castrillon 2019).
    Teil,
    /// Tensor comprehensions of SaC (Scholz and Šinkarovs 2019).
    Sac,
    /// The operator language of the TeIL paper (§5).
    Operators,
    /// TeML's calls, as scripts use them.
    Teml,
}

impl Notation {
    /// The notations that can be read.
    pub const ALL: [Notation; 4] = [
        Notation::Model,
        Notation::Teil,
        Notation::Sac,
        Notation::Operators,
    ];

    /// Its name in scripts.
    pub const fn name(self) -> &'static str {
        match self {
            Notation::Model => "model",
            Notation::Teil => "teil",
            Notation::Sac => "sac",
            Notation::Operators => "operators",
            Notation::Teml => "teml",
        }
    }

    /// The notation of a file, by the extension of its name.
    pub fn of_file(path: &Path) -> Option<Notation> {
        let extension = path.extension()?.to_str()?;
        Notation::ALL
            .into_iter()
            .find(|n| n.extension() == extension)
    }

    /// The extension of its files, without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Notation::Model => "tml",
            Notation::Teil => "teil",
            Notation::Sac => "sac",
            Notation::Operators => "op",
            Notation::Teml => "rhai",
        }
    }

    /// Its title in messages.
    pub const fn title(self) -> &'static str {
        match self {
            Notation::Model => "the model language",
            Notation::Teil => "TeIL",
            Notation::Sac => "SaC",
            Notation::Operators => "the operator language",
            Notation::Teml => "TeML",
        }
    }
}

/// A variable of an array expression.
#[derive(Clone, Debug)]
pub enum Variable {
    Integer(i64),
    /// The array that a tensor holds.
    Tensor(Tensor),
    /// A value that array expressions do not take, in words.
    Other(String),
}

/// The assignment of an array expression of SaC to a tensor named □. The expression may use
/// `variables`, the innermost last.
///
/// # Errors
/// All mistakes in the text.
pub fn array_expression(
    text: &str,
    variables: Vec<(String, Variable)>,
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
