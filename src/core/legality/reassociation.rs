//! The policy on the order of reductions.

use super::program::{Original, Program};
use crate::analysis::recurrence::recurrence;
use crate::ir::{BinaryOp, Stmt};

/// Whether a reduction may be reassociated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reductions {
    /// The order is kept.
    #[default]
    Strict,
    /// The updates of one element by one reduction may run in any order.
    Reassociate,
}

/// Whether the updates of an assignment may be reordered, or the operands of its recurrence
/// regrouped. Integer reductions, minima and maxima always may; floating-point sums and products
/// need the policy.
pub(super) fn reassociates(program: &Program, a: usize, reductions: Reductions) -> bool {
    let Some(Original { stmt, .. }) = program.originals.get(a) else {
        return false;
    };
    reorders(stmt, reductions)
}

/// Whether the updates of a statement may be reordered, or its recurrence regrouped.
fn reorders(stmt: &Stmt, reductions: Reductions) -> bool {
    let exact = !stmt.target.elem().is_float();
    match operation(stmt) {
        Some(BinaryOp::Min | BinaryOp::Max) => true,
        // A difference may be reordered like a sum: all of its terms are subtracted.
        Some(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) => {
            exact || reductions == Reductions::Reassociate
        }
        _ => false,
    }
}

/// The operation of a statement's updates, or of its recurrence.
pub(super) fn operation(stmt: &Stmt) -> Option<BinaryOp> {
    let of_recurrence = || Some(recurrence(stmt)?.op);
    stmt.update.or_else(of_recurrence)
}

/// Whether atomic updates of one element by two statements may run in any order. C has no atomic
/// minimum.
pub(super) fn are_atomic(one: &Stmt, other: &Stmt, reductions: Reductions) -> bool {
    let is_product = |s: &Stmt| match s.update? {
        BinaryOp::Add | BinaryOp::Sub => Some(false),
        BinaryOp::Mul => Some(true),
        _ => None,
    };
    let both = [one, other];
    is_product(one).is_some()
        && is_product(one) == is_product(other)
        && both.iter().all(|s| reorders(s, reductions))
}
