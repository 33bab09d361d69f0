//! `vsum`, `vprod`, `vmin`, `vmax`, `vmean` reduce an expression over some of its iterators,
//! without storing the result.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let x = tensor([5]);
//! let y = eq(vsum(vmul(A, x, [[i, j], [j]]), [j]), [i]);
//! let m = eq(vmax(vabs(A, [i, j]), [j]), [i]);
//! let mean = eq(vmean(vat(A, [i, j]), [i, j]), []);
//! print(y); print(build(m)); print(mean);
//! ```
//!
//! ```text
//! f64 y[4], A[4][5], x[5]
//! y[i] = sum(j: A[i][j] * x[j])
//! f64 m[4], A[4][5]
//! fill m[0..4] = -∞
//! for i in 0..4
//!   for j in 0..5
//!     m[i] max= abs(A[i][j])
//! f64 mean[], A[4][5]
//! mean[] = sum(i, j: A[i][j]) / 20
//! ```
//!
//! The result denotes the sum, product, least or greatest value, or the mean, whatever the target
//! held before: `build` starts from 0, from 1, and from ∞ or -∞ (for integers the greatest or the
//! least one). Values are taken in the order of the iterators listed, the last one fastest. The
//! least and the greatest value pass over NaN. The mean is the sum, divided by the number of
//! values; `build` moves the sum out of the quotient, so that each value is divided, and cannot do
//! that with integers.
//!
//! Refuses: names that are no iterators of the expression, or listed twice.
//!
//! Source: the reduction behind TeML's `vcontract` (§4.2.3: "other reduction operations").

use super::infer::{binary, reduce};
use super::operand::{constant, indexed};
use crate::analysis::shape;
use crate::ir::{Affine, BinaryOp, Expr, Name, Reduction};
use crate::transform::{Arg, Error, ErrorKind, Kind, Number, Op, Param, Returns, Value};

macro_rules! vreduce {
    ($name:literal, $call:expr) => {
        Op {
            name: $name,
            params: &[
                Param::new("values", Kind::Expr),
                Param::new("over", Kind::Iters),
            ],
            returns: Returns::Expr,
            file: include_str!("vreduce.rs"),
            call: |args| match args {
                [Arg::Expr(values), Arg::Iters(over)] => $call(values, over).map(Value::Expr),
                _ => Err(ErrorKind::Misdeclared.into()),
            },
        }
    };
}

/// `vsum(values, over)`.
pub static VSUM: Op = vreduce!("vsum", vsum);
/// `vprod(values, over)`.
pub static VPROD: Op = vreduce!("vprod", |v, over| vreduce(Reduction::Prod, v, over));
/// `vmin(values, over)`.
pub static VMIN: Op = vreduce!("vmin", |v, over| vreduce(Reduction::Min, v, over));
/// `vmax(values, over)`.
pub static VMAX: Op = vreduce!("vmax", |v, over| vreduce(Reduction::Max, v, over));
/// `vmean(values, over)`.
pub static VMEAN: Op = vreduce!("vmean", vmean);

/// The virtual sum of `values` over the iterators `over`.
///
/// # Errors
/// As the header says.
pub fn vsum(values: &Expr, over: &[Affine]) -> Result<Expr, Error> {
    vreduce(Reduction::Sum, values, over)
}

/// The virtual mean of `values` over the iterators `over`.
///
/// # Errors
/// As the header says.
pub fn vmean(values: &Expr, over: &[Affine]) -> Result<Expr, Error> {
    let sum = vsum(values, over)?;
    let ranges = shape::ranges(&indexed(values, &None)?)?;
    let listed = ranges
        .iter()
        .filter(|r| over.iter().any(|o| o.mentions(&r.name)));
    let count: u64 = listed.map(shape::IteratorRange::extent).product();
    let count = match sum.elem().is_float() {
        true => Number::Float(count as f64),
        false => Number::Int(i64::try_from(count).unwrap_or(i64::MAX)),
    };
    let count = constant(count, sum.elem())?;
    Ok(binary(BinaryOp::Div, sum, count)?)
}

/// The virtual reduction of `values` over the iterators `over`.
///
/// # Errors
/// As the header says.
pub fn vreduce(reduction: Reduction, values: &Expr, over: &[Affine]) -> Result<Expr, Error> {
    let body = indexed(values, &None).map_err(|kind| Error::from(kind).at_argument(0))?;
    let has = body.iterators();
    let mut names: Vec<Name> = Vec::with_capacity(over.len());
    for iterator in over {
        let Some(name) = iterator.as_iterator().filter(|n| has.contains(n)) else {
            let kind = ErrorKind::NotFree {
                iterator: iterator.to_string(),
                has,
            };
            return Err(Error::from(kind).at_argument(1));
        };
        if names.contains(name) {
            let kind = ErrorKind::Repeated {
                iterator: name.clone(),
            };
            return Err(Error::from(kind).at_argument(1));
        }
        names.push(name.clone());
    }
    if names.is_empty() {
        return Ok(body);
    }
    Ok(reduce(reduction, names, body)?)
}
