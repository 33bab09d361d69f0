//! `vcontract` multiplies two tensors and sums over pairs of their dimensions.
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
//! `vcontract(left, right, [r0, r1])` pairs dimension `r0` of `left` with dimension `r1` of
//! `right`, both counted from 1. Several pairs are a list: `[[r0, r1], [s0, s1]]`. The result is
//! virtual and has no iterators yet. Its dimensions are the unpaired ones of `left`, then the
//! unpaired ones of `right`. Sums run over the pairs in order, the last one fastest.
//!
//! Refuses: dimensions that do not exist or are in two pairs; extents that disagree; different
//! element types.
//!
//! Source: TeML §4.2.3, eq. 33.

use super::infer::{abstraction, binary, reduce};
use super::operand::{describe, fresh_iterators, positional, rank};
use crate::analysis::shape::{self, Dimension};
use crate::args::Dimensions;
use crate::ir::{Affine, BinaryOp, Expr, Name, Reduction};
use crate::refusals::{dimension_twice, no_dimension};
use crate::{Error, Op, Param, Returns, Value, mistake};

const LEFT: Param<Expr> = Param::new("left");
const RIGHT: Param<Expr> = Param::new("right");
const DIMENSIONS: Param<Dimensions> = Param::new("dimensions");

/// `vcontract(left, right, dimensions)`.
pub static VCONTRACT: Op = Op {
    name: "vcontract",
    params: &[LEFT.any(), RIGHT.any(), DIMENSIONS.any()],
    returns: Returns::Expr,
    file: include_str!("vcontract.rs"),
    call: |args| {
        vcontract(args.get(&LEFT)?, args.get(&RIGHT)?, args.get(&DIMENSIONS)?).map(Value::Expr)
    },
};

/// The virtual contraction of dimension `pair[0]` of `left` with `pair[1]` of `right`, for all
/// pairs.
///
/// # Errors
/// As the header says.
pub fn vcontract(left: &Expr, right: &Expr, pairs: &[[i64; 2]]) -> Result<Expr, Error> {
    let of_left = dimensions(left, pairs.iter().map(|pair| pair[0]))?;
    let of_right = dimensions(right, pairs.iter().map(|pair| pair[1]))?;
    let (s0, s1) = (rank(left), rank(right));
    let free = s0 + s1 - 2 * pairs.len();
    let mut formals = fresh_iterators(free + pairs.len(), &[left, right]);
    let summed = formals.split_off(free);
    let mut rest = formals.iter();
    let i = placed(s0, &of_left, &summed, &mut rest);
    let j = placed(s1, &of_right, &summed, &mut rest);
    let left_at = positional(left, &i).map_err(|error| error.at(&LEFT))?;
    let right_at = positional(right, &j).map_err(|error| error.at(&RIGHT))?;

    let place = |expr: &Expr, at: &Expr, names: &[Affine], r: usize| -> Result<Dimension, Error> {
        let ranges = shape::ranges_so_far(at)?;
        let range = ranges.iter().find(|range| names[r].mentions(&range.name));
        let extent = range.map_or(Affine::constant(0), shape::IteratorRange::dim);
        Ok(Dimension {
            tensor: describe(expr),
            dimension: r + 1,
            extent,
        })
    };
    for (&r0, &r1) in of_left.iter().zip(&of_right) {
        let first = place(left, &left_at, &i, r0)?;
        let second = place(right, &right_at, &j, r1)?;
        if first.extent != second.extent {
            let text = format!("{first} cannot be contracted with {second}");
            return Err(mistake(text).at(&DIMENSIONS));
        }
    }

    // Only element types can still disagree.
    let product = binary(BinaryOp::Mul, left_at, right_at);
    let product = product.map_err(|unfit| Error::from(unfit).at(&RIGHT))?;
    let sum = reduce(Reduction::Sum, summed, product)?;
    Ok(abstraction(formals, sum)?)
}

/// The iterators of an operand: the summed ones in its paired dimensions, and the next of `rest` in
/// the others.
fn placed<'a>(
    rank: usize,
    paired: &[usize],
    summed: &[Name],
    rest: &mut impl Iterator<Item = &'a Name>,
) -> Vec<Affine> {
    let names = (0..rank).filter_map(|d| match paired.iter().position(|&p| p == d) {
        Some(k) => summed.get(k),
        None => rest.next(),
    });
    names.map(|name| Affine::iterator(name.clone())).collect()
}

/// The listed dimensions, counted from 0. Each has to exist and to be listed once.
fn dimensions(expr: &Expr, listed: impl Iterator<Item = i64>) -> Result<Vec<usize>, Error> {
    let rank = rank(expr);
    let mut found: Vec<usize> = Vec::new();
    for dimension in listed {
        let what = describe(expr);
        let error = match usize::try_from(dimension) {
            Ok(d) if (1..=rank).contains(&d) && !found.contains(&(d - 1)) => {
                found.push(d - 1);
                continue;
            }
            Ok(d) if (1..=rank).contains(&d) => dimension_twice(&what, dimension),
            _ => no_dimension(&what, rank, dimension),
        };
        return Err(error.at(&DIMENSIONS));
    }
    Ok(found)
}
