//! The kinds of arguments and of results, as far as completion distinguishes them.

use crate::ir::{Comparison, Elem};
use crate::transform::Kind;

/// The type of a value, as far as completion distinguishes types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A loop nest.
    Nest,
    /// A tensor or an expression.
    Tensor,
    Path,
    List,
    Map,
    /// A string.
    Text,
    Program,
    Function,
    /// Steps that are legal next.
    Moves,
    /// Handles of everything that a step made.
    Handles,
    /// A loop or a local tensor.
    Handle,
    /// Something else, or unknown.
    Other,
}

impl Type {
    /// The type that signatures and values call `word`.
    pub fn named(word: &str) -> Type {
        match word {
            "nest" => Type::Nest,
            "tensor" => Type::Tensor,
            "path" => Type::Path,
            "list" | "rows" => Type::List,
            "map" => Type::Map,
            "string" => Type::Text,
            "program" => Type::Program,
            "moves" => Type::Moves,
            "handles" => Type::Handles,
            "handle" => Type::Handle,
            _ => Type::Other,
        }
    }
}

/// The kind of an argument, for completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A value of this type.
    Value(Type),
    /// A loop of the nest, or a list of loops, by name.
    Loops,
    /// One of these words.
    Words(Vec<&'static str>),
    /// A map of these options, and the words that each of them takes.
    Options(Vec<(&'static str, Vec<&'static str>)>),
}

impl Takes {
    /// The kind of the arguments of an operation's parameter.
    pub fn of_kind(kind: Kind) -> Takes {
        match kind {
            Kind::Loop | Kind::Loops | Kind::LoopOrLoops => Takes::Loops,
            Kind::Word(words) => Takes::Words(words.to_vec()),
            Kind::Comparison => Takes::Words(Comparison::ALL.map(Comparison::symbol).to_vec()),
            Kind::Elem => Takes::Words(Elem::ALL.map(Elem::name).to_vec()),
            Kind::Options(options) => {
                let option = |option: &crate::transform::Param| match option.kind {
                    Kind::Word(words) => (option.name, words.to_vec()),
                    _ => (option.name, Vec::new()),
                };
                Takes::Options(options.iter().map(option).collect())
            }
            Kind::Nest => Takes::Value(Type::Nest),
            Kind::Expr | Kind::Exprs | Kind::Tensor | Kind::Operand => Takes::Value(Type::Tensor),
            Kind::Text => Takes::Value(Type::Text),
            Kind::Extents | Kind::Iters | Kind::Order => Takes::Value(Type::List),
            _ => Takes::Value(Type::Other),
        }
    }

    /// The type of values that are passed, where it is known.
    pub fn value(&self) -> Type {
        match self {
            Takes::Value(of) => *of,
            _ => Type::Other,
        }
    }
}
