//! Terms: expressions of whole tensors, as the model language and TeIL write them.
//!
//! Dimensions are counted from 1.

use super::problem::Span;
use crate::ir::{BinaryOp, Reduction};

/// A term, with the place where it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What it is.
    pub kind: Kind,
    /// Where.
    pub span: Span,
}

/// What a term is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A variable.
    Variable(String),
    /// A number.
    Number(f64),
    /// Element by element, or a scalar with each element.
    Elementwise(BinaryOp, Box<Term>, Box<Term>),
    /// The tensor product (outer product).
    Product(Box<Term>, Box<Term>),
    /// The sum, product, minimum or maximum along a dimension.
    Reduce(Reduction, Dimension, Box<Term>),
    /// Two dimensions change places.
    Transpose([Dimension; 2], Box<Term>),
    /// Two dimensions become one, at the place of the first.
    Diagonal([Dimension; 2], Box<Term>),
    /// A dimension of this extent is added, along which nothing changes.
    Expand(Dimension, (u64, Span), Box<Term>),
    /// The slice at an index, counted from 1, of a dimension.
    Project(Dimension, (u64, Span), Box<Term>),
    /// Sums over the diagonals of pairs of dimensions, all counted in the operand.
    Contract(Vec<[Dimension; 2]>, Box<Term>),
}

/// A dimension, counted from 1, and where it is written.
pub type Dimension = (u64, Span);

impl Term {
    /// A term at a place.
    pub fn new(kind: Kind, span: Span) -> Term {
        Term { kind, span }
    }

    /// The terms that it is made of.
    pub fn operands(&self) -> Vec<&Term> {
        match &self.kind {
            Kind::Variable(_) | Kind::Number(_) => vec![],
            Kind::Elementwise(_, left, right) | Kind::Product(left, right) => vec![left, right],
            Kind::Reduce(_, _, of)
            | Kind::Transpose(_, of)
            | Kind::Diagonal(_, of)
            | Kind::Expand(_, _, of)
            | Kind::Project(_, _, of)
            | Kind::Contract(_, of) => vec![of],
        }
    }
}

/// A text as it was read: declarations and statements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unit {
    /// The variables.
    pub declarations: Vec<Declaration>,
    /// The assignments.
    pub statements: Vec<Statement>,
}

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Its name.
    pub name: (String, Span),
    /// Its extents.
    pub extents: Vec<(Extent, Span)>,
    /// Whether it is called an input.
    pub is_input: bool,
    /// Whether it is called an output.
    pub is_output: bool,
}

/// An extent.
#[derive(Clone, Debug, PartialEq)]
pub enum Extent {
    /// A number.
    Number(u64),
    /// A name, which the caller gives a number.
    Name(String),
}

/// `target = value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The variable.
    pub target: (String, Span),
    /// The value of every element, over the store before.
    pub value: Term,
}
