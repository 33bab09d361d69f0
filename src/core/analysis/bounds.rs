//! Bounding boxes: the least and the greatest value of each loop iterator, and extents of ranges.
//!
//! Searches through bounds have a budget. If it is exhausted, the answer is the one that claims
//! nothing.

use crate::ir::{Affine, Loop, Name, Nest, Range};
use std::collections::HashSet;

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

    pub fn get(&self, name: &Name) -> Option<(i64, i64)> {
        let mut all = self.0.iter();
        all.find(|(known, _)| known == name)
            .map(|(_, range)| *range)
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

    /// Drops the bounds of an inner range that another bound always implies. Iterators with a
    /// single value are replaced by it.
    pub fn needed(&self, range: &Range) -> Range {
        Range {
            lower: self.tightest(&range.lower, |a, b| a >= b),
            upper: self.tightest(&range.upper, |a, b| a <= b),
            step: range.step,
        }
    }

    fn tightest(&self, bounds: &[Affine], tighter: fn(i64, i64) -> bool) -> Vec<Affine> {
        let at_one_place = |name: &Name| {
            let (low, high) = self.get(name)?;
            (low == high).then(|| Affine::constant(low))
        };
        let numbers = bounds.iter().map(|bound| bound.substitute(&at_one_place));
        let mut left: Vec<Affine> = numbers.collect();
        let mut at = 0;
        while at < left.len() {
            let one = &left[at];
            let idle = left.iter().enumerate().any(|(k, other)| {
                k != at
                    && self
                        .interval(&other.minus(one))
                        .is_some_and(|(low, high)| tighter(low, 0) && tighter(high, 0))
            });
            if idle {
                left.remove(at);
            } else {
                at += 1
            }
        }
        left
    }
}

/// The lower bound of a range and its extent, at least 0, if the extent does not depend on outer
/// iterators.
pub fn extent(range: &Range) -> Option<(Affine, i64)> {
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

/// The budget of bounds for a proof that an index is nonnegative.
const MAX_TRIED: usize = 2048;

/// Whether an index is provably nonnegative in all iterations of a chain of loops, outermost first.
/// The search replaces iterators by bounds, innermost first, so that it can compare an iterator
/// within a block with the end of the block. `false` is not a disproof.
pub fn is_nonnegative(index: &Affine, chain: &[&Loop]) -> bool {
    let mut search = Replacing {
        left: MAX_TRIED,
        failed: HashSet::new(),
    };
    search.shows(index, chain)
}

/// A search through the bounds that replace iterators. Loops with several bounds each have very
/// many combinations. Most combinations lead to the same few indices.
struct Replacing {
    left: usize,
    /// The failed indices, each with the number of loops around.
    failed: HashSet<(usize, Affine)>,
}

impl Replacing {
    fn shows(&mut self, index: &Affine, chain: &[&Loop]) -> bool {
        if let Some(value) = index.as_constant() {
            return value >= 0;
        }
        let inner = chain.iter().rposition(|l| index.mentions(&l.name));
        let Some((l, around)) = inner.and_then(|k| chain[..=k].split_last()) else {
            return false;
        };
        let (bounds, shift) = if index.coefficient(&l.name) > 0 {
            (&l.range.lower, 0)
        } else {
            (&l.range.upper, -1)
        };
        let is_choice = bounds.len() > 1;
        if is_choice && self.failed.contains(&(around.len(), index.clone())) {
            return false;
        }
        for bound in bounds {
            let Some(left) = self.left.checked_sub(1) else {
                return false;
            };
            self.left = left;
            let last = bound.plus_constant(shift);
            let at = index.substitute(&|name| (*name == l.name).then(|| last.clone()));
            if at.is_in_limits() && self.shows(&at, around) {
                return true;
            }
        }
        if is_choice {
            self.failed.insert((around.len(), index.clone()));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse_nest;

    /// Each loop is bounded by the two around it. The number of combinations of bounds is a
    /// Fibonacci number of the depth.
    #[test]
    fn many_bounds_take_no_longer_than_few() {
        let depth = 100;
        let mut text = "f64 A[100]\nfor a0 in 0..100\n  for a1 in 0..100\n".to_owned();
        for k in 2..depth {
            let (one, two) = (k - 1, k - 2);
            let indent = "  ".repeat(k);
            text += &format!("{indent}for a{k} in max(a{one} - 1, a{two} - 2)..100\n");
        }
        text += &format!("{}A[a0] += 1\n", "  ".repeat(depth));
        let nest = parse_nest(&text).unwrap();
        let loops = nest.loops();
        let chain: Vec<&Loop> = loops.iter().map(|(_, l)| *l).collect();
        assert_eq!(chain.len(), depth);
        let last = Affine::iterator(chain[depth - 1].name.clone());
        // The least value of the last loop follows from the first one.
        assert!(is_nonnegative(&last.plus_constant(depth as i64), &chain));
        assert!(!is_nonnegative(&last.plus_constant(-1000), &chain));
    }
}
