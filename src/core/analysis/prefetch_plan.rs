//! What an iteration of a loop touches, in equal shares for the iterations of a loop inside of it.

use super::bounds::Bounds;
use super::footprint::{Access, Side, Use, footprint, uses};
use super::position;
use crate::ir::{Affine, Loop, Name, Nest, Prefetch, Tensor, Tree};
use std::sync::Arc;

/// Elements that lie one behind the other in memory, in one or several rows, and who fetches which
/// part of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The tensor.
    pub tensor: Tensor,
    /// The first element, which may lie outside of the tensor when there is no such iteration.
    pub first: Vec<Affine>,
    /// What comes next where there is none.
    pub next: Option<WrapAround>,
    /// Where it lies at most, so that all elements are those of the tensor.
    pub last: Vec<i64>,
    /// How many elements lie one behind the other.
    pub elements: u64,
    /// How many such rows there are, and the dimension in which one is next to the other.
    pub rows: Rows,
    /// The number of the share that an iteration fetches, from 0.
    pub number: Affine,
    /// How many shares there are.
    pub shares: i64,
    /// Whether some of the elements are written there.
    pub write: bool,
}

/// What is touched after the last iteration of a loop: by its first ones, in the next iteration of
/// the loop around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrapAround {
    /// The loop that has ended.
    pub of: Name,
    /// Its later iteration.
    pub later: Affine,
    /// Where that loop ends.
    pub end: i64,
    /// The first element then.
    pub first: Vec<Affine>,
}

/// Neighbors in one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The dimension, from 0.
    pub dimension: usize,
    /// How many.
    pub count: u64,
}

/// Why there are no shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSlice {
    /// The one loop is not inside of the other.
    NotInside,
    /// No access moves with the loop, or each iteration has a tensor of its own.
    Invariant,
    /// The loop may have any number of iterations.
    Unknown(Name),
    /// What an iteration of the outer loop touches lies here and there in memory, and so does what
    /// one of the inner loop, or of the loop around it, touches.
    Scattered,
}

/// What a later iteration of the loop `fetch.of` touches, shared by the iterations of `inner` and of
/// the loops between the two. Where that lies here and there, each of them gets what it touches
/// itself then; where that is nothing, the innermost loop around it that touches some has its rows
/// shared.
///
/// # Errors
/// [`NoSlice`].
pub fn prefetch_plan(
    nest: &Nest,
    inner: &Name,
    fetch: &Prefetch,
    line: i64,
) -> Result<Slice, NoSlice> {
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
    let mut share = if rows(&sides, whole).is_some_and(|rows| rows.count == 1) {
        let all = numbered(nest, &chain, depth)?;
        shared(&found, &sides, of, &later, all).ok_or(NoSlice::Scattered)?
    } else {
        own_part(nest, &chain, depth, &found, (&later, line))?
    };
    share.next = next(&chain[..depth], later, &share);
    Ok(share)
}

/// What comes after the last iteration of the innermost loop of `chain`.
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

/// What one iteration of the innermost loop of `chain` touches of a tensor when the loop before
/// `depth` has the iterator `later`: all of it, one element behind the other, but for what the
/// iterations before that one fetch. If that is nothing, its share of the rows that an iteration of a
/// loop around it touches.
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

/// The number of an iteration of the innermost loop of `chain` among those of all loops from
/// `depth` on, and how many there are.
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

/// The rows of a box of a tensor, of which each has its elements one behind the other: one dimension
/// may be touched in part, one before it at neighboring indices, and others at one index.
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

/// The sides of a box whose neighbors move on with each iteration of `of`, by no more than there are:
/// those in the last lines, as many as it moves on by. The iterations before have fetched the others.
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

/// Shares of the box that `found` touch when the iterator `of` is `later`, if it has rows.
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
        write: found.iter().any(|used| used.access != Access::Read),
    })
}

/// Where a loop of step 1 begins, and how many iterations it has at most.
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
