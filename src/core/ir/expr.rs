//! Tensor expressions: the trees of TeML eq. 1.
//!
//! A node of the paper is a triple (op, shape, iterators). Here a leaf is an access to a tensor.
//! Its iterators are not given yet (ε), forbidden (•) or a list. Inner nodes are operations. An
//! expression without memory behind it is *virtual*. An assignment makes it *real*.
//!
//! Expressions are immutable and shared. An operation returns a new one and never changes its
//! argument.
//!
//! The value of an index is a leaf, [`Node::Index`]. Transformations replace its iterators like
//! those of accesses, so that it keeps the value that it has in the definition.

use super::affine::Affine;
use super::constant::Constant;
use super::domain::Domain;
use super::elem::Elem;
use super::function::{BinaryOp, Function, Reduction};
use super::name::Name;
use super::segment::Segment;
use super::tensor::{Shape, Tensor};
use std::sync::{Arc, LazyLock};

/// A tensor expression. Immutable, shared, equal by structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr(Arc<Cell>);

impl Expr {
    /// Whether both are the same object in memory, not only equal.
    pub fn is(&self, other: &Expr) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Cell {
    depth: u32,
    size: u64,
    node: Node,
}

/// The iterators of an access, the third component of a node in TeML eq. 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Index {
    /// ε: not given yet.
    Unset,
    /// •: a scalar takes none.
    Forbidden,
    /// One index expression per dimension.
    At(Vec<Affine>),
}

/// The node at the root of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// An access to a tensor.
    Access { tensor: Tensor, index: Index },
    /// A number: the same value at every element.
    Constant(Constant),
    /// The value of an affine index expression, an `i64`. Transformations replace its iterators
    /// like those of accesses, so that it keeps the value of the definition. It reads nothing and
    /// limits no iterator.
    Index(Affine),
    /// An element-wise operation.
    Binary {
        /// The operation.
        op: BinaryOp,
        /// The extents of the iterators, in order of first appearance.
        shape: Shape,
        /// Left operand.
        left: Expr,
        /// Right operand.
        right: Expr,
    },
    /// An element-wise function.
    Apply {
        function: Function,
        /// The extents of the iterators, in order of first appearance.
        shape: Shape,
        /// As many arguments as the function takes.
        args: Vec<Expr>,
    },
    /// The sum, product … of `body` over all values of the iterators `over`, which it binds.
    Reduce {
        reduction: Reduction,
        /// The iterators, outermost first.
        over: Vec<Name>,
        /// The ranges given to some of them.
        within: Domain,
        /// The extents of the iterators that stay free.
        shape: Shape,
        body: Expr,
    },
    /// A virtual tensor whose iterators are not given yet (ε). `formals` are placeholders for them.
    Virtual {
        /// One iterator per dimension.
        formals: Vec<Name>,
        /// The extents of the formals.
        shape: Shape,
        /// The element at the formals.
        body: Expr,
    },
    /// `target = value`: a real tensor.
    Assign {
        /// An access with a list of iterators.
        target: Expr,
        /// The value of every element, computed from the contents before the assignment.
        value: Expr,
        /// The ranges given to some iterators of the target and the value.
        within: Domain,
        /// The value of the elements that the target's indices do not reach. If `None`, these keep
        /// their contents.
        elsewhere: Option<Constant>,
    },
    /// One assignment in pieces: a real tensor.
    Pieces {
        /// Assignments to one tensor, at least one. No two assign the same element. All values are
        /// computed from the contents before the first one.
        pieces: Vec<Expr>,
        /// An assignment to all remaining elements of the tensor, with one iterator per dimension.
        otherwise: Option<Expr>,
    },
}

static NO_RANGES: LazyLock<Domain> = LazyLock::new(Domain::default);

/// The shape of a number.
static NO_EXTENTS: LazyLock<Shape> = LazyLock::new(|| Shape::of_extents([]));

/// Deeper expressions are refused, so that walks can recurse.
pub const MAX_DEPTH: u32 = 500;
/// Expressions with more nodes are refused. Shared parts count every time.
pub const MAX_SIZE: u64 = 100_000;

impl Expr {
    /// The expression with `node` at its root.
    pub fn new(node: Node) -> Expr {
        let children: Vec<&Expr> = children(&node);
        let depth = 1 + children.iter().map(|c| c.0.depth).max().unwrap_or(0);
        let size = children
            .iter()
            .fold(1u64, |sum, c| sum.saturating_add(c.0.size));
        Expr(Arc::new(Cell { depth, size, node }))
    }

    pub fn access(tensor: Tensor, index: Index) -> Expr {
        Expr::new(Node::Access { tensor, index })
    }

