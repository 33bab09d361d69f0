//! What an operation is: a name, parameters, documentation and a function on values.
//!
//! Scripts, help, documentation tests and replay all read the table in this room; none of them
//! knows a single operation by itself.

use super::args::Args;
use super::failure::{Error, bug};
use super::param::Param;
use crate::ir::{Arg, Expr, Nest};

/// An operation.
pub struct Op {
    /// The name in scripts.
    pub name: &'static str,
    /// The parameters; the first one is the receiver in method form.
    pub params: &'static [Param],
    /// What it returns.
    pub returns: Returns,
    /// The text of the operation's file, whose header is its documentation.
    pub file: &'static str,
    /// The operation on the arguments of a call.
    pub call: fn(&Args) -> Result<Value, Error>,
}

/// What an operation returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// A loop nest.
    Nest,
    /// A tensor expression.
    Expr,
}

/// A result.
#[derive(Clone, Debug)]
pub enum Value {
    /// A loop nest.
    Nest(Nest),
    /// A tensor expression.
    Expr(Expr),
}

/// A step that may be taken: the operation, and its arguments after the nest.
pub type Call = (&'static Op, Vec<Arg>);

/// What may be legal where a step is not. An operation that knows some says so in its file, and
/// `repair` tries them.
#[derive(Default)]
pub struct Alternatives {
    /// Steps before it, one of which may make it legal.
    pub first: Vec<Call>,
    /// A step in its place.
    pub instead: Option<Call>,
}

impl Value {
    /// The nest that it is.
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
    /// The error as one of this operation, unless it is one of an operation inside of it.
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

    /// The header of the operation's file, which is its contract: one sentence, before and
    /// after, legality, refusals, source.
    pub fn doc(&self) -> String {
        let header = self.file.lines().map_while(|line| line.strip_prefix("//!"));
        let lines: Vec<&str> = header
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
        lines.join("\n")
    }

    /// The number of arguments that it takes at least.
    pub fn required(&self) -> usize {
        self.params.iter().filter(|p| !p.optional).count()
    }
}
