//! Whether each element is set before it is read, in the same iteration of the loops around.
//!
//! A use is defined if a fill or an assignment further up in the text covers it. The iterations of
//! that statement must cover a dense box that contains everything the use touches. Several statements
//! may cover it together, if their boxes have constant bounds: loops were peeled. So "yes" is a proof,
//! and "no" can be conservative.

use super::bounds::Bounds;
use super::facts::is_nonnegative;
use super::footprint::{AccessKind, Ends, Use, least, touched};
use crate::ir::{Affine, Loop, Name, Nest};
use std::collections::HashMap;
use std::sync::Arc;

/// The first of `uses` that may read an element before it is set. Reads and writes must be in the
/// same iteration of the `depth` outermost loops, which all uses share.
pub fn first_undefined<'u, 'a>(
    nest: &Nest,
    uses: &'u [Use<'a>],
    depth: usize,
) -> Option<&'u Use<'a>> {
    let mut before: Vec<&Use> = Vec::new();
    uses.iter().find(|used| match used.access {
        AccessKind::Set | AccessKind::Fill => {
            before.push(used);
            false
        }
        // Search backwards: the statement that sets a value is likely close.
        AccessKind::Read | AccessKind::Update => {
            let mut near = before.iter().rev();
            !near.any(|write| sets(nest, write, used, depth))
                && !set_together(nest, &before, used, depth)
        }
    })
}

/// The most boxes that may cover one.
const MAX_BOXES: usize = 16;

/// Whether statements in other trees set together what a use touches, in the same iteration of the
/// `depth` outermost loops.
fn set_together(nest: &Nest, before: &[&Use], used: &Use, depth: usize) -> bool {
    let is_apart = |write: &&&Use| {
        let tree = |u: &Use| u.position.get(depth).copied();
        tree(write) < tree(used) && write.position[..depth] == used.position[..depth]
    };
    let boxes = before.iter().filter(is_apart).filter_map(|write| {
        let set = set_by(nest, write, depth)?;
        // All of its bounds hold.
        set.iter().map(|ends| ends.constants(false)).collect()
    });
    let boxes: Vec<Vec<(i64, i64)>> = boxes.take(MAX_BOXES).collect();
    let touched = touched(nest, used, depth);
    let touched: Option<Vec<(i64, i64)>> =
        touched.iter().map(|ends| ends.constants(true)).collect();
    touched.is_some_and(|touched| are_in(&touched, &boxes))
}

impl Ends {
    /// The least and the end of the indices, if they are constants. `any` takes the constants among
    /// the bounds; otherwise all have to be.
    fn constants(&self, any: bool) -> Option<(i64, i64)> {
        let all = |ends: &[Affine]| -> Option<Vec<i64>> {
            let known: Vec<i64> = ends.iter().filter_map(Affine::as_constant).collect();
            (any || known.len() == ends.len()).then_some(known)
        };
        let lower = all(&self.lower)?.into_iter().max()?;
        let upper = all(&self.upper)?.into_iter().min()?;
        Some((lower, upper))
    }
}

/// Whether other boxes cover a box. Each dimension is a range of indices.
fn are_in(part: &[(i64, i64)], boxes: &[Vec<(i64, i64)>]) -> bool {
    if part.iter().any(|(low, end)| low >= end) {
        return true;
    }
    let Some((first, others)) = boxes.split_first() else {
        return false;
    };
    let mut inside = part.to_vec();
    for (d, (low, end)) in first.iter().enumerate() {
        let (from, to) = inside[d];
        for outside in [(from, to.min(*low)), (from.max(*end), to)] {
            inside[d] = outside;
            if !are_in(&inside, others) {
                return false;
            }
        }
        inside[d] = (from.max(*low), to.min(*end));
    }
    true
}

/// The first of `uses` that sets all elements that they touch, in each iteration of the `depth`
/// outermost loops.
pub fn sets_all<'u, 'a>(nest: &Nest, uses: &'u [Use<'a>], depth: usize) -> Option<&'u Use<'a>> {
    uses.iter().find(|write| {
        let Some(set) = set_by(nest, write, depth) else {
            return false;
        };
        uses.iter().all(|used| covers(nest, &set, used, depth))
    })
}

/// Whether `write` sets everything that `read` touches, and comes before it.
fn sets(nest: &Nest, write: &Use, read: &Use, depth: usize) -> bool {
    let pairs = write.position.iter().zip(&read.position);
    let common = pairs.take_while(|(a, b)| a == b).count();
    // A statement writes after it reads.
    if common >= write.position.len() || common < depth {
        return false;
    }
    let set = set_by(nest, write, common);
    set.is_some_and(|set| covers(nest, &set, read, common))
}

/// Whether the elements that `used` touches in one iteration of the `depth` outermost loops lie in
/// `set`.
fn covers(nest: &Nest, set: &[Ends], used: &Use, depth: usize) -> bool {
    let outer: Vec<&Loop> = used.loops[..depth].iter().map(|l| &***l).collect();
    let around = Bounds::around(nest, outer.iter().copied());
    let chain: Vec<&Loop> = nest.context().iter().chain(outer).collect();
    // Derived sizes are close to each other, which boxes do not know.
    let is_at_least =
        |a: &Affine, b: &Affine| around.is_at_least(a, b) || is_nonnegative(&a.minus(b), &chain);
    let touched = touched(nest, used, depth);
    set.iter().zip(&touched).all(|(set, used)| {
        let mut lower = set.lower.iter();
        let mut upper = set.upper.iter();
        lower.all(|s| used.lower.iter().any(|u| is_at_least(u, s)))
            && upper.all(|s| used.upper.iter().any(|u| is_at_least(s, u)))
    })
}

