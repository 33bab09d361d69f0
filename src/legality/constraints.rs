//! Affine indices, ranges and boxes as constraints on integer points.

use crate::ir::{Affine, Loop, Name};
use crate::poly::{Linear, Piece, Relation};

pub(super) fn linear(a: &Affine, variable: &dyn Fn(&Name) -> Option<String>) -> Linear {
    let terms = a.terms().iter();
    let named = |name: &Name| variable(name).unwrap_or_else(|| name.to_string());
    Linear::new(terms.map(|(name, c)| (*c, named(name))), a.offset())
}

/// The bounds of a loop, for its iterator `x`.
pub(super) fn bounded(
    piece: Piece,
    l: &Loop,
    x: &str,
    variable: &dyn Fn(&Name) -> Option<String>,
) -> Piece {
    let lower = l.range.lower.iter().fold(piece, |piece, bound| {
        piece.constrain(linear(bound, variable), Relation::LessOrEqual, x)
    });
    let upper = l.range.upper.iter().fold(lower, |piece, bound| {
        piece.constrain(x, Relation::Less, linear(bound, variable))
    });
    match (l.range.step, l.range.lower.as_slice()) {
        (1, _) => upper,
        (step, lower) => {
            // x = lower + step*k; a step with several lower bounds is not decided: see `check`.
            let (count, first) = (format!("{x} count"), lower.first());
            let first = first.map_or_else(|| Linear::from(0), |a| linear(a, variable));
            let start = format!("{x} start");
            upper
                .exists(&count)
                .exists(&start)
                .constrain(start.as_str(), Relation::Equal, first)
                .constrain(
                    x,
                    Relation::Equal,
                    Linear::new([(1, start.as_str()), (step, count.as_str())], 0),
                )
        }
    }
}

/// The box of a fill, for the elements `names`.
pub(super) fn within(
    piece: Piece,
    region: &[(Affine, u64)],
    names: &[String],
    variable: &dyn Fn(&Name) -> Option<String>,
) -> Piece {
    region
        .iter()
        .zip(names)
        .fold(piece, |piece, ((low, extent), e)| {
            let end = low.plus_constant(i64::try_from(*extent).unwrap_or(i64::MAX));
            piece
                .constrain(linear(low, variable), Relation::LessOrEqual, e.as_str())
                .constrain(e.as_str(), Relation::Less, linear(&end, variable))
        })
}