    /// The element of a tensor at an index. A scalar has the empty index.
    pub fn element(tensor: &Tensor, index: Vec<Affine>) -> Expr {
        let index = if tensor.is_scalar() {
            Index::Forbidden
        } else {
            Index::At(index)
        };
        Expr::access(tensor.clone(), index)
    }

    /// A tensor as scripts introduce it. Its iterators are ε, or • for a scalar.
    pub fn of_tensor(tensor: Tensor) -> Expr {
        let index = if tensor.is_scalar() {
            Index::Forbidden
        } else {
            Index::Unset
        };
        Expr::access(tensor, index)
    }

    /// The root node.
    pub fn node(&self) -> &Node {
        &self.0.node
    }

    /// The subexpressions, in order.
    pub fn children(&self) -> Vec<&Expr> {
        children(&self.0.node)
    }

    /// The number of nodes. Shared parts count every time.
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// Whether walks over the expression stay within the limits of stack and time.
    pub fn is_in_limits(&self) -> bool {
        self.0.depth <= MAX_DEPTH && self.0.size <= MAX_SIZE
    }

    /// The shape; `None` for an assignment (• in TeML eq. 1).
    pub fn shape(&self) -> Option<&Shape> {
        match self.node() {
            Node::Access { tensor, .. } => Some(tensor.shape()),
            Node::Constant(_) | Node::Index(_) => Some(&NO_EXTENTS),
            Node::Binary { shape, .. }
            | Node::Apply { shape, .. }
            | Node::Reduce { shape, .. }
            | Node::Virtual { shape, .. } => Some(shape),
            Node::Assign { .. } | Node::Pieces { .. } => None,
        }
    }

    /// The element type. Operands agree, so it is that of the leftmost leaf, except under a
    /// conversion and in the operands of a comparison.
    pub fn elem(&self) -> Elem {
        match self.node() {
            Node::Access { tensor, .. } => tensor.elem(),
            Node::Constant(value) => value.elem(),
            Node::Binary { left, .. } => left.elem(),
            Node::Index(_) => Elem::I64,
            Node::Apply { function, args, .. } => {
                let of = match function {
                    Function::Cast(elem) => return *elem,
                    Function::Select(_) => args.get(2),
                    _ => args.first(),
                };
                // Every function takes arguments.
                of.map_or_else(Elem::default, Expr::elem)
            }
            Node::Reduce { body, .. } | Node::Virtual { body, .. } => body.elem(),
            Node::Assign { target, .. } => target.elem(),
            // `pieces` is not empty.
            Node::Pieces { pieces, .. } => pieces.first().map_or_else(Elem::default, Expr::elem),
        }
    }

    /// The tensor of a plain access or an assignment.
    pub fn tensor(&self) -> Option<&Tensor> {
        match self.node() {
            Node::Access { tensor, .. } => Some(tensor),
            Node::Assign { target, .. } => target.tensor(),
            Node::Pieces { pieces, .. } => pieces.first()?.tensor(),
            _ => None,
        }
    }

    /// Whether this is an assignment, possibly in pieces.
    pub fn is_assignment(&self) -> bool {
        matches!(self.node(), Node::Assign { .. } | Node::Pieces { .. })
    }

