//! `sum`, `prod`, `min`, `max`, `mean` reduce a tensor over some of its dimensions and assign the
//! result.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let columns = sum(A, [1]);
//! let greatest = max(A);
//! let x = tensor([5]);
//! let y = sum(vmul(A, x, [[i, j], [j]]), [j]);
//! print(build(columns)); print(build(greatest)); print(build(y));
//! ```
//!
//! ```text
//! f64 columns[5], A[4][5]
//! fill columns[0..5] = 0
//! for i1 in 0..5
//!   for i2 in 0..4
//!     columns[i1] += A[i2][i1]
//! f64 greatest[], A[4][5]
//! fill greatest[] = -∞
//! for i1 in 0..4
//!   for i2 in 0..5
//!     greatest[] max= A[i1][i2]
//! f64 y[4], A[4][5], x[5]
//! fill y[0..4] = 0
//! for i in 0..4
//!   for j in 0..5
//!     y[i] += A[i][j] * x[j]
//! ```
//!
//! `sum(values, over)` is `vsum(values, over)`, assigned to a tensor with the remaining dimensions
//! in their order; `sum(t)` reduces over all dimensions. `prod`, `min`, `max` and `mean` do the
//! same with `vprod`, `vmin`, `vmax` and `vmean`. `min(2, 3)` and `max(2, 3)` are functions of
//! numbers, as in any script.
//!
//! Refuses: what `vsum` refuses.
//!
//! Source: TeML §4.2.3, "other reduction operations".

use super::eq::assign;
use super::operand::{fresh_iterators, indexed, positional, rank};
use super::vreduce::{OVER, RANGES, VALUES, arguments, vmean, vreduce};
use crate::ir::{Affine, Expr, Reduction};
use crate::{Error, Op, Returns, Value};

macro_rules! reduce {
    ($name:literal, $call:expr) => {
        Op {
            name: $name,
            params: &[VALUES.any(), OVER.any(), RANGES.any()],
            returns: Returns::Expr,
            file: include_str!("reduce.rs"),
            call: |args| {
                let (values, over, ranges) = arguments(args)?;
                stored(&$call(values, &over, ranges)?).map(Value::Expr)
            },
        }
    };
}

/// `sum(values, over?)`.
pub static SUM: Op = reduce!("sum", |v, over, r| vreduce(Reduction::Sum, v, over, r));
/// `prod(values, over?)`.
pub static PROD: Op = reduce!("prod", |v, over, r| vreduce(Reduction::Prod, v, over, r));
/// `min(values, over?)`.
pub static MIN: Op = reduce!("min", |v, over, r| vreduce(Reduction::Min, v, over, r));
/// `max(values, over?)`.
pub static MAX: Op = reduce!("max", |v, over, r| vreduce(Reduction::Max, v, over, r));
/// `mean(values, over?)`.
pub static MEAN: Op = reduce!("mean", vmean);

/// Assigns a virtual tensor, as it is, to a tensor named □.
///
/// # Errors
/// A tensor without a name.
fn stored(value: &Expr) -> Result<Expr, Error> {
    let own = match indexed(value, &None) {
        Ok(value) => value.iterators(),
        Err(_) => fresh_iterators(rank(value), &[value]),
    };
    let own: Vec<Affine> = own.into_iter().map(Affine::iterator).collect();
    assign(positional(value, &own)?, &own, &VALUES)
}
