//! Splits the footprint of a later iteration evenly among inner iterations, to spread prefetches
//! over time.
//!
//! Hardware prefetchers lose track between blocks, and many prefetches at once would wait for each
//! other. A prefetch is a hint: if its loop is gone, nothing is prefetched.

use super::bounds::Bounds;
use super::footprint::{AccessKind, Ends, Side, Use, footprint, touched, uses};
use super::position;
use crate::ir::{Affine, Loop, Name, Nest, Prefetch, Tensor, Tree};
use std::sync::Arc;

/// Contiguous elements, in one or several rows, and the share of them that each iteration
/// prefetches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    pub tensor: Tensor,
    /// The first element. It may lie outside of the tensor if there is no such iteration.
    pub first: Vec<Affine>,
    /// The slice to prefetch after the last iteration.
    pub next: Option<WrapAround>,
    /// The greatest valid position of the first element, so that all elements are inside the
    /// tensor.
    pub last: Vec<i64>,
    /// The number of contiguous elements.
    pub elements: u64,
    /// The number of such rows, and the dimension in which they are neighbors.
    pub rows: Rows,
    /// The share of the current iteration, counted from 0.
    pub number: Affine,
    /// The number of shares.
    pub shares: i64,
    /// Whether the iteration writes some of the elements.
    pub write: bool,
}

/// The last dimensions of a tensor with sizes, as a whole. Each iteration prefetches some of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    pub tensor: Tensor,
    /// The index in the dimensions before. It may lie outside of the tensor if there is no such
    /// iteration.
    pub first: Vec<Affine>,
    /// The extents of these dimensions.
    pub extents: Vec<Affine>,
    /// The loops whose iterations fetch: the number of the current one, from 0 on, and the trip count.
    pub number: Vec<(Affine, Affine)>,
    /// The lines that an iteration fetches.
    pub each: i64,
    /// Whether the iteration writes some of the elements.
    pub write: bool,
}

/// Elements that the iterations of an inner loop prefetch for a later iteration of an outer one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prefetched {
    Slice(Slice),
    Lines(Lines),
}

/// The elements after the last iteration of a loop: its first ones in the next iteration of the
/// loop around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrapAround {
    /// The loop that ends.
    pub of: Name,
    /// The later iteration of that loop.
    pub later: Affine,
    /// The upper bound of that loop.
    pub end: i64,
    /// The first element after the wrap-around.
    pub first: Vec<Affine>,
}

/// Neighboring indices in one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The dimension, counted from 0.
    pub dimension: usize,
    pub count: u64,
}

/// Why there is no slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSlice {
    /// The inner loop is not inside of the outer one.
    NotInside,
    /// No access moves with the loop, or each iteration has a tensor of its own.
    Invariant,
    /// The trip count of the loop is unbounded.
    Unknown(Name),
    /// The footprint of an iteration of the outer loop is scattered in memory. So is the footprint
    /// of the inner loop, and that of the loop around it.
    Scattered,
}

