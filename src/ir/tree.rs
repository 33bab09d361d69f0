//! The nodes of loop nests: TeML eqs. 2 and 3.
//!
//! A tree is a loop over further trees, a statement, a fill, or a local tensor. A fill is the
//! initialization of part of a tensor, placed explicitly because a reduction must not rely on
//! what its target held before. A local tensor lives from its declaration to the end of the
//! sequence that it stands in: each iteration of the loop around it has one of its own, whose
//! elements are undefined until they are set.

use super::affine::Affine;
use super::constant::Constant;
use super::expr::Expr;
use super::function::BinaryOp;
use super::lineage::Lineage;
use super::name::Name;
use super::range::{Hints, Range, Sharing};
use super::tensor::Tensor;
use std::sync::Arc;

/// A node of a nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// A loop.
    Loop(Arc<Loop>),
    /// An assignment, executed once for each iteration of the loops around it.
    Stmt(Arc<Stmt>),
    /// An initialization.
    Fill(Arc<Fill>),
    /// The declaration of a tensor for the rest of the sequence; it has a name.
    Local(Tensor),
}

/// A loop: its iterator is its name.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Unique in the nest.
    pub name: Name,
    /// The values that the iterator takes.
    pub range: Range,
    /// Iterations may run on several threads.
    pub parallel: bool,
    /// How they are shared among threads, if they are.
    pub sharing: Sharing,
    /// Iterations may run in vector lanes.
    pub vector: bool,
    /// The number of lanes, if it is a vector loop; `None` leaves it to the compiler.
    pub lanes: Option<i64>,
    /// What is said to the machine and to readers, and changes no result.
    pub hints: Hints,
    /// What each iteration executes, in order.
    pub body: Vec<Tree>,
    /// Where the loop comes from. No part of equality.
    pub lineage: Lineage,
}

impl PartialEq for Loop {
    fn eq(&self, other: &Loop) -> bool {
        self.name == other.name
            && self.range == other.range
            && self.mode() == other.mode()
            && self.body == other.body
    }
}

impl Eq for Loop {}

impl Loop {
    /// A loop that runs one iteration after the other, of which nothing else is said.
    pub fn serial(name: Name, range: Range, body: Vec<Tree>) -> Loop {
        Loop {
            name,
            range,
            parallel: false,
            sharing: Sharing::default(),
            vector: false,
            lanes: None,
            hints: Hints::default(),
            body,
            lineage: Lineage::default(),
        }
    }

    /// How the iterations are run.
    pub fn mode(&self) -> (bool, Sharing, bool, Option<i64>, &Hints) {
        let Loop { sharing, lanes, .. } = *self;
        (self.parallel, sharing, self.vector, lanes, &self.hints)
    }
}

/// `target op= value`, or `target = value` without an operation.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The tensor written; it has a name.
    pub target: Tensor,
    /// Where it is written: one index per dimension.
    pub index: Vec<Affine>,
    /// The operation of an update such as `+=`.
    pub update: Option<BinaryOp>,
    /// The value: accesses, numbers and element-wise operations only.
    pub value: Expr,
    /// What it executes of the definition; `None` for copies between tensors that a
    /// transformation adds, and for nests that were read. No part of equality.
    pub origin: Option<Origin>,
}

impl PartialEq for Stmt {
    fn eq(&self, other: &Stmt) -> bool {
        let place = (&self.target, &self.index) == (&other.target, &other.index);
        place && self.update == other.update && self.value == other.value
    }
}

impl Eq for Stmt {}

/// Which instance of the definition a statement executes. It is substituted along with the
/// statement, so that it holds whatever loops become of those that `build` made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The assignment, counted from 0.
    pub assignment: usize,
    /// The iterators of the loops that `build` made for it, outermost first, in terms of the
    /// loops around the statement.
    pub point: Vec<Affine>,
}

/// `tensor[region] = value`: sets a box of elements.
#[derive(Clone, Debug)]
pub struct Fill {
    /// The tensor written; it has a name.
    pub target: Tensor,
    /// For each dimension the first index and the number of elements.
    pub region: Vec<(Affine, u64)>,
    /// The identity of the reduction.
    pub value: Constant,
    /// The assignment of the definition that it begins, and the iterators of the loops that are
    /// around it there; `None` for what a transformation adds, and for nests that were read. No
    /// part of equality.
    pub origin: Option<Origin>,
}

impl PartialEq for Fill {
    fn eq(&self, other: &Fill) -> bool {
        let place = (&self.target, &self.region) == (&other.target, &other.region);
        place && self.value == other.value
    }
}

impl Eq for Fill {}

impl Stmt {
    /// The statement with iterators replaced, all at once.
    #[must_use]
    pub fn substitute(&self, map: &dyn Fn(&Name) -> Option<Affine>) -> Stmt {
        let replace = |index: &[Affine]| index.iter().map(|a| a.substitute(map)).collect();
        Stmt {
            target: self.target.clone(),
            index: replace(&self.index),
            update: self.update,
            value: self.value.substitute(map),
            origin: self.origin.as_ref().map(|o| o.substitute(map)),
        }
    }
}

impl Origin {
    fn substitute(&self, map: &dyn Fn(&Name) -> Option<Affine>) -> Origin {
        Origin {
            assignment: self.assignment,
            point: self.point.iter().map(|a| a.substitute(map)).collect(),
        }
    }
}

impl Tree {
    /// A loop as a tree.
    pub fn of_loop(l: Loop) -> Tree {
        Tree::Loop(Arc::new(l))
    }

