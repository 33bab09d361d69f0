//! The syntax of array expressions.

use crate::ir::{Elem, Reduction};
use crate::lang::term::Extent;
use crate::problem::Span;

/// An expression and its place in the text.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub kind: Kind,
    pub span: Span,
}

impl Node {
    pub fn new(kind: Kind, span: Span) -> Node {
        Node { kind, span }
    }
}

/// The kind of an expression, with its operands.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Integer(i64),
    Float(f64),
    Name(String),
    /// `[a, b]`
    List(Vec<Node>),
    Negate(Box<Node>),
    Binary(Infix, Box<Node>, Box<Node>),
    /// `a[i, j]`
    Select(Box<Node>, Vec<Node>),
    Call((String, Span), Vec<Node>),
    /// `{ iv -> e | l <= iv < u; … }`
    Comprehension(Vec<Partition>),
    /// `with { (l <= iv < u) : e; … } : operator`
    With(Vec<Partition>, Operator),
}

/// An operator between two expressions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Infix {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Concat,
}

/// A generator with its body.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    pub pattern: Pattern,
    pub body: Node,
    pub range: Option<Range>,
    pub span: Span,
}

/// The pattern that a generator binds.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    Vector(String, Span),
    /// The components of an index vector.
    Parts(Vec<Part>, Span),
}

/// A component of an index pattern.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Name(String, Span),
    /// `.`: a component without a name.
    Dot,
    /// `...`: any number of such components.
    Dots,
}

impl Pattern {
    /// Its place in the text.
    pub fn span(&self) -> &Span {
        match self {
            Pattern::Vector(_, span) | Pattern::Parts(_, span) => span,
        }
    }

    /// The names of the components, without dots; `None` for an index vector.
    pub fn names(&self) -> Option<Vec<(&str, &Span)>> {
        match self {
            Pattern::Vector(..) => None,
            Pattern::Parts(parts, _) => Some(
                parts
                    .iter()
                    .filter_map(|part| match part {
                        Part::Name(name, span) => Some((name.as_str(), span)),
                        Part::Dot | Part::Dots => None,
                    })
                    .collect(),
            ),
        }
    }

    /// The pattern without dots, as bounds spell it (§5.2, `strip-dots`).
    pub fn stripped(&self) -> String {
        match (self, self.names()) {
            (Pattern::Parts(..), Some(names)) => {
                let names: Vec<&str> = names.into_iter().map(|(name, _)| name).collect();
                format!("[{}]", names.join(","))
            }
            (Pattern::Vector(name, _), _) => name.clone(),
            (Pattern::Parts(..), None) => String::new(),
        }
    }

    /// Whether an expression is the pattern without dots.
    pub fn is_stripped(&self, node: &Node) -> bool {
        match (self, &node.kind, self.names()) {
            (Pattern::Vector(name, _), Kind::Name(other), _) => name == other,
            (Pattern::Parts(..), Kind::List(items), Some(names)) => {
                let same = |(item, (name, _)): (&Node, &(&str, &Span))| matches!(&item.kind, Kind::Name(other) if other == name);
                items.len() == names.len() && items.iter().zip(&names).all(same)
            }
            _ => false,
        }
    }
}

/// The range after `|`: two or three limits, separated by `<` or `<=`.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub limits: Vec<Limit>,
    pub or_equal: Vec<bool>,
    pub span: Span,
}

/// A limit in a generator.
#[derive(Clone, Debug)]
pub(super) enum Limit {
    /// `.`: the first or last legitimate index.
    Dot,
    Value(Node),
}

/// A bound of a generator.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub limit: Limit,
    /// Whether the relation is `<=`.
    pub or_equal: bool,
}

/// The operation of a with-loop.
#[derive(Clone, Debug)]
pub(super) enum Operator {
    /// An array of a given shape, with a default for the other elements.
    Genarray(Box<Node>, Option<Box<Node>>),
    /// An array with some elements replaced.
    Modarray(Box<Node>),
    /// A reduction to one value, with its neutral element.
    Fold(Reduction, Option<Box<Node>>),
}

/// A part of a file.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Declaration(Declaration),
    Statement(Statement),
    /// A part with a syntax error.
    Unread,
}

/// `double[3,4] A;`
#[derive(Clone, Debug)]
pub(super) struct Declaration {
    pub elem: Elem,
    pub extents: Vec<(Extent, Span)>,
    pub name: (String, Span),
}

/// `C = e;`
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub target: (String, Span),
    pub value: Node,
}
