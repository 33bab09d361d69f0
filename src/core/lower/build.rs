//! `build` wraps an assignment in a loop nest.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let x = tensor([5]);
//! let y = eq(vsum(vmul(A, x, [[i, j], [j]]), [j]), [i]);
//! print(build(y));
//! ```
//!
//! ```text
//! f64 y[4], A[4][5], x[5]
//! fill y[0..4] = 0
//! for i in 0..4
//!   for j in 0..5
//!     y[i] += A[i][j] * x[j]
//! ```
//!
//! The nest is perfect, unless it has temporaries. The initialization of a reduction is a fill
//! before it. So is the number for the elements that the loops do not reach (`elsewhere`). Loops
//! are named after their iterators: first the iterators of the target, then the summed ones, each
//! in order of appearance. If all iterators are called i1, i2 … (one letter and a number), they are
//! ordered by number, as TeML numbers them by level. An iterator that no script named is called i
//! and its level.
//!
//! Every element of the target gets its value from the old contents of all tensors, even if the
//! value reads the target. The nest computes in place if each element is read only for itself: the
//! assignment is compatible. It also does so if the loops read all elements before they assign
//! them. For that, some loops may run backwards or in another order, and a reduction has a number
//! of its own in each iteration. Otherwise the value goes through a temporary, which is not an
//! argument of the nest.
//!
//! ```rhai
//! let x = tensor([10]);
//! let B = tensor([10, 10]);
//! x = eq(vadd(x, x, [[i], [i - 1]]), [i]);
//! print(build(x));
//! B = eq(B, [i, j] -> [j, i]);
//! print(build(B));
//! ```
//!
//! ```text
//! f64 x[10]
//! for i in 1..10
//!   x[10 - i] += x[9 - i]
//! f64 B[10][10]
//! local f64 B_tmp[10][10]
//! for j in 0..10
//!   for i in 0..10
//!     B_tmp[j][i] = B[i][j]
//! for j_2 in 0..10
//!   for i_2 in 0..10
//!     B[j_2][i_2] = B_tmp[j_2][i_2]
//! ```
//!
//! The polyhedral library decides exactly whether another order is right. Without it, an assignment
//! that reads other elements gets a temporary.
//!
//! A sum moves outward of `*`, `neg` and the dividend of a floating-point quotient. Any other
//! reduction that is an operand has a temporary: a number, or a tensor if its elements are used
//! several times.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let x = tensor([5]);
//! let y = tensor([4]);
//! y = eq(2 * vsum(vmul(A, x, [[i, j], [j]]), [j]) + 3 * vat(y, [i]), [i]);
//! print(build(y));
//! ```
//!
//! ```text
//! f64 y[4], A[4][5], x[5]
//! for i in 0..4
//!   local f64 y_sum[]
//!   fill y_sum[] = 0
//!   for j in 0..5
//!     y_sum[] += A[i][j] * x[j]
//!   y[i] = 2 * y_sum[] + 3 * y[i]
//! ```
//!
//! Refuses: virtual expressions; an iterator that occurs only in the value, unless the target
//! accumulates onto itself; several iterations that assign, or may assign, one element; a number
//! `elsewhere` that differs from the number that a reduction of the target begins from.
//!
//! Source: TeML eq. 19; initialization: §4.2.3; in place: Ullrich, Detection and Exploitation of
//! Data-Parallelism in Assignments of Multi-Dimensional Tensors, 2018, Def. 2.

pub use super::no_nest::NoNest;

use super::partition::{NoPartition, assignments};
use super::reductions::split;
use super::statement::{Refused, lower};
use crate::ir::{Expr, Nest, Node};

/// The loop nest of an assignment.
///
/// # Errors
/// The header lists them.
pub fn build(assignment: &Expr) -> Result<Nest, NoNest> {
    if let Node::Pieces { .. } = assignment.node() {
        return in_pieces(assignment);
    }
    let trees = match lower(assignment) {
        Err(Refused::InTheWay) => split(assignment)?.build(),
        lowered => lowered?.build(),
    };
    Ok(Nest::built(trees, assignment.clone()))
}

/// The loop nest of an assignment that assigns elements one after the other. Later iterations may
/// read them.
///
/// # Errors
/// The header lists them. The value also must not read elements of the target that are reduced, or
/// set before the loops.
pub fn sweep(assignment: &Expr) -> Result<Nest, NoNest> {
    let trees = match lower(assignment) {
        Err(Refused::InTheWay) => split(assignment)?.in_order()?,
        lowered => {
            let lowered = lowered?;
            lowered.check_order()?;
            lowered.in_order()
        }
    };
    Ok(Nest::in_order(trees, assignment.clone()))
}

/// An assignment as one statement in its loops, even if it overwrites elements that it reads. It
/// shows the notation, not the execution.
///
/// # Errors
/// As [`build`].
pub fn written(assignment: &Expr) -> Result<Nest, NoNest> {
    let trees = match lower(assignment) {
        Err(Refused::InTheWay) => split(assignment)?.in_order()?,
        lowered => lowered?.in_order(),
    };
    Ok(Nest::built(trees, assignment.clone()))
}

/// The nest of an assignment in pieces, which runs the nests of the pieces.
fn in_pieces(pieces: &Expr) -> Result<Nest, NoNest> {
    let mut whole: Option<Nest> = None;
    for piece in assignments(pieces)? {
        let next = build(&piece)?;
        whole = Some(match whole {
            None => next,
            Some(nest) => nest.followed_by(&next),
        });
    }
    whole.ok_or(NoNest::Partition(NoPartition::Empty))
}
