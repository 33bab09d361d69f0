//! Affine indices, ranges and boxes as constraints on integer points.

use crate::ir::{Affine, Name, Range, Tensor};
use crate::poly::{Constraint, Linear, Piece, Relation};

pub(super) fn linear(a: &Affine, variable: &dyn Fn(&Name) -> Option<String>) -> Linear {
    let terms = a.terms().iter();
    let named = |name: &Name| variable(name).unwrap_or_else(|| name.to_string());
    Linear::new(terms.map(|(name, c)| (*c, named(name))), a.offset())
}

/// The bounds of a range, for its iterator `x`.
pub(super) fn bounded(
    piece: Piece,
    range: &Range,
    x: &str,
    variable: &dyn Fn(&Name) -> Option<String>,
) -> Piece {
    let lower = range.lower.iter().fold(piece, |piece, bound| {
        piece.constrain(linear(bound, variable), Relation::LessOrEqual, x)
    });
    let upper = range.upper.iter().fold(lower, |piece, bound| {
        piece.constrain(x, Relation::Less, linear(bound, variable))
    });
    if range.step == 1 {
        return upper;
    }
    // x = lower + step*k, counted from the greatest lower bound.
    let count = format!("{x} count");
    let lower: Vec<Linear> = range.lower.iter().map(|b| linear(b, variable)).collect();
    let starts = lower.iter().enumerate().map(|(k, first)| {
        let others = lower.iter().enumerate().filter(|(other, _)| *other != k);
        let is_greatest = others.map(|(other, bound)| {
            if other < k {
                (bound.clone(), Relation::Less, first.clone())
            } else {
                (bound.clone(), Relation::LessOrEqual, first.clone())
            }
        });
        let steps = Linear::new([(1, x), (-range.step, count.as_str())], 0);
        let is_start = (steps, Relation::Equal, first.clone());
        is_greatest.chain([is_start]).collect()
    });
    let mut starts: Vec<Vec<Constraint>> = starts.collect();
    let counted = upper.exists(&count);
    match starts.pop() {
        Some(only) if starts.is_empty() => {
            only.into_iter().fold(counted, |piece, (a, relation, b)| {
                piece.constrain(a, relation, b)
            })
        }
        last => counted.one_of(starts.into_iter().chain(last).collect()),
    }
}

/// Keeps the variables `names` inside the dimensions of a tensor.
pub(super) fn inside(piece: Piece, tensor: &Tensor, names: &[String]) -> Piece {
    let dims = tensor.shape().dims();
    names.iter().zip(&dims).fold(piece, |piece, (e, extent)| {
        piece
            .constrain(0, Relation::LessOrEqual, e.as_str())
            .constrain(e.as_str(), Relation::Less, linear(extent, &|_| None))
    })
}

/// The box of a fill, for the elements `names`.
pub(super) fn within(
    piece: Piece,
    region: &[(Affine, Affine)],
    names: &[String],
    variable: &dyn Fn(&Name) -> Option<String>,
) -> Piece {
    region
        .iter()
        .zip(names)
        .fold(piece, |piece, ((low, extent), e)| {
            let end = low.plus(extent);
            piece
                .constrain(linear(low, variable), Relation::LessOrEqual, e.as_str())
                .constrain(e.as_str(), Relation::Less, linear(&end, variable))
        })
}
