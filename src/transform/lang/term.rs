//! Terms: expressions of whole tensors in the model language and TeIL.
//!
//! Dimensions are counted from 1.

use crate::ir::{BinaryOp, Reduction};
use crate::problem::Span;

/// A term and its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Its operator, with the operands.
    pub kind: Kind,
    pub span: Span,
}

/// The operator of a term, with its operands.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Variable(String),
    Number(f64),
    /// An operation element by element, or between a scalar and each element.
    Elementwise(BinaryOp, Box<Term>, Box<Term>),
    /// The tensor product (outer product).
    Product(Box<Term>, Box<Term>),
    /// The sum, product, minimum or maximum along a dimension.
    Reduce(Reduction, Dimension, Box<Term>),
    /// Swaps two dimensions.
    Transpose([Dimension; 2], Box<Term>),
    /// Merges two dimensions into one, at the place of the first.
    Diagonal([Dimension; 2], Box<Term>),
    /// Adds a dimension of this extent, along which elements are equal.
    Expand(Dimension, (u64, Span), Box<Term>),
    /// The slice at an index, counted from 1, of a dimension.
    Project(Dimension, (u64, Span), Box<Term>),
    /// Moves elements along a dimension, toward greater indices if the number is positive. Elements
    /// that leave the dimension are lost, and 0 comes in.
    Shift(Dimension, (i64, Span), Box<Term>),
    /// Sums over the diagonals of pairs of dimensions, all counted in the operand.
    Contract(Vec<[Dimension; 2]>, Box<Term>),
}

/// A dimension, counted from 1, and its place in the text.
pub type Dimension = (u64, Span);

impl Term {
    /// The term with other operands, in the order of [`Term::operands`].
    #[must_use]
    pub fn map_operands(&self, map: &mut dyn FnMut(&Term) -> Term) -> Term {
        let mut one = |of: &Term| Box::new(map(of));
        let kind = match &self.kind {
            Kind::Variable(_) | Kind::Number(_) => self.kind.clone(),
            Kind::Elementwise(op, left, right) => Kind::Elementwise(*op, one(left), one(right)),
            Kind::Product(left, right) => Kind::Product(one(left), one(right)),
            Kind::Reduce(reduction, i, of) => Kind::Reduce(*reduction, i.clone(), one(of)),
            Kind::Transpose(pair, of) => Kind::Transpose(pair.clone(), one(of)),
            Kind::Diagonal(pair, of) => Kind::Diagonal(pair.clone(), one(of)),
            Kind::Expand(i, n, of) => Kind::Expand(i.clone(), n.clone(), one(of)),
            Kind::Project(i, m, of) => Kind::Project(i.clone(), m.clone(), one(of)),
            Kind::Shift(i, n, of) => Kind::Shift(i.clone(), n.clone(), one(of)),
            Kind::Contract(pairs, of) => Kind::Contract(pairs.clone(), one(of)),
        };
        Term::new(kind, self.span.clone())
    }

    /// A term at a place.
    pub fn new(kind: Kind, span: Span) -> Term {
        Term { kind, span }
    }

    pub fn operands(&self) -> Vec<&Term> {
        match &self.kind {
            Kind::Variable(_) | Kind::Number(_) => vec![],
            Kind::Elementwise(_, left, right) | Kind::Product(left, right) => vec![left, right],
            Kind::Reduce(_, _, of)
            | Kind::Transpose(_, of)
            | Kind::Diagonal(_, of)
            | Kind::Expand(_, _, of)
            | Kind::Project(_, _, of)
            | Kind::Shift(_, _, of)
            | Kind::Contract(_, of) => vec![of],
        }
    }
}

/// A parsed text: declarations and statements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unit {
    pub declarations: Vec<Declaration>,
    pub statements: Vec<Statement>,
}

/// The declaration of a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    pub name: (String, Span),
    pub extents: Vec<(Extent, Span)>,
    /// Whether it is declared as an input.
    pub is_input: bool,
    /// Whether it is declared as an output.
    pub is_output: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Extent {
    Number(u64),
    /// A name, whose value the caller supplies.
    Name(String),
}

/// `target = value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub target: (String, Span),
    /// The value of every element, computed from the store before the statement.
    pub value: Term,
}
