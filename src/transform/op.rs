//! An operation: a name, parameters, documentation and a function on values.
//!
//! Scripts, help, documentation tests and replay all read the table of operations. They have no
//! code for single operations.

use super::args::Args;
use super::failure::{Error, bug};
use super::param::Param;
use crate::ir::{Arg, Expr, Nest};

pub struct Op {
    /// The name in scripts.
    pub name: &'static str,
    /// The parameters; the first one is the receiver in method form.
    pub params: &'static [Param],
    /// The type of its result.
    pub returns: Returns,
    /// The text of the operation's file, whose header is its documentation.
    pub file: &'static str,
    /// The operation on the arguments of a call.
    pub call: fn(&Args) -> Result<Value, Error>,
}

/// The type of an operation's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    Nest,
    Expr,
}

#[derive(Clone, Debug)]
pub enum Value {
    Nest(Nest),
    Expr(Expr),
}

/// A step that may be taken: the operation, and its arguments after the nest.
pub type Call = (&'static Op, Vec<Arg>);

/// Steps that may be legal where another one is not. Operations state such steps in their own
/// files, and `repair` tries them.
#[derive(Default)]
pub struct Alternatives {
    /// Steps to take before it; one of them may make it legal.
    pub first: Vec<Call>,
    /// A step to take in its place.
    pub instead: Option<Call>,
}

impl Value {
    /// The value as a nest.
    ///
    /// # Errors
    /// It is an expression.
    pub fn nest(self) -> Result<Nest, Error> {
        match self {
            Value::Nest(nest) => Ok(nest),
            Value::Expr(_) => Err(bug("the operation returns no nest")),
        }
    }
}

impl Op {
    /// Attributes an error to this operation, unless an inner operation made it.
    pub fn failed(&self, error: Error) -> Error {
        error.in_op(self.name, |parameter| {
            self.params.iter().position(|p| p.is_about(parameter))
        })
    }

    /// The signature, as messages and help show it: `stripmine(nest, loop, factor) -> nest`.
    pub fn signature(&self) -> String {
        let params: Vec<String> = self
            .params
            .iter()
            .map(|p| {
                if p.optional {
                    format!("{}?", p.name)
                } else {
                    p.name.to_owned()
                }
            })
            .collect();
        let returns = match self.returns {
            Returns::Nest => "nest",
            Returns::Expr => "tensor",
        };
        format!("{}({}) -> {returns}", self.name, params.join(", "))
    }

    /// The operation's documentation, which is its contract: the header of its file. It has one
    /// sentence, code before and after, legality, refusals and the source.
    pub fn doc(&self) -> String {
        let header = self.file.lines().map_while(|line| line.strip_prefix("//!"));
        let lines: Vec<&str> = header
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
        lines.join("\n")
    }

    /// The number of arguments that cannot be left out.
    pub fn required(&self) -> usize {
        self.params.iter().filter(|p| !p.optional).count()
    }
}
