//! Entries at the same position of operands that carry no iterators.

use super::infer::abstraction;
use super::operand::{describe, positional, rank};
use super::unfit::Unfit;
use crate::analysis::shape;
use crate::ir::{Affine, Expr, Index, Name, Node, Shape};
use crate::{Error, mistake};

/// Applies `function` to each entry of an operand that carries no iterators.
pub(super) fn each_entry(
    operand: &Expr,
    function: impl FnOnce(Expr) -> Result<Expr, Unfit>,
) -> Result<Expr, Error> {
    let formals = formals(rank(operand));
    let entry = positional(operand, &iterators(&formals))?;
    closed(formals, function(entry)?)
}

/// Iterators for entries.
pub(super) fn formals(count: usize) -> Vec<Name> {
    (1..=count).map(Name::generated).collect()
}

pub(super) fn iterators(names: &[Name]) -> Vec<Affine> {
    names.iter().cloned().map(Affine::iterator).collect()
}

pub(super) fn closed(formals: Vec<Name>, entry: Expr) -> Result<Expr, Error> {
    if formals.is_empty() {
        Ok(entry)
    } else {
        Ok(abstraction(formals, entry)?)
    }
}

/// Checks that operands with dimensions have one shape.
pub(super) fn check_shapes(tensors: &[&Expr]) -> Result<(), Error> {
    let mut pairs = tensors.first().into_iter().flat_map(|first| {
        let others = tensors[1..].iter();
        others.map(|other| (*first, *other))
    });
    match pairs.find(|(first, other)| shape_of(first) != shape_of(other)) {
        Some((first, other)) => Err(differ(first, other)),
        None => Ok(()),
    }
}

/// Checks that the formals of `result` run over all entries of the operands, which have one shape.
pub(super) fn check_entries(
    result: &Expr,
    formals: &[Name],
    tensors: &[&Expr],
) -> Result<(), Error> {
    let ranges = shape::ranges_so_far(result).unwrap_or_default();
    let extents = formals.iter().map(|formal| {
        let range = ranges.iter().find(|r| r.name == *formal);
        range.map_or(1, shape::IteratorRange::extent)
    });
    match tensors {
        [first, .., last] if !extents.eq(shape_of(first).extents().iter().copied()) => {
            Err(differ(first, last))
        }
        _ => Ok(()),
    }
}

/// The extents of the dimensions that [`rank`] counts.
fn shape_of(expr: &Expr) -> Shape {
    let shape = match expr.node() {
        Node::Assign { .. } | Node::Pieces { .. } => {
            expr.tensor().map(|tensor| tensor.shape().clone())
        }
        Node::Access {
            index: Index::At(_),
            ..
        }
        | Node::Index(_) => shape::virtual_shape(expr).ok(),
        _ => expr.shape().cloned(),
    };
    shape.unwrap_or_else(|| Shape::of_extents([]))
}

/// The error for operands whose entries cannot be paired.
fn differ(left: &Expr, right: &Expr) -> Error {
    let [(left, left_shape), (right, right_shape)] =
        [left, right].map(|expr| (describe(expr), shape_of(expr)));
    mistake(format!(
        "{left} has the shape {left_shape} and {right} {right_shape}, and entries are paired"
    ))
    .help("say which entries meet: `vadd(A, x, [[i, j], [j]])`, and likewise vsub, vmul, vdiv")
}
