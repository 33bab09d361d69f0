//! Entries at the same position of operands that carry no iterators, as NumPy broadcasts them.

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
        let dims = broadcast(&tensors, dimensions)?;
        let formals = formals(dimensions);
        let list = |k: usize| {
            let expr = self.operands[k].expr().filter(|e| rank(e) > 0)?;
            Some(entry_of(expr, &formals, &dims))
        };
        let result = self.with_lists(&list, combine)?;
        check_entries(&result, &formals, &dims, &tensors)?;
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

/// The extents of entries: from the last dimension on, those of operands are equal or 1.
fn broadcast(tensors: &[&Expr], rank: usize) -> Result<Vec<Affine>, Error> {
    let one = Affine::constant(1);
    let mut dims = vec![one.clone(); rank];
    let mut set: Vec<Option<&Expr>> = vec![None; rank];
    for &tensor in tensors {
        let own = shape_of(tensor).dims();
        let skipped = rank - own.len();
        for (d, extent) in own.into_iter().enumerate() {
            let d = skipped + d;
            match set[d] {
                _ if extent == one => {}
                Some(other) if dims[d] != extent => return Err(differ(other, tensor)),
                _ => {
                    dims[d] = extent;
                    set[d] = Some(tensor);
                }
            }
        }
    }
    Ok(dims)
}

/// The index of an operand at the entry `formals`. An extent of 1 has the same element for all.
fn entry_of(expr: &Expr, formals: &[Name], dims: &[Affine]) -> Vec<Affine> {
    let own = shape_of(expr).dims();
    let skipped = formals.len() - own.len();
    let one = Affine::constant(1);
    let index = own.iter().zip(&formals[skipped..]).zip(&dims[skipped..]);
    let index = index.map(
        |((own, formal), extent)| match *own == one && *extent != one {
            true => Affine::constant(0),
            false => Affine::iterator(formal.clone()),
        },
    );
    index.collect()
}

/// Checks that the formals of `result` run over all entries.
fn check_entries(
    result: &Expr,
    formals: &[Name],
    dims: &[Affine],
    tensors: &[&Expr],
) -> Result<(), Error> {
    let ranges = shape::ranges_so_far(result).unwrap_or_default();
    let extents = formals.iter().map(|formal| {
        let range = ranges.iter().find(|r| r.name == *formal);
        range.map_or(Affine::constant(1), shape::IteratorRange::dim)
    });
    match tensors {
        [first, .., last] if !extents.eq(dims.iter().cloned()) => Err(differ(first, last)),
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
    let lists = match rows(&left_shape, &right_shape).or_else(|| {
        let [right, left] = rows(&right_shape, &left_shape)?;
        Some([left, right])
    }) {
        Some([of_left, of_right]) => format!("vadd({left}, {right}, [{of_left}, {of_right}])"),
        None => "vadd(A, x, [[i, j], [j]])".to_owned(),
    };
    mistake(format!(
        "{left} has the shape {left_shape} and {right} {right_shape}: from the last dimension on, \
         extents are equal or 1"
    ))
    .help(format!(
        "say which entries meet: `{lists}`, and likewise vsub, vmul, vdiv; `sum`, `max` and the \
         like keep a dimension with `#{{keep: true}}`"
    ))
}

/// Lists of iterators for a tensor and another one that has its first dimensions.
fn rows(larger: &Shape, smaller: &Shape) -> Option<[String; 2]> {
    const LETTERS: [&str; 6] = ["i", "j", "k", "l", "m", "n"];
    let (larger, smaller) = (larger.dims(), smaller.dims());
    if smaller.len() >= larger.len() || larger[..smaller.len()] != smaller {
        return None;
    }
    let list = |rank: usize| Some(format!("[{}]", LETTERS.get(..rank)?.join(", ")));
    Some([list(larger.len())?, list(smaller.len())?])
}
