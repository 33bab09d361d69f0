//! `vcontract` multiplies two tensors and sums over a pair of their dimensions.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = tensor([5, 6]);
//! let AB = vcontract(A, B, [2, 1]);
//! let C = eq(AB, [i, j] -> [i, j]);
//! print(AB); print(C);
//! ```
//!
//! ```text
//! f64 A[4][5], B[5][6]
//! [_1, _2] -> sum(_3: A[_1][_3] * B[_3][_2])
//! f64 C[4][6], A[4][5], B[5][6]
//! C[i][j] = sum(_3: A[i][_3] * B[_3][j])
//! ```
//!
//! `vcontract(left, right, [r0, r1])`: dimension `r0` of `left` with dimension `r1` of `right`,
//! both counted from 1. The result is virtual and has no iterators yet: its dimensions are
//! those of `left` without `r0`, then those of `right` without `r1`.
//!
//! Refuses: dimensions that do not exist; extents that disagree; different element types.
//!
//! Source: TeML §4.2.3, eq. 33.

use super::infer::{abstraction, binary, reduce};
use super::operand::{describe, fresh_iterators, of_operand, positional, rank};
use crate::analysis::shape::{self, Place};
use crate::ir::{Affine, BinaryOp, Expr, Name, Reduction};
use crate::transform::{Arg, Error, ErrorKind, Kind, Op, Param, Returns, Value};

/// `vcontract(left, right, dimensions)`.
pub static VCONTRACT: Op = Op {
    name: "vcontract",
    params: &[
        Param::new("left", Kind::Expr),
        Param::new("right", Kind::Expr),
        Param::new("dimensions", Kind::Dimensions),
    ],
    returns: Returns::Expr,
    file: include_str!("vcontract.rs"),
    call: |args| match args {
        [Arg::Expr(left), Arg::Expr(right), Arg::Dimensions(pair)] => {
            vcontract(left, right, *pair).map(Value::Expr)
        }
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The virtual contraction of dimension `pair[0]` of `left` with `pair[1]` of `right`.
///
/// # Errors
/// As the header says.
pub fn vcontract(left: &Expr, right: &Expr, pair: [i64; 2]) -> Result<Expr, Error> {
    let (r0, r1) = (dimension(left, pair[0])?, dimension(right, pair[1])?);
    let (s0, s1) = (rank(left), rank(right));
    let mut formals = fresh_iterators(s0 + s1 - 1, &[left, right]);
    let summed = formals.remove(s0 + s1 - 2);
    let at = |name: &Name| Affine::iterator(name.clone());
    let mut i: Vec<Affine> = formals[..s0 - 1].iter().map(at).collect();
    let mut j: Vec<Affine> = formals[s0 - 1..].iter().map(at).collect();
    i.insert(r0, at(&summed));
    j.insert(r1, at(&summed));
    let left_at = of_operand(positional(left, &i), 0)?;
    let right_at = of_operand(positional(right, &j), 1)?;

    let place = |expr: &Expr, at: &Expr, names: &[Affine], r: usize| -> Result<Place, Error> {
        let ranges = shape::ranges(at)?;
        let range = ranges.iter().find(|range| names[r].mentions(&range.name));
        let extent = range.map_or(0, shape::IteratorRange::extent);
        Ok(Place {
            tensor: describe(expr),
            dimension: r + 1,
            extent,
        })
    };
    let (first, second) = (
        place(left, &left_at, &i, r0)?,
        place(right, &right_at, &j, r1)?,
    );
    if first.extent != second.extent {
        let kind = ErrorKind::ContractedExtents { first, second };
        return Err(Error::from(kind).at_argument(2));
    }

    let product = binary(BinaryOp::Mul, left_at, right_at).map_err(|kind| {
        // What is left to disagree about are element types.
        Error::from(kind).at_argument(1)
    })?;
    let sum = reduce(Reduction::Sum, vec![summed], product)?;
    Ok(abstraction(formals, sum)?)
}

fn dimension(expr: &Expr, dimension: i64) -> Result<usize, Error> {
    let rank = rank(expr);
    match usize::try_from(dimension) {
        Ok(d) if (1..=rank).contains(&d) => Ok(d - 1),
        _ => {
            let what = describe(expr);
            let kind = ErrorKind::NoDimension {
                what,
                rank,
                dimension,
            };
            Err(Error::from(kind).at_argument(2))
        }
    }
}
