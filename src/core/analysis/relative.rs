//! Indices in loops, relative to outer iterators.
//!
//! An inner iterator is replaced by its lower bound plus a bounded rest. So an index becomes affine
//! in outer iterators plus an interval. For example, `i` in a block `4*o..min(4*o + 4, 10)` is
//! `4*o + [0, 3]`. Intervals may be too wide, never too narrow.

use super::bounds::Bounds;
use crate::ir::{Affine, Loop, Name};

/// An index: affine in outer iterators, plus an interval.
#[derive(Clone, Debug)]
pub struct Relative {
    pub base: Affine,
    /// The least value added to it.
    pub low: i64,
    /// The greatest value added to it.
    pub high: i64,
}

/// An iterator to replace.
#[derive(Debug)]
pub struct Inner {
    name: Name,
    /// A lower bound, and the greatest distance from it. `None` if unknown.
    form: Option<(Affine, i64)>,
    /// The least and the greatest distance from the base of that lower bound. It respects all
    /// bounds, so that a block within a block stays within the outer one.
    limits: (i64, i64),
}

impl Inner {
    /// The iterator of `l`, which is inside the loops `inner`. `around` has the bounds of all loops
    /// around `l`.
    pub fn new(l: &Loop, inner: &[Inner], around: &Bounds) -> Inner {
        let (name, form) = (l.name.clone(), offset_form(l, around));
        let (mut floor, mut cap) = (i64::MIN, i64::MAX);
        if let Some((lower, _)) = &form {
            let base = relative(lower, inner).base;
            let apart = |bound: &Affine| {
                let bound = relative(bound, inner);
                Some((bound.base.minus(&base).as_constant()?, bound))
            };
            for (apart, lower) in l.range.lower.iter().filter_map(apart) {
                floor = floor.max(apart.saturating_add(lower.low));
            }
            for (apart, upper) in l.range.upper.iter().filter_map(apart) {
                cap = cap.min(apart.saturating_add(upper.high).saturating_sub(1));
            }
        }
        let limits = (floor, cap);
        Inner { name, form, limits }
    }
}

/// A lower bound of the loop's iterator, and the greatest distance from it.
pub fn offset_form(l: &Loop, around: &Bounds) -> Option<(Affine, i64)> {
    // The iterator is at least each of its lower bounds. The bound with the least rest is the
    // tightest.
    let forms = l.range.lower.iter().filter_map(|lower| {
        let extents = l.range.upper.iter().map(|u| u.minus(lower));
        let extent = extents.filter_map(|e| Some(around.interval(&e)?.1)).min()?;
        Some((lower, (extent - 1).max(0)))
    });
    let (lower, rest) = forms.min_by_key(|(_, rest)| *rest)?;
    // The values of a loop with a step are known only if it has a single lower bound.
    let beyond = match l.range.lower.len() {
        1 => rest % l.range.step,
        _ => 0,
    };
    Some((lower.clone(), rest - beyond))
}

/// Replaces inner iterators, the innermost first.
pub fn relative(index: &Affine, inner: &[Inner]) -> Relative {
    let (mut base, mut low, mut high) = (index.clone(), 0i64, 0i64);
    for Inner { name, form, .. } in inner.iter().rev() {
        let c = base.coefficient(name);
        if c == 0 {
            continue;
        }
        let (lower, rest) = match form {
            Some((lower, rest)) => (lower.clone(), *rest),
            None => (Affine::constant(0), i64::MAX / 4),
        };
        base = base.substitute(&|n| (n == name).then(|| lower.clone()));
        let reach = c.saturating_mul(rest);
        low = low.saturating_add(reach.min(0));
        high = high.saturating_add(reach.max(0));
        if form.is_none() {
            low = low.saturating_sub(i64::MAX / 4);
        }
    }
    let mut occurring = inner.iter().filter(|i| index.mentions(&i.name));
    if let (Some(Inner { name, limits, .. }), None) = (occurring.next(), occurring.next()) {
        let c = index.coefficient(name);
        let (floor, cap) = (c.saturating_mul(limits.0), c.saturating_mul(limits.1));
        low = low.max(floor.min(cap));
        high = high.min(floor.max(cap));
    }
    Relative { base, low, high }
}
