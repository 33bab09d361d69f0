//! Argument literals of scripts: numbers, loops by level or name, lists of iterators.

use super::affine::Affine;
use std::fmt;

/// A number of a script, without an element type. Equal by bits.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    Int(i64),
    Float(f64),
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a == b,
            (Number::Float(a), Number::Float(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        }
    }
}

impl Eq for Number {}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Int(value) => write!(f, "{value}"),
            Number::Float(value) => write!(f, "{value:?}"),
        }
    }
}

/// A list of iterators, or `None` for ε: not given.
pub type Iters = Option<Vec<Affine>>;

/// Iterators of the operands and of the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// One list per operand.
    pub from: Vec<Iters>,
    /// The iterators of the target.
    pub to: Vec<Affine>,
}

/// A loop, as a script refers to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopRef {
    /// By nesting level, counted from 1.
    Level(i64),
    /// By name.
    Name(String),
}

impl From<&str> for LoopRef {
    fn from(name: &str) -> LoopRef {
        LoopRef::Name(name.to_owned())
    }
}

impl fmt::Display for LoopRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoopRef::Level(level) => write!(f, "{level}"),
            LoopRef::Name(name) => write!(f, "{name:?}"),
        }
    }
}