/// The footprint of a later iteration of the loop `fetch.of`, shared by the iterations of `inner`
/// and of the loops between the two. If that footprint is scattered, each of them prefetches its
/// own footprint in that later iteration. If its own is empty, it gets a share of the rows of the
/// innermost loop around it that touches some.
///
/// # Errors
/// [`NoSlice`].
pub fn prefetch_plan(
    nest: &Nest,
    inner: &Name,
    fetch: &Prefetch,
    line: i64,
) -> Result<Prefetched, NoSlice> {
    let (of, tensor) = (fetch.of.as_ref().ok_or(NoSlice::NotInside)?, &fetch.tensor);
    let at = position::named(nest, inner.as_str()).map_err(|_| NoSlice::NotInside)?;
    let chain = position::chain(nest, &at);
    let depth = chain.iter().position(|l| l.name == *of);
    let depth = 1 + depth
        .filter(|d| d + 1 < chain.len())
        .ok_or(NoSlice::NotInside)?;
    let outer = chain[depth - 1];
    let is_own = |own: &Tensor| own.name() == Some(tensor);
    if outer.body.iter().flat_map(Tree::locals).any(is_own) {
        return Err(NoSlice::Invariant);
    }

    let mut found = uses(nest, tensor.as_str());
    found.retain(|used| used.loops.get(depth - 1).is_some_and(|l| l.name == *of));
    let sides = footprint(nest, &found, depth).ok_or(NoSlice::Invariant)?;
    if !sides.iter().any(|side| side.low.mentions(of)) {
        return Err(NoSlice::Invariant);
    }
    let whole = found
        .first()
        .map(|used| used.tensor)
        .ok_or(NoSlice::Invariant)?;
    let mut later =
        Affine::iterator(of.clone()).plus_constant(fetch.distance.saturating_mul(outer.range.step));
    if fetch.further > 0 {
        let (number, _) = numbered(nest, &chain, depth)?;
        let by = fetch.further.saturating_mul(outer.range.step);
        later = later.plus(&number.times(by));
    }
    if whole.shape().is_sized() {
        let lines = lines_of(nest, &chain, depth, &found, (&later, line));
        return lines.map(Prefetched::Lines).ok_or(NoSlice::Scattered);
    }
    let mut share = if rows(&sides, whole).is_some_and(|rows| rows.count == 1) {
        let all = numbered(nest, &chain, depth)?;
        shared(&found, &sides, of, &later, all).ok_or(NoSlice::Scattered)?
    } else {
        own_part(nest, &chain, depth, &found, (&later, line))?
    };
    share.next = next(&chain[..depth], later, &share);
    Ok(Prefetched::Slice(share))
}

/// The elements that `found` touch in one iteration of the loop before `depth`. They are whole
/// dimensions, after dimensions with one index each; `None` otherwise.
fn lines_of(
    nest: &Nest,
    chain: &[&Arc<Loop>],
    depth: usize,
    found: &[Use],
    (later, line): (&Affine, i64),
) -> Option<Lines> {
    let (of, tensor) = (&chain[depth - 1].name, found.first()?.tensor);
    let all: Vec<Vec<Ends>> = found.iter().map(|u| touched(nest, u, depth)).collect();
    let dims = tensor.shape().dims();
    let is_whole = |d: usize| {
        let begins = |ends: &Vec<Ends>| ends[d].lower.contains(&Affine::constant(0));
        let stops = |ends: &Vec<Ends>| ends[d].upper.contains(&dims[d]);
        all.iter().any(begins) && all.iter().any(stops)
    };
    let whole = (0..dims.len()).rev().take_while(|d| is_whole(*d)).count();
    let (single, extents) = dims.split_at(dims.len() - whole);
    let map = |name: &Name| (name == of).then(|| later.clone());
    let mut first = Vec::with_capacity(dims.len());
    for d in 0..single.len() {
        let (index, extent) = &found[0].region[d];
        let is_same = |used: &Use| used.region[d] == (index.clone(), Affine::constant(1));
        let mut inside = chain[depth..].iter();
        if *extent != Affine::constant(1)
            || !found.iter().all(is_same)
            || inside.any(|l| index.mentions(&l.name))
        {
            return None;
        }
        first.push(index.substitute(&map));
    }
    let likely = |extents: Vec<&Affine>| {
        let mut extents = extents.into_iter();
        extents.try_fold(1i64, |n, extent| n.checked_mul(extent.likely()?))
    };
    let number: Option<Vec<(Affine, Affine)>> = chain[depth..].iter().map(|l| counted(l)).collect();
    let number = number?;
    let bytes = likely(extents.iter().collect())?.checked_mul(tensor.elem().size() as i64)?;
    let shares = likely(number.iter().map(|(_, trips)| trips).collect())?.max(1);
    let is_in_a_row = !tensor.is_strided() && !extents.is_empty();
    is_in_a_row.then(|| Lines {
        tensor: tensor.clone(),
        first,
        extents: extents.to_vec(),
        number,
        each: (bytes / line / shares).max(1),
        write: found.iter().any(|used| used.access != AccessKind::Read),
    })
}

