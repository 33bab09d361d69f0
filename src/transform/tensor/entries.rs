//! Entries at the same position of operands that carry no iterators.

use super::infer::abstraction;
use super::operand::{Operand, Operands, carried, describe, positional, rank};
use super::unfit::Unfit;
use crate::analysis::shape;
use crate::ir::{Affine, Expr, Index, Name, Node, Shape};
use crate::{Error, mistake};

impl<const N: usize> Operands<'_, N> {
    /// Combines the operands by `combine`. Without lists, operands without iterators are combined
    /// entry by entry.
    pub fn combined_or_by_entry(
        &self,
        combine: impl FnOnce([Expr; N]) -> Result<Expr, Unfit>,
    ) -> Result<Expr, Error> {
        let tensors: Vec<&Expr> = self.operands.iter().filter_map(Operand::expr).collect();
        let dimensions = tensors.iter().map(|e| rank(e)).max().unwrap_or(0);
        let has_iterators = tensors.iter().any(|e| !carried(e).is_empty());
        if dimensions == 0 || has_iterators || !self.lists.is_empty() {
            return self.combined(combine);
        }
        let tensors: Vec<&Expr> = tensors.into_iter().filter(|e| rank(e) > 0).collect();
        check_shapes(&tensors)?;
        let formals = formals(dimensions);
        let at = Some(iterators(&formals));
        let list = |k: usize| {
            at.clone()
                .filter(|_| self.operands[k].expr().is_some_and(|e| rank(e) > 0))
        };
        let result = self.with_lists(&list, combine)?;
        check_entries(&result, &formals, &tensors)?;
        closed(formals, result)
    }
}

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
fn formals(count: usize) -> Vec<Name> {
    (1..=count).map(Name::generated).collect()
}

fn iterators(names: &[Name]) -> Vec<Affine> {
    names.iter().cloned().map(Affine::iterator).collect()
}

fn closed(formals: Vec<Name>, entry: Expr) -> Result<Expr, Error> {
    if formals.is_empty() {
        Ok(entry)
    } else {
        Ok(abstraction(formals, entry)?)
    }
}

/// Checks that operands with dimensions have one shape.
fn check_shapes(tensors: &[&Expr]) -> Result<(), Error> {
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
fn check_entries(result: &Expr, formals: &[Name], tensors: &[&Expr]) -> Result<(), Error> {
    let ranges = shape::ranges_so_far(result).unwrap_or_default();
    let extents = formals.iter().map(|formal| {
        let range = ranges.iter().find(|r| r.name == *formal);
        range.map_or(Affine::constant(1), shape::IteratorRange::dim)
    });
    match tensors {
        [first, .., last] if !extents.eq(shape_of(first).dims()) => Err(differ(first, last)),
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
