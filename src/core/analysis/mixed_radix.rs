//! Indices of several iterators in mixed radix: `4*g + f` with `f` in 0..4.
//!
//! Take the iterators in ascending order of their coefficients. They are digits if each coefficient
//! exceeds the greatest sum of the ones before it. Then different values give different indices. If
//! no coefficient exceeds that sum by more than 1, the indices have no holes.
//!
//! `build` requires this of targets: iterations assign different elements, and initialized boxes
//! are dense.

use super::iterator_range::IteratorRange;
use crate::ir::{Affine, Name};

/// Whether different values of the iterators of `terms` give different sums.
pub fn is_injective(terms: &[(Name, i64)], ranges: &[IteratorRange]) -> bool {
    let mut reach = Some(0u64);
    sorted(terms, ranges).into_iter().all(|(c, extent)| {
        let exceeds = extent <= 1 || reach.is_some_and(|r| c > r);
        reach = extended(reach, c, extent);
        exceeds
    })
}

/// The number of different sums of `terms`, if they have no holes.
pub fn dense_extent(terms: &[(Name, i64)], ranges: &[IteratorRange]) -> Option<u64> {
    let has_holes = |name: &Name| ranges.iter().any(|r| r.name == *name && !r.is_whole());
    if terms.iter().any(|(name, _)| has_holes(name)) {
        return None;
    }
    let digits = sorted(terms, ranges);
    if digits.iter().any(|(_, extent)| *extent == 0) {
        return Some(0);
    }
    let mut reach = Some(0u64);
    for (c, extent) in digits {
        if extent > 1 && reach.is_some_and(|r| c > r + 1) {
            return None;
        }
        reach = extended(reach, c, extent);
    }
    reach?.checked_add(1)
}

/// Whether an index evidently takes all values from 0 to before `extent`, which may have sizes.
pub fn covers(index: &Affine, extent: &Affine, ranges: &[IteratorRange]) -> bool {
    let Some(number) = extent.as_constant() else {
        let name = index.as_iterator();
        let range = ranges.iter().find(|r| Some(&r.name) == name);
        let given = range.and_then(|r| r.given.as_ref());
        return given.is_some_and(|given| {
            let ends = (&given.lower[..], &given.upper[..]);
            given.step == 1 && ends == (&[Affine::constant(0)][..], std::slice::from_ref(extent))
        });
    };
    dense_extent(index.terms(), ranges) == Some(number.unsigned_abs())
}

/// The absolute coefficients in ascending order, with the extents of their iterators.
fn sorted(terms: &[(Name, i64)], ranges: &[IteratorRange]) -> Vec<(u64, u64)> {
    let extent = |name: &Name| {
        let range = ranges.iter().find(|r| r.name == *name);
        range.map_or(u64::MAX, IteratorRange::extent)
    };
    let mut digits: Vec<(u64, u64)> = terms
        .iter()
        .map(|(name, c)| (c.unsigned_abs(), extent(name)))
        .collect();
    digits.sort_unstable();
    digits
}

/// The greatest sum with one more digit. `None` on overflow.
fn extended(reach: Option<u64>, c: u64, extent: u64) -> Option<u64> {
    reach?.checked_add(c.checked_mul(extent.saturating_sub(1))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_iterations_there_are_no_sums() {
        let name = Name::new("i").unwrap();
        let range = |high| IteratorRange {
            name: name.clone(),
            low: 1,
            high,
            alone: None,
            given: None,
        };
        let terms = [(name.clone(), 1)];
        assert_eq!(dense_extent(&terms, &[range(1)]), Some(0));
        assert_eq!(dense_extent(&terms, &[range(3)]), Some(2));
        assert_eq!(dense_extent(&[], &[]), Some(1));
    }
}
