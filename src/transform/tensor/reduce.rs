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
//! in their order; `sum(t)` reduces over all dimensions. `sum(t, -1)` reduces over the last one, and
//! `#{keep: true}` keeps it, with the extent 1:
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let shares = A / sum(A, -1, #{keep: true});
//! print(build(shares));
//! ```
//!
//! ```text
//! f64 A[4][5], shares[4][5]
//! local f64 t[4]
//! fill t[0..4] = 0
//! for i1 in 0..4
//!   for i2 in 0..5
//!     t[i1] += A[i1][i2]
//! for i1_2 in 0..4
//!   for i2_2 in 0..5
//!     shares[i1_2][i2_2] = A[i1_2][i2_2] / t[i1_2]
//! ```
//!
//! `prod`, `min`, `max` and `mean` do the
//! same with `vprod`, `vmin`, `vmax` and `vmean`. `min(2, 3)` and `max(2, 3)` are functions of
//! numbers, as in any script.
//!
//! Refuses: what `vsum` refuses.
//!
//! Source: TeML §4.2.3, "other reduction operations".

use super::eq::{assign, places};
use super::operand::{carried, fresh_iterators, positional, rank};
use super::vreduce::{OPTIONS, OVER, RANGES, VALUES, arguments, kept, vmean, vreduce};
use crate::ir::{Affine, Expr, Reduction};
use crate::{Error, Op, Returns, Value};

macro_rules! reduce {
    ($name:literal, $call:expr) => {
        Op {
            name: $name,
            params: &[VALUES.any(), OVER.any(), OPTIONS.any(), RANGES.any()],
            returns: Returns::Expr,
            file: include_str!("reduce.rs"),
            call: |args| {
                let (values, over, ranges) = arguments(args)?;
                let reduced = $call(values, &over, ranges)?;
                stored(&kept(args, reduced, &over)?).map(Value::Expr)
            },
        }
    };
}

/// `sum(values, over?, options?, ranges?)`.
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
    let own = match carried(value) {
        own if own.is_empty() => fresh_iterators(rank(value), &[value]),
        own => own,
    };
    let own: Vec<Affine> = own.into_iter().map(Affine::iterator).collect();
    let entry = positional(value, &own)?;
    let to = places(value, &entry, &Some(own.clone()), &own);
    assign(entry, &to, &VALUES)
}