/// The number of an iteration of a loop, and a trip count that it stays below.
fn counted(l: &Loop) -> Option<(Affine, Affine)> {
    let ([lower], 1) = (l.range.lower.as_slice(), l.range.step) else {
        return None;
    };
    let iterator = Affine::iterator(l.name.clone());
    let trips = l.range.upper.iter().map(|upper| upper.minus(lower));
    let trips = trips.filter(Affine::is_fixed).min_by_key(Affine::likely)?;
    Some((iterator.minus(lower), trips))
}

/// The wrap-around after the last iteration of the innermost loop of `chain`.
fn next(chain: &[&Arc<Loop>], later: Affine, share: &Slice) -> Option<WrapAround> {
    let [.., around, of] = chain else { return None };
    let (begin, end) = of.range.as_constant().filter(|_| of.range.step == 1)?;
    let is_own = |own: &Tensor| own.name() == share.tensor.name();
    if around.body.iter().flat_map(Tree::locals).any(is_own) {
        return None;
    }
    let step = |name: &Name, by: i64| Some(Affine::iterator(name.clone()).plus_constant(by));
    let map = |name: &Name| match () {
        () if *name == of.name => step(name, begin.saturating_sub(end)),
        () if *name == around.name => step(name, around.range.step),
        () => None,
    };
    let moves = share.first.iter().any(|index| index.mentions(&around.name));
    moves.then(|| WrapAround {
        of: of.name.clone(),
        later,
        end,
        first: share
            .first
            .iter()
            .map(|index| index.substitute(&map))
            .collect(),
    })
}

/// The footprint of one iteration of the innermost loop of `chain`, if the loop before `depth` has
/// the iterator `later`. It must be contiguous. Lines that earlier iterations prefetch are omitted.
/// If the footprint is empty, the result is a share of the rows that an iteration of an outer loop
/// touches.
fn own_part(
    nest: &Nest,
    chain: &[&Arc<Loop>],
    depth: usize,
    found: &[Use],
    (later, line): (&Affine, i64),
) -> Result<Slice, NoSlice> {
    let of = chain[depth - 1];
    for around in (depth..=chain.len()).rev() {
        let l = chain[around - 1];
        let mut own = found.to_vec();
        own.retain(|used| {
            used.loops
                .get(around - 1)
                .is_some_and(|at| at.name == l.name)
        });
        let Some(sides) = footprint(nest, &own, around) else {
            continue;
        };
        let moves = sides.iter().any(|side| side.low.mentions(&of.name));
        let number = numbered(nest, chain, around)?;
        let part = shared(
            &own,
            &new_lines(&own, sides, of, line),
            &of.name,
            later,
            number,
        );
        let is_whole = |part: &Slice| around < chain.len() || part.rows.count == 1;
        let is_one = own.iter().all(|used| used.tensor == own[0].tensor);
        return part
            .filter(|part| moves && is_one && is_whole(part))
            .ok_or(NoSlice::Scattered);
    }
    Err(NoSlice::Scattered)
}

/// The number of an iteration of the innermost loop of `chain`, among the iterations of all loops
/// from `depth` on. Also the number of these iterations.
fn numbered(nest: &Nest, chain: &[&Arc<Loop>], depth: usize) -> Result<(Affine, i64), NoSlice> {
    let bounds = Bounds::around(nest, chain.iter().map(|l| &***l));
    let (mut number, mut shares) = (Affine::constant(0), 1i64);
    for l in &chain[depth..] {
        let (lower, trips) = most_trips(l, &bounds).ok_or(NoSlice::Unknown(l.name.clone()))?;
        number = number
            .times(trips)
            .plus(&Affine::iterator(l.name.clone()).minus(lower));
        shares = shares.saturating_mul(trips);
    }
    Ok((number, shares))
}

