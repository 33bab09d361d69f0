//! The syntax of array expressions.

use crate::ir::{Comparison, Elem, Reduction};
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

    /// The operands, without the bodies of comprehensions and with-loops.
    pub fn operands(&self) -> Vec<&Node> {
        match &self.kind {
            Kind::Integer(_) | Kind::Float(_) | Kind::Name(_) => Vec::new(),
            Kind::List(items) | Kind::Call(_, items) => items.iter().collect(),
            Kind::Negate(of) => vec![of],
            Kind::Binary(_, left, right)
            | Kind::Compare(_, left, right)
            | Kind::Logic(_, left, right) => vec![left, right],
            Kind::Choice(condition, then, otherwise) => vec![condition, then, otherwise],
            Kind::Select(of, index) => {
                let of: &Node = of;
                [of].into_iter().chain(index).collect()
            }
            Kind::Comprehension(_) | Kind::With(..) => Vec::new(),
        }
    }

    /// Whether one of the names occurs, outside of comprehensions and with-loops inside of it.
    pub fn mentions(&self, names: &[String]) -> bool {
        matches!(&self.kind, Kind::Name(name) if names.contains(name))
            || self.operands().iter().any(|of| of.mentions(names))
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
    /// `a < b`: 1 or 0.
    Compare(Comparison, Box<Node>, Box<Node>),
    /// `a && b`, or `a || b`
    Logic(bool, Box<Node>, Box<Node>),
    /// `c ? a : b`
    Choice(Box<Node>, Box<Node>, Box<Node>),
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

    /// The names that it binds.
    pub fn bound(&self) -> Vec<String> {
        match self {
            Pattern::Vector(name, _) => vec![name.clone()],
            Pattern::Parts(..) => {
                let names = self.names().unwrap_or_default();
                names.into_iter().map(|(name, _)| name.to_owned()).collect()
            }
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

/// The range after `|`: two or three limits, separated by `<` or `<=`, and perhaps a grid.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub limits: Vec<Limit>,
    pub or_equal: Vec<bool>,
    /// `step s`, and `width w`: of every s indices, the first w.
    pub step: Option<Node>,
    pub width: Option<Node>,
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
    Function(Function),
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

/// `double[*] f(double[.,.] a, int n) { b = …; return b; }`
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub result: Type,
    pub name: (String, Span),
    pub parameters: Vec<(Type, (String, Span))>,
    pub body: Vec<Statement>,
    pub value: Node,
}

/// The type of a parameter or a result.
#[derive(Clone, Debug)]
pub(super) struct Type {
    pub elem: Elem,
    pub dimensions: Dimensions,
}

#[derive(Clone, Debug)]
pub(super) enum Dimensions {
    /// `[3,n]`, or nothing for a scalar.
    Given(Vec<(Extent, Span)>),
    /// `[.,.]`: any extents.
    Rank(usize),
    /// `[*]`: any shape.
    Any,
}

impl Dimensions {
    /// The dimensions in words.
    pub fn shown(&self) -> String {
        match self {
            Dimensions::Given(extents) if extents.is_empty() => "a scalar".to_owned(),
            Dimensions::Given(extents) => {
                let texts = extents.iter().map(|(extent, _)| match extent {
                    Extent::Number(value) => value.to_string(),
                    Extent::Name(name) => name.clone(),
                });
                format!(
                    "an array of shape [{}]",
                    texts.collect::<Vec<_>>().join(",")
                )
            }
            Dimensions::Rank(rank) => format!("an array of shape [{}]", vec!["."; *rank].join(",")),
            Dimensions::Any => "an array".to_owned(),
        }
    }
}

/// `C = e;`
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub target: (String, Span),
    pub value: Node,
}
