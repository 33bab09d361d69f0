//! Statements and fills, the leaves of nests.
//!
//! A fill is the initialization of a part of a tensor. It is a tree of its own, because a reduction
//! must not rely on the old contents of its target. It comes before the loops, so that the nest
//! itself stays perfect.
//!
//! An [`Origin`] says which instance of the definition a statement executes. Transformations keep
//! it by substituting in statements instead of writing them anew. Copies between tensors execute
//! nothing of the definition, and have none.

use super::affine::Affine;
use super::constant::Constant;
use super::expr::{Expr, Node};
use super::function::BinaryOp;
use super::name::Name;
use super::tensor::{Shape, Tensor};

/// `target op= value`, or `target = value` without an operation.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The tensor written. It has a name.
    pub target: Tensor,
    /// The index written, one expression per dimension.
    pub index: Vec<Affine>,
    /// The operation of an update such as `+=`.
    pub update: Option<BinaryOp>,
    /// The value: accesses, numbers and element-wise operations only.
    pub value: Expr,
    /// The instance of the definition that it executes. `None` for copies between tensors that a
    /// transformation adds, and for parsed nests. Not part of equality.
    pub origin: Option<Origin>,
}

impl PartialEq for Stmt {
    fn eq(&self, other: &Stmt) -> bool {
        let place = (&self.target, &self.index) == (&other.target, &other.index);
        place && self.update == other.update && self.value == other.value
    }
}

impl Eq for Stmt {}

/// The instance of the definition that a statement executes. It is substituted along with the
/// statement, so it stays true when transformations change the loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The assignment, counted from 0.
    pub assignment: usize,
    /// The iterators of the loops that `build` made for the assignment, outermost first. They are
    /// written in terms of the loops around the statement.
    pub point: Vec<Affine>,
}

/// `tensor[region] = value`: sets a box of elements.
#[derive(Clone, Debug)]
pub struct Fill {
    /// The tensor written. It has a name.
    pub target: Tensor,
    /// For each dimension the first index and the number of elements, which may have sizes.
    pub region: Vec<(Affine, Affine)>,
    /// The identity of the reduction.
    pub value: Constant,
    /// The assignment of the definition that it begins, with the iterators of the loops around it
    /// there. `None` for fills that a transformation adds, and for parsed nests. Not part of
    /// equality.
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
    /// The value of the target after the statement: that of an update reads the target.
    #[must_use]
    pub fn result(&self) -> Expr {
        let Some(op) = self.update else {
            return self.value.clone();
        };
        Expr::new(Node::Binary {
            op,
            shape: Shape::of_extents([]),
            left: Expr::element(&self.target, self.index.clone()),
            right: self.value.clone(),
        })
    }

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
    pub(super) fn substitute(&self, map: &dyn Fn(&Name) -> Option<Affine>) -> Origin {
        Origin {
            assignment: self.assignment,
            point: self.point.iter().map(|a| a.substitute(map)).collect(),
        }
    }
}
