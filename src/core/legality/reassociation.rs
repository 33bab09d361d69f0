//! What may become of the order of reductions.

use super::program::{Original, Program};
use crate::ir::BinaryOp;

/// What may become of the order of a reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reductions {
    /// It is kept.
    #[default]
    Strict,
    /// The updates of one element by one reduction may be executed in any order.
    Reassociate,
}

/// Whether the order of the updates of an assignment does not matter: not for integers, minima
/// and maxima, and for others if the policy says so.
pub(super) fn reassociates(program: &Program, a: usize, reductions: Reductions) -> bool {
    let Some(Original { stmt, .. }) = program.originals.get(a) else {
        return false;
    };
    let exact = !stmt.target.elem().is_float();
    match stmt.update {
        Some(BinaryOp::Min | BinaryOp::Max) => true,
        // A difference of sums is one, too: all of its terms are subtracted.
        Some(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) => {
            exact || reductions == Reductions::Reassociate
        }
        _ => false,
    }
}
