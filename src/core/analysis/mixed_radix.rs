//! Indices of several iterators that count like digits: `4*g + f` with `f` in 0..4.
//!
//! Sorted by their coefficients, the least first, iterators count like digits when each
//! coefficient exceeds all that the ones before it can add up to. Different values then give
//! different indices. If no coefficient exceeds that by more than 1, indices have no holes.

use super::iterator_range::IteratorRange;
use crate::ir::Name;

/// Whether different values of the iterators of `terms` give different sums of them.
pub fn is_injective(terms: &[(Name, i64)], ranges: &[IteratorRange]) -> bool {
    let mut reach = Some(0u64);
    sorted(terms, ranges).into_iter().all(|(c, extent)| {
        let exceeds = extent <= 1 || reach.is_some_and(|r| c > r);
        reach = extended(reach, c, extent);
        exceeds
    })
}

/// The number of values that the sums of `terms` take, if these have no holes.
pub fn dense_extent(terms: &[(Name, i64)], ranges: &[IteratorRange]) -> Option<u64> {
    let has_holes = |name: &Name| ranges.iter().any(|r| r.name == *name && !r.is_whole());
    if terms.iter().any(|(name, _)| has_holes(name)) {
        return None;
    }
    let mut reach = Some(0u64);
    for (c, extent) in sorted(terms, ranges) {
        if extent > 1 && reach.is_some_and(|r| c > r + 1) {
            return None;
        }
        reach = extended(reach, c, extent);
    }
    reach?.checked_add(1)
}

/// The absolute coefficients, the least first, with the extents of their iterators.
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

/// The most that digits add up to with one more; `None` where that is beyond counting.
fn extended(reach: Option<u64>, c: u64, extent: u64) -> Option<u64> {
    reach?.checked_add(c.checked_mul(extent.saturating_sub(1))?)
}