/// The dense box that a use sets in one iteration of the `depth` outermost loops. It holds for all
/// values of their iterators. `None` if there may be holes.
fn set_by(nest: &Nest, write: &Use, depth: usize) -> Option<Vec<Ends>> {
    if !matches!(write.access, AccessKind::Set | AccessKind::Fill) {
        return None;
    }
    let inner = &write.loops[depth..];
    // Entries that are read may leave holes, or nothing at all.
    let moved = |l: &Loop| write.region.iter().any(|(low, _)| low.mentions(&l.name));
    let mut read = inner.iter().filter(|l| l.range.within.is_some());
    if read.any(|l| l.range.single().is_none() || moved(l)) {
        return None;
    }
    let bounds = Bounds::around(nest, write.loops.iter().map(|l| &***l));
    let mut moves: HashMap<&Name, usize> = HashMap::new();
    for (dimension, (low, extent)) in write.region.iter().enumerate() {
        let (mut low, mut extent) = (low.clone(), extent.clone());
        let mut left: Vec<&Loop> = inner.iter().map(|l| &***l).collect();
        // The shortest moves first: longer ones then meet what these have filled.
        loop {
            let Some((k, c)) = shortest_move(&left, &low) else {
                if left.iter().any(|l| low.mentions(&l.name)) {
                    return None;
                }
                break;
            };
            let l = left.remove(k);
            // A loop that moves two dimensions follows a diagonal.
            let again = moves.insert(&l.name, dimension).is_some();
            let by = c.checked_abs()?;
            let is_dense = by == 1 || extent.as_constant().is_some_and(|extent| by <= extent);
            if again || l.range.step != 1 || !is_dense {
                return None;
            }
            let rest = low.minus(&Affine::iterator(l.name.clone()).times(c));
            let Some((lower, count)) = run(l, &rest, inner, &bounds)? else {
                break;
            };
            low = rest.plus(&lower.times(c));
            extent = extent.plus_constant(by.checked_mul(count - 1)?);
        }
    }
    // A loop that moves nothing must run, or the statements in it do not.
    let idle = |l: &&&Arc<Loop>| !moves.contains_key(&l.name);
    if !inner.iter().filter(idle).all(|l| runs(l, &bounds)) {
        return None;
    }
    let set = touched(nest, write, depth);
    set.iter().all(|ends| ends.complete).then_some(set)
}

/// The loop that moves an index least, and by how much. No loop inside it, among `left`, has bounds
/// that depend on it.
fn shortest_move(left: &[&Loop], low: &Affine) -> Option<(usize, i64)> {
    let moves = left.iter().enumerate().rev().filter_map(|(k, l)| {
        let c = low.coefficient(&l.name);
        let is_free = !left[k + 1..]
            .iter()
            .any(|inner| inner.range.mentions(&l.name));
        (c != 0 && is_free).then_some((k, c))
    });
    moves.min_by_key(|(_, c)| c.unsigned_abs())
}

/// The start and the number of consecutive iterations of a loop, for an index that is its iterator
/// plus `rest`. `Some(None)` if no other loop of `inner` moves the index, so that nothing has to be
/// contiguous. `None` if it is unknown.
///
/// A bound common to all blocks may cut blocks off. That leaves no holes, unless something else
/// moves the blocks.
fn run(
    l: &Loop,
    rest: &Affine,
    inner: &[&Arc<Loop>],
    bounds: &Bounds,
) -> Option<Option<(Affine, i64)>> {
    let depends = |a: &Affine| inner.iter().any(|l| a.mentions(&l.name));
    if !depends(rest) && !l.range.bounds().any(depends) {
        return Some(None);
    }
    let is_cut = l.range.lower.len() + l.range.upper.len() > 2;
    if is_cut && depends(rest) {
        return None;
    }
    let fixed = |end: &[Affine], but: &Affine| end.iter().all(|a| a == but || !depends(a));
    for lower in l.range.lower.iter().filter(|b| fixed(&l.range.lower, b)) {
        for upper in l.range.upper.iter().filter(|b| fixed(&l.range.upper, b)) {
            let extent = upper.minus(lower);
            let count = if depends(lower) || depends(upper) {
                extent.as_constant()
            } else {
                least(&extent, bounds)
            };
            if let Some(count @ 1..) = count {
                return Some(Some((lower.clone(), count)));
            }
        }
    }
    None
}

/// Whether a loop certainly runs.
fn runs(l: &Loop, bounds: &Bounds) -> bool {
    let mut lower = l.range.lower.iter();
    lower.all(|low| {
        let mut upper = l.range.upper.iter();
        upper.all(|up| least(&up.minus(low), bounds).is_some_and(|n| n >= 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_cover_a_box_if_no_index_is_left() {
        let whole = [(0, 10), (0, 7)];
        let parts = [
            vec![(0, 8), (0, 4)],
            vec![(8, 10), (0, 4)],
            vec![(0, 9), (4, 7)],
            vec![(9, 12), (3, 9)],
        ];
        assert!(are_in(&whole, &parts));
        for k in 0..parts.len() {
            let mut others = parts.to_vec();
            others.remove(k);
            assert!(!are_in(&whole, &others), "{k}");
        }
        assert!(are_in(&[(3, 3)], &[]));
        assert!(!are_in(&[(3, 4)], &[]));
        assert!(are_in(&[], &[vec![]]));
    }
}