    /// The loop, if it is one.
    pub fn as_loop(&self) -> Option<&Arc<Loop>> {
        match self {
            Tree::Loop(l) => Some(l),
            _ => None,
        }
    }

    /// The number of loops, statements, fills and local tensors.
    pub fn size(&self) -> usize {
        match self {
            Tree::Loop(l) => 1 + l.body.iter().map(Tree::size).sum::<usize>(),
            _ => 1,
        }
    }

    /// The tree with iterators replaced in statements, fills and bounds, all at once.
    ///
    /// Loop names are unique in a nest, so a replacement is never captured.
    #[must_use]
    pub fn substitute(&self, map: &dyn Fn(&Name) -> Option<Affine>) -> Tree {
        match self {
            Tree::Loop(l) => Tree::of_loop(Loop {
                range: l.range.substitute(map),
                body: l.body.iter().map(|t| t.substitute(map)).collect(),
                ..(**l).clone()
            }),
            Tree::Stmt(s) => Tree::Stmt(Arc::new(s.substitute(map))),
            Tree::Local(_) => self.clone(),
            Tree::Fill(fill) => Tree::Fill(Arc::new(Fill {
                region: fill
                    .region
                    .iter()
                    .map(|(low, n)| (low.substitute(map), *n))
                    .collect(),
                origin: fill.origin.as_ref().map(|o| o.substitute(map)),
                ..(**fill).clone()
            })),
        }
    }

    /// The tree with tensors renamed where they are declared, used and hinted at.
    #[must_use]
    pub fn rename_tensors(&self, rename: &dyn Fn(&Name) -> Option<Name>) -> Tree {
        let renamed = |tensor: &Tensor| match tensor.name().and_then(rename) {
            Some(name) => tensor.named(name),
            None => tensor.clone(),
        };
        self.rewritten(&renamed, &|hints| hints.rename_tensors(rename))
    }

    /// The tree with other tensors of the same names and ranks.
    #[must_use]
    pub fn map_tensors(&self, map: &dyn Fn(&Tensor) -> Tensor) -> Tree {
        self.rewritten(map, &Hints::clone)
    }

    fn rewritten(
        &self,
        tensors: &dyn Fn(&Tensor) -> Tensor,
        hints: &dyn Fn(&Hints) -> Hints,
    ) -> Tree {
        match self {
            Tree::Loop(l) => Tree::of_loop(Loop {
                hints: hints(&l.hints),
                body: l.body.iter().map(|t| t.rewritten(tensors, hints)).collect(),
                ..(**l).clone()
            }),
            Tree::Stmt(s) => Tree::Stmt(Arc::new(Stmt {
                target: tensors(&s.target),
                value: s.value.map_accesses(&|tensor, index| {
                    Some(Expr::access(tensors(tensor), index.clone()))
                }),
                ..(**s).clone()
            })),
            Tree::Fill(fill) => Tree::Fill(Arc::new(Fill {
                target: tensors(&fill.target),
                ..(**fill).clone()
            })),
            Tree::Local(tensor) => Tree::Local(tensors(tensor)),
        }
    }

    /// The local tensors that are declared in the tree.
    pub fn locals(&self) -> Vec<&Tensor> {
        match self {
            Tree::Loop(l) => l.body.iter().flat_map(Tree::locals).collect(),
            Tree::Local(tensor) => vec![tensor],
            Tree::Stmt(_) | Tree::Fill(_) => Vec::new(),
        }
    }

    /// The tree with the assignments of its statements counted from `first` on.
    pub(super) fn counted_from(&self, first: usize) -> Tree {
        self.map_origins(&|origin| origin.assignment += first)
    }

    /// The tree with its assignments counted from those after the `first` ones.
    pub fn counted_down(&self, first: usize) -> Tree {
        self.map_origins(&|origin| origin.assignment = origin.assignment.saturating_sub(first))
    }

    /// The tree with one more iterator, the outermost one, in what its statements execute.
    pub(super) fn repeated(&self, iterator: &Name) -> Tree {
        let outermost = Affine::iterator(iterator.clone());
        self.map_origins(&|origin| origin.point.insert(0, outermost.clone()))
    }

    fn map_origins(&self, change: &dyn Fn(&mut Origin)) -> Tree {
        match self {
            Tree::Loop(l) => Tree::of_loop(Loop {
                body: l.body.iter().map(|t| t.map_origins(change)).collect(),
                ..(**l).clone()
            }),
            Tree::Stmt(s) => {
                let mut s = (**s).clone();
                s.origin.iter_mut().for_each(change);
                Tree::Stmt(Arc::new(s))
            }
            Tree::Fill(fill) => {
                let mut fill = Fill::clone(fill);
                fill.origin.iter_mut().for_each(change);
                Tree::Fill(Arc::new(fill))
            }
            Tree::Local(_) => self.clone(),
        }
    }

    /// The tree with loops renamed, and with them the iterators in its statements.
    #[must_use]
    pub fn rename_loops(&self, rename: &dyn Fn(&Name) -> Option<Name>) -> Tree {
        fn names(tree: &Tree, rename: &dyn Fn(&Name) -> Option<Name>) -> Tree {
            match tree {
                Tree::Loop(l) => {
                    let mut l = (**l).clone();
                    if let Some(name) = rename(&l.name) {
                        l.name = name;
                    }
                    l.hints = l.hints.rename_loops(rename);
                    l.body = l.body.iter().map(|t| names(t, rename)).collect();
                    Tree::of_loop(l)
                }
                other => other.clone(),
            }
        }
        names(self, rename).substitute(&|n| rename(n).map(Affine::iterator))
    }
}
