//! `sweep` builds a loop nest that assigns element after element: later iterations read new values.
//!
//! ```rhai
//! let A = tensor([9, 9]);
//! let star = [[-1, 0], [0, -1], [0, 1], [1, 0]];
//! A = eq(vstencil(A, star, [1, 1, 1, 1]) * 0.25, [i, j] -> [i, j], [9, 9]);
//! print(sweep(A));
//! ```
//!
//! ```text
//! f64 A[9][9]
//! for i in 1..8
//!   for j in 1..8
//!     A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j]) * 0.25
//! ```
//!
//! Iterators count up, and the first iterator of the target is outermost, as in the loops of
//! `build`. The result is the Gauss–Seidel method or another recurrence, such as
//! `x[i] = x[i-1] + y[i]`. `build` gives an assignment the other meaning: it computes all elements
//! from the old values.
//!
//! Always legal: from then on, the nest is proved against this order of the loops.
//!
//! Refuses: what `build` refuses; a reduction over elements of the target; a number `elsewhere` in
//! a target that is read.
//!
//! Source: in-place stencils such as seidel-2d of PolyBench; the sequential meaning of loops.

use crate::ir::Expr;
use crate::lower::build::sweep;
use crate::{Error, Op, Param, Returns, Value};

const ASSIGNMENT: Param<Expr> = Param::new("assignment");

/// `sweep(assignment)`.
pub static SWEEP: Op = Op {
    name: "sweep",
    params: &[ASSIGNMENT.any()],
    returns: Returns::Nest,
    file: include_str!("sweep.rs"),
    call: |args| match sweep(args.get(&ASSIGNMENT)?) {
        Ok(nest) => Ok(Value::Nest(nest)),
        Err(why) => Err(Error::from(why).at(&ASSIGNMENT)),
    },
};
