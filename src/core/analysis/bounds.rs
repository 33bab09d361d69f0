//! Bounding boxes: the least and the greatest value of each loop iterator, and extents of ranges.

use super::facts::{Equal, binding};
use crate::ir::{Affine, Loop, Name, Nest, Range, Size};

/// Beyond all indices.
const BEYOND: i64 = 1 << 44;

/// Inclusive bounds of loop iterators.
#[derive(Clone, Debug, Default)]
pub struct Bounds(
    /// A short list, which is copied often.
    Vec<(Name, (i64, i64))>,
);

impl Bounds {
    /// The bounds of a chain of loops, outermost first. Bounds that depend on outer iterators are
    /// widened to a constant interval. For a loop that never runs, the upper bound is below the
    /// lower one.
    pub fn of_chain<'a>(chain: impl IntoIterator<Item = &'a Loop>) -> Bounds {
        let mut bounds = Bounds::default();
        for l in chain {
            bounds.enter(l);
        }
        bounds
    }

    /// The bounds of the loops around a place in `nest`. `chain` are the loops of the nest,
    /// outermost first. The loops around the nest itself come before them.
    pub fn around<'a>(nest: &'a Nest, chain: impl IntoIterator<Item = &'a Loop>) -> Bounds {
        Bounds::of_chain(nest.context().iter().chain(chain))
    }

    /// As [`Bounds::around`], for sizes without a greatest value. Ends that follow from one are too
    /// large for an index ([`Affine::is_in_limits`]).
    pub fn open<'a>(nest: &'a Nest, chain: impl IntoIterator<Item = &'a Loop>) -> Bounds {
        Bounds::with_sizes(nest, chain, |size| match size.of {
            Some(_) => (-BEYOND, BEYOND),
            None => (size.least, BEYOND),
        })
    }

    /// As [`Bounds::around`], at the likely sizes. These bounds decide no meaning.
    pub fn likely<'a>(nest: &'a Nest, chain: impl IntoIterator<Item = &'a Loop>) -> Bounds {
        Bounds::with_sizes(nest, chain, |size| (size.likely, size.likely))
    }

    fn with_sizes<'a>(
        nest: &'a Nest,
        chain: impl IntoIterator<Item = &'a Loop>,
        values: impl Fn(&Size) -> (i64, i64),
    ) -> Bounds {
        let mut bounds = Bounds::default();
        for l in nest.context() {
            match l.name.size() {
                Some(size) => bounds.0.push((l.name.clone(), values(size))),
                None => bounds.enter(l),
            }
        }
        chain.into_iter().for_each(|l| bounds.enter(l));
        bounds
    }

    /// Adds the next inner loop.
    pub fn enter(&mut self, l: &Loop) {
        let low = l
            .range
            .lower
            .iter()
            .filter_map(|b| Some(self.interval(b)?.0));
        let high = l
            .range
            .upper
            .iter()
            .filter_map(|b| Some(self.interval(b)?.1));
        if let (Some(low), Some(high)) = (low.max(), high.min()) {
            let range = (low, high - 1);
            match self.0.iter_mut().find(|(name, _)| *name == l.name) {
                Some((_, known)) => *known = range,
                None => self.0.push((l.name.clone(), range)),
            }
        }
    }

    /// The bounds with one iterator narrowed to an interval.
    pub fn within(&self, name: &Name, (low, high): (i64, i64)) -> Bounds {
        let mut bounds = self.clone();
        if let Some((_, range)) = bounds.0.iter_mut().find(|(known, _)| known == name) {
            *range = (range.0.max(low), range.1.min(high));
        }
        bounds
    }

    /// Whether sizes are among the iterators.
    pub fn has_sizes(&self) -> bool {
        self.0.iter().any(|(name, _)| name.size().is_some())
    }

    pub fn get(&self, name: &Name) -> Option<(i64, i64)> {
        let mut all = self.0.iter();
        match (all.find(|(known, _)| known == name), name.size()) {
            (Some((_, range)), _) => Some(*range),
            (None, Some(size)) => Some((size.least, size.most)),
            (None, None) => None,
        }
    }

    /// The [`extent`] of a range, also if it is constant only within these bounds.
    pub fn extent(&self, range: &Range) -> Option<(Affine, i64)> {
        extent(range).or_else(|| {
            let ([lower], [upper]) = (&range.lower[..], &range.upper[..]) else {
                return None;
            };
            let (least, most) = self.interval(&upper.minus(lower))?;
            (least == most).then(|| (lower.clone(), most.max(0)))
        })
    }

    /// The least and the greatest value of an index. `None` if it uses an unknown iterator.
    pub fn interval(&self, index: &Affine) -> Option<(i64, i64)> {
        index.interval(&|n| self.get(n))
    }

    /// Whether `a` is at least `b` in the whole box. `false` is not a disproof.
    pub(super) fn is_at_least(&self, a: &Affine, b: &Affine) -> bool {
        let apart = self.interval(&a.minus(b));
        apart.is_some_and(|(least, _)| least >= 0)
    }

    /// Drops the bounds of an inner range that another bound always implies. Iterators with a
    /// single value are replaced by it.
    pub fn needed(&self, range: &Range) -> Range {
        let at_one_place = |name: &Name| {
            let (low, high) = self.get(name)?;
            (low == high).then(|| Affine::constant(low))
        };
        let numbers = |bounds: &[Affine]| -> Vec<Affine> {
            let bounds = bounds.iter();
            bounds.map(|b| b.substitute(&at_one_place)).collect()
        };
        self.binding(&Range {
            lower: numbers(&range.lower),
            upper: numbers(&range.upper),
            ..range.clone()
        })
    }

    /// The bounds of a range that no other one implies in the box.
    pub(super) fn binding(&self, range: &Range) -> Range {
        Range {
            lower: binding(&range.lower, Equal::First, |a, b| self.is_at_least(a, b)),
            upper: binding(&range.upper, Equal::First, |a, b| self.is_at_least(b, a)),
            ..range.clone()
        }
    }
}

/// The lower bound of a range and its extent, at least 0, if the extent does not depend on outer
/// iterators.
pub fn extent(range: &Range) -> Option<(Affine, i64)> {
    if range.within.is_some() {
        return None;
    }
    let greatest = |bounds: &[Affine], sign: i64| -> Option<Affine> {
        let (first, rest) = bounds.split_first()?;
        rest.iter().try_fold(first.clone(), |best, bound| {
            let apart = bound.minus(&best).as_constant()?;
            Some(if apart.signum() == sign {
                bound.clone()
            } else {
                best
            })
        })
    };
    let (lower, upper) = (greatest(&range.lower, 1)?, greatest(&range.upper, -1)?);
    let extent = upper.minus(&lower).as_constant()?;
    Some((lower, extent.max(0)))
}
