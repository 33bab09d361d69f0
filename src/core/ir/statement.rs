//! What nests execute: statements and fills.
//!
//! A fill is the initialization of part of a tensor, placed explicitly because a reduction must not
//! rely on what its target held before.

use super::affine::Affine;
use super::constant::Constant;
use super::expr::Expr;
use super::function::BinaryOp;
use super::name::Name;
use super::tensor::Tensor;

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
    pub(super) fn substitute(&self, map: &dyn Fn(&Name) -> Option<Affine>) -> Origin {
        Origin {
            assignment: self.assignment,
            point: self.point.iter().map(|a| a.substitute(map)).collect(),
        }
    }
}