    /// Calls `visit` for every access, left to right, starting with the target of an assignment.
    pub fn for_each_access<'a>(&'a self, visit: &mut dyn FnMut(&'a Tensor, &'a Index)) {
        if let Node::Access { tensor, index } = self.node() {
            visit(tensor, index);
        }
        for child in self.children() {
            child.for_each_access(visit);
        }
    }

    /// Calls `visit` for every tensor, left to right: where it is accessed, and where bounds are
    /// read from it.
    pub fn for_each_tensor<'a>(&'a self, visit: &mut dyn FnMut(&'a Tensor)) {
        match self.node() {
            Node::Access { tensor, .. } => visit(tensor),
            Node::Reduce { within, .. } | Node::Assign { within, .. } => {
                within.lookups().for_each(|lookup| visit(&lookup.tensor));
            }
            _ => {}
        }
        for child in self.children() {
            child.for_each_tensor(visit);
        }
    }

    /// Calls `visit` for every index expression, left to right: indices of accesses, and indices
    /// used as values.
    pub fn for_each_index<'a>(&'a self, visit: &mut dyn FnMut(&'a Affine)) {
        match self.node() {
            Node::Access {
                index: Index::At(index),
                ..
            } => index.iter().for_each(&mut *visit),
            Node::Index(index) => visit(index),
            _ => {}
        }
        for child in self.children() {
            child.for_each_index(visit);
        }
    }

    /// Whether an iterator occurs in an index expression.
    pub fn mentions(&self, name: &Name) -> bool {
        let mut found = false;
        self.for_each_index(&mut |index| found |= index.mentions(name));
        found
    }

    /// The free iterators, in order of first appearance, left to right. A digit counts as the
    /// iterator that it is of.
    pub fn iterators(&self) -> Vec<Name> {
        let mut found = Vec::new();
        self.collect_iterators(&mut Vec::new(), &mut found);
        found
    }

    fn collect_iterators<'a>(&'a self, bound: &mut Vec<Bound<'a>>, found: &mut Vec<Name>) {
        let depth = bound.len();
        let mut outer = None;
        let mut own: Vec<&Name> = Vec::new();
        match self.node() {
            Node::Access {
                index: Index::At(index),
                ..
            } => own.extend(index.iter().flat_map(Affine::iterators)),
            Node::Index(index) => own.extend(index.iterators()),
            Node::Reduce { over, within, .. } => {
                bound.extend(over.iter().map(|name| Bound { name, within }));
                outer = Some(within);
            }
            Node::Virtual { formals, .. } => {
                let within = &NO_RANGES;
                bound.extend(formals.iter().map(|name| Bound { name, within }));
            }
            Node::Assign { within, .. } => outer = Some(within),
            _ => {}
        }
        for child in self.children() {
            child.collect_iterators(bound, found);
        }
        own.extend(outer.into_iter().flat_map(Domain::mentioned));
        // Free iterators that a reduction limits by what it reads.
        let limited = outer.into_iter().flat_map(Domain::iter);
        own.extend(limited.filter_map(|(name, range)| range.within.as_ref().map(|_| name)));
        own.into_iter().for_each(|name| free(name, bound, found));
        bound.truncate(depth);
    }

    /// Every iterator that occurs, free or bound.
    pub fn all_names(&self) -> Vec<Name> {
        let mut found = Vec::new();
        self.collect_names(&mut found);
        found
    }

    fn collect_names(&self, found: &mut Vec<Name>) {
        let add = |name: &Name| {
            let name = name.base();
            if !found.contains(&name) {
                found.push(name);
            }
        };
        match self.node() {
            Node::Access {
                index: Index::At(index),
                ..
            } => {
                index.iter().flat_map(Affine::iterators).for_each(add);
            }
            Node::Index(index) => index.iterators().for_each(add),
            Node::Reduce { over, within, .. } => {
                over.iter().chain(within.mentioned()).for_each(add);
            }
            Node::Virtual { formals, .. } => formals.iter().for_each(add),
            Node::Assign { within, .. } => within.mentioned().for_each(add),
            _ => {}
        }
        for child in self.children() {
            child.collect_names(found);
        }
    }
}

/// An iterator that a reduction binds, with the ranges that it gives.
#[derive(Clone, Copy)]
struct Bound<'a> {
    name: &'a Name,
    within: &'a Domain,
}

/// Adds an iterator if it is free. A bound one whose bounds are read counts as the iterators at which
/// they are read. So `x[col[e]]` has the order of its index.
fn free(name: &Name, bound: &[Bound], found: &mut Vec<Name>) {
    // The bound ones are followed once each: ranges in a circle are refused elsewhere.
    let mut seen: Vec<usize> = Vec::new();
    let mut open = vec![(name.base(), bound.len())];
    while let Some((name, scope)) = open.pop() {
        let Some(at) = bound[..scope].iter().rposition(|one| *one.name == name) else {
            if !found.contains(&name) {
                found.push(name);
            }
            continue;
        };
        if seen.contains(&at) {
            continue;
        }
        seen.push(at);
        let segment = bound[at].within.get(&name);
        let segment = segment.and_then(|range| range.within.as_ref());
        let read = segment.into_iter().flat_map(Segment::parts);
        let read: Vec<&Name> = read.flat_map(Affine::iterators).collect();
        // Others of the same reduction may come later in its list.
        let of_same = |one: &Bound| std::ptr::eq(one.within, bound[at].within);
        let end = bound.iter().rposition(of_same).map_or(at, |last| last + 1);
        open.extend(read.into_iter().rev().map(|name| (name.base(), end)));
    }
}

fn children(node: &Node) -> Vec<&Expr> {
    match node {
        Node::Access { .. } | Node::Constant(_) | Node::Index(_) => vec![],
        Node::Binary { left, right, .. } => vec![left, right],
        Node::Apply { args, .. } => args.iter().collect(),
        Node::Reduce { body, .. } | Node::Virtual { body, .. } => vec![body],
        Node::Assign { target, value, .. } => vec![target, value],
        Node::Pieces { pieces, otherwise } => pieces.iter().chain(otherwise).collect(),
    }
}