/// The contiguous rows of a box of a tensor. One dimension may be touched in part, one before it at
/// neighboring indices, and others at one index.
fn rows(sides: &[Side], tensor: &Tensor) -> Option<Rows> {
    let is_full = |(side, extent): &(&Side, &u64)| side.extent == **extent;
    let sized = sides.iter().zip(tensor.shape().extents());
    let full = sized.rev().take_while(is_full).count();
    let before = &sides[..sides.len().saturating_sub(full + 1)];
    let mut several = before
        .iter()
        .enumerate()
        .filter(|(_, side)| side.extent != 1);
    let (dimension, count) = several.next().map_or((0, 1), |(d, side)| (d, side.extent));
    several
        .next()
        .is_none()
        .then_some(Rows { dimension, count })
}

/// Shrinks a box whose last dimension moves with each iteration of `of`, by at most its extent.
/// Only the last lines remain, as many as it moves by. Earlier iterations have prefetched the
/// others.
fn new_lines(found: &[Use], mut sides: Vec<Side>, of: &Loop, line: i64) -> Vec<Side> {
    let (Some(used), Some((neighbors, others))) = (found.first(), sides.split_last_mut()) else {
        return sides;
    };
    if others.iter().any(|side| side.low.mentions(&of.name)) {
        return sides;
    }
    let line = line.unsigned_abs() / used.tensor.elem().size() as u64;
    let moved = neighbors
        .low
        .coefficient(&of.name)
        .saturating_mul(of.range.step);
    let moved = u64::try_from(moved).unwrap_or(0);
    let new = moved.div_ceil(line).saturating_sub(1) * line + 1;
    if (1..=neighbors.extent).contains(&moved) && new < neighbors.extent {
        let before = i64::try_from(neighbors.extent - new).unwrap_or(0);
        neighbors.low = neighbors.low.plus_constant(before);
        neighbors.extent = new;
    }
    sides
}

/// Shares of the box that `found` touch if the iterator `of` is `later`. `None` if the box has no
/// rows.
fn shared(
    found: &[Use],
    sides: &[Side],
    of: &Name,
    later: &Affine,
    (number, shares): (Affine, i64),
) -> Option<Slice> {
    let map = |name: &Name| (name == of).then(|| later.clone());
    let room = |(side, extent): (&Side, &u64)| {
        i64::try_from(extent - side.extent.min(*extent)).unwrap_or(i64::MAX)
    };
    let tensor = found.first()?.tensor;
    let rows = rows(sides, tensor)?;
    let elements = sides.iter().enumerate();
    let elements = elements.filter(|(d, _)| rows.count == 1 || *d != rows.dimension);
    Some(Slice {
        tensor: tensor.clone(),
        first: sides.iter().map(|side| side.low.substitute(&map)).collect(),
        next: None,
        last: sides
            .iter()
            .zip(tensor.shape().extents())
            .map(room)
            .collect(),
        elements: elements.fold(1, |n, (_, side)| n.saturating_mul(side.extent)),
        rows,
        number,
        shares,
        write: found.iter().any(|used| used.access != AccessKind::Read),
    })
}

/// The lower bound of a loop of step 1, and its greatest trip count.
fn most_trips<'l>(l: &'l Loop, bounds: &Bounds) -> Option<(&'l Affine, i64)> {
    let ([lower], 1) = (l.range.lower.as_slice(), l.range.step) else {
        return None;
    };
    let trips = l.range.upper.iter().filter_map(|upper| {
        let (_, most) = bounds.interval(&upper.minus(lower))?;
        Some(most)
    });
    Some((lower, trips.min().filter(|trips| *trips > 0)?))
}
