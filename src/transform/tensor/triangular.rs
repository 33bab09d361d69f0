//! `triangular` says that a matrix has zeros outside of a triangle, which sums then leave out.
//!
//! ```rhai
//! let L = triangular(tensor([4, 4]), "lower");
//! let B = tensor([4, 5]);
//! let C = einsum("ik,kj->ij", L, B);
//! print(C); print(build(C));
//! let A = tensor([4, 5]);
//! let S = triangular(tensor([4, 4]), "lower");
//! S = einsum("ik,jk->ij", A, A);
//! print(S);
//! ```
//!
//! ```text
//! f64 C[4][5], L[4][4], B[4][5]
//! C[i][j] = sum(k in 0..i + 1: L[i][k] * B[k][j])
//! f64 C[4][5], L[4][4], B[4][5]
//! fill C[0..4][0..5] = 0
//! for i in 0..4
//!   for j in 0..5
//!     for k in 0..i + 1
//!       C[i][j] += L[i][k] * B[k][j]
//! f64 S[4][4], A[4][5]
//! S[i][j] = sum(k: A[i][k] * A[j][k]) where j in 0..i + 1
//! ```
//!
//! `triangular(matrix, "lower")` has zeros right of its diagonal, and `"upper"` left of it. A sum
//! of products with an element of the matrix has only the terms inside of the triangle. An
//! assignment to the matrix assigns only the elements inside: half of the work of the square, as in
//! BLAS.
//!
//! Only the value that `triangular` returns has this property. Data are checked: a nonzero number
//! outside of the triangle is an error. Without data of its own, the matrix gets the pattern of
//! numbers inside, and zeros outside.
//!
//! Refuses: a tensor that is not a matrix; an expression.
//!
//! Source: beyond TeML; the triangular matrices of BLAS, level 3.

use crate::analysis::shape::{self, IteratorRange};
use crate::ir::{Affine, BinaryOp, Domain, Expr, Function, Index, Name, Node, Tensor, Triangle};
use crate::words::Word;
use crate::{Error, Op, Param, Returns, Value, mistake};

const MATRIX: Param<Expr> = Param::new("matrix");
const TRIANGLE: Param<Triangle> = Param::new("triangle");

/// `triangular(matrix, triangle)`.
pub static TRIANGULAR: Op = Op {
    name: "triangular",
    params: &[MATRIX.any(), TRIANGLE.any()],
    returns: Returns::Expr,
    file: include_str!("triangular.rs"),
    call: |args| triangular(args.get(&MATRIX)?, args.get(&TRIANGLE)?).map(Value::Expr),
};

impl Word for Triangle {
    const WORDS: &'static [&'static str] = Triangle::WORDS;

    fn from_word(word: &str) -> Option<Triangle> {
        Triangle::from_word(word)
    }
}

/// The matrix with zeros outside of a triangle.
///
/// # Errors
/// As the header says.
pub fn triangular(matrix: &Expr, triangle: Triangle) -> Result<Expr, Error> {
    let tensor = match matrix.node() {
        Node::Access {
            tensor,
            index: Index::Unset,
        } if tensor.shape().rank() == 2 => tensor,
        _ => {
            let what = super::operand::describe(matrix);
            return Err(mistake(format!("{what} is not a tensor with 2 dimensions"))
                .help("declare it: `let L = triangular(tensor([9, 9]), \"lower\")`")
                .at(&MATRIX));
        }
    };
    Ok(Expr::of_tensor(tensor.triangular(triangle)))
}

/// Narrows the ranges of iterators of a sum of `body` over `over` to the terms inside of triangular
/// matrices; all other terms are zero.
pub(super) fn of_terms(body: &Expr, over: &[Name], mut within: Domain) -> Domain {
    let mut factors = Vec::new();
    collect(body, &mut factors);
    for (tensor, index) in factors {
        within = inside(tensor, index, over, within, &|within| {
            shape::ranges_within(body, within).ok()
        });
    }
    within
}

/// The ranges of iterators of an assignment to `tensor[index]`, narrowed if the tensor is
/// triangular.
pub(super) fn of_target(
    tensor: &Tensor,
    index: &[Affine],
    within: Domain,
    assignment: &Expr,
) -> Domain {
    let names = index.iter().flat_map(|a| a.terms().iter());
    let names: Vec<Name> = names.map(|(name, _)| name.clone()).collect();
    let ranges = |_: &Domain| shape::ranges(assignment).ok();
    inside(tensor, index, &names, within, &ranges)
}

/// Collects the accesses that make the product zero if they are zero.
fn collect<'e>(expr: &'e Expr, found: &mut Vec<(&'e Tensor, &'e [Affine])>) {
    match expr.node() {
        Node::Access {
            tensor,
            index: Index::At(index),
        } => found.push((tensor, index)),
        Node::Binary {
            op: BinaryOp::Mul,
            left,
            right,
            ..
        } => {
            collect(left, found);
            collect(right, found);
        }
        Node::Binary {
            op: BinaryOp::Div,
            left,
            ..
        } => collect(left, found),
        Node::Apply {
            function: Function::Neg,
            args,
            ..
        } => args.iter().for_each(|arg| collect(arg, found)),
        _ => {}
    }
}

/// Adds the bound that keeps the element of a triangular matrix inside of its triangle. The last
/// iterator that can have the bound gets it.
fn inside(
    tensor: &Tensor,
    index: &[Affine],
    names: &[Name],
    within: Domain,
    ranges: &dyn Fn(&Domain) -> Option<Vec<IteratorRange>>,
) -> Domain {
    let (Some(triangle), [row, column]) = (tensor.triangle(), index) else {
        return within;
    };
    // At least 0 inside of the triangle.
    let distance = match triangle {
        Triangle::Lower => row.minus(column),
        Triangle::Upper => column.minus(row),
    };
    let can = |name: &&Name| distance.coefficient(name).abs() == 1;
    let (Some(name), Some(ranges)) = (names.iter().rev().find(can), ranges(&within)) else {
        return within;
    };
    let Some(own) = ranges.iter().find(|r| r.name == *name) else {
        return within;
    };
    let mut range = own.range();
    if range.step > 1 {
        return within;
    }
    let factor = distance.coefficient(name);
    let rest = distance.minus(&Affine::iterator(name.clone()).times(factor));
    if factor > 0 {
        range.lower.push(rest.times(-1))
    } else {
        range.upper.push(rest.plus_constant(1))
    }
    let values = |name: &Name| {
        let range = ranges.iter().find(|r| r.name == *name)?;
        Some((range.low, range.high - 1))
    };
    let interval = |a: &Affine| a.interval(&values);
    let range = range.substitute(&|_| None).without_slack(&interval);
    let cut = Domain::new([(name.clone(), range)]).with(&within);
    let all: Vec<Name> = cut.iter().map(|(name, _)| name.clone()).collect();
    match cut.nested(&all) {
        Some(_) => cut,
        // Bounds of the other iterators depend on this one.
        None => within,
    }
}
