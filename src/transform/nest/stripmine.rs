//! `stripmine` splits a loop into a loop over blocks and a loop over the values of one block.
//!
//! ```rhai
//! let A = tensor([10]);
//! let B = eq(A, [i] -> [i]);
//! print(build(B).stripmine("i", 4));
//! ```
//!
//! ```text
//! f64 B[10], A[10]
//! for i_o in 0..3
//!   for i_i in 4*i_o..min(4*i_o + 4, 10)
//!     B[i_i] = A[i_i]
//! ```
//!
//! `i` becomes `i_o` over blocks and `i_i` within one. `i_i` keeps the values of `i`, so that
//! indices do not change. A parallel loop stays parallel over blocks, and a bound one stays on its
//! axis; a vector loop stays a vector loop within them.
//!
//! The tail says how to treat the remainder if the factor does not divide the trip count:
//!
//! - `"guard"`, the default, bounds the last block by a `min`. The nest stays perfect, so that
//!   tiles compose.
//! - `"cut"` moves the remainder to a loop `i_r` after the blocks. All blocks then have the same
//!   size, and can be unrolled. The loops inside are copied there under the first free numbers, and
//!   a part without iterations is left out.
//! - `"exact"` refuses a remainder.
//!
//! ```rhai
//! let A = tensor([10, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! print(build(B).stripmine("i", 4, "cut"));
//! ```
//!
//! ```text
//! f64 B[10][5], A[10][5]
//! for i_o in 0..2
//!   for i_i in 4*i_o..4*i_o + 4
//!     for j in 0..5
//!       B[i_i][j] = A[i_i][j]
//! for i_r in 8..10
//!   for j_2 in 0..5
//!     B[i_r][j_2] = A[i_r][j_2]
//! ```
//!
//! The trip count may depend on outer loops if the remainder does not, as after a block:
//!
//! ```rhai
//! let p = nest(`
//!   f64 A[50]
//!   for k in 0..5
//!     for i in 8*k + 8..50
//!       A[i] += 1
//! `);
//! print(p.stripmine("i", 4, "cut"));
//! ```
//!
//! ```text
//! f64 A[50]
//! for k in 0..5
//!   for i_o in 0..10 - 2*k
//!     for i_i in 4*i_o + 8*k + 8..4*i_o + 8*k + 12
//!       A[i_i] += 1
//!   for i_r in 48..50
//!     A[i_r] += 1
//! ```
//!
//! One of several upper bounds may leave a remainder, as within a tile:
//!
//! ```rhai
//! let A = tensor([50]);
//! let B = eq(A, [i] -> [i]);
//! print(build(B).stripmine("i", 16).stripmine("i_i", 4, "cut"));
//! ```
//!
//! ```text
//! f64 B[50], A[50]
//! for i_o in 0..4
//!   for i_i_o in 0..min(4, 12 - 4*i_o)
//!     for i_i_i in 4*i_i_o + 16*i_o..4*i_i_o + 16*i_o + 4
//!       B[i_i_i] = A[i_i_i]
//!   for i_i_r in 48..min(16*i_o + 16, 50)
//!     B[i_i_r] = A[i_i_r]
//! ```
//!
//! `"grid"` begins blocks at the same values for all iterations of the outer loops, whereas
//! `"guard"` counts them from the loop's first iteration. The loop over blocks then has constant
//! bounds and can move outside of all others; some blocks are empty. Skewed loops are tiled in this
//! way.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! print(build(B).skew("j", "i", 1).stripmine("j", 3, "grid"));
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5]
//! for i in 0..4
//!   for j_o in 0..3
//!     for j_i in max(3*j_o, i)..min(3*j_o + 3, i + 5)
//!       B[i][j_i - i] = A[i][j_i - i]
//! ```
//!
//! `"aligned"` is a grid whose blocks begin at multiples of the factor, as vectors in memory do.
//! The first block may then also have fewer iterations.
//!
//! ```rhai
//! let A = tensor([10]);
//! let B = eq(vadd(A, A, [[i - 1], [i + 1]]), [i], [10]);
//! print(build(B).stripmine("i", 4, "aligned"));
//! ```
//!
//! ```text
//! f64 B[10], A[10]
//! for i_o in 0..3
//!   for i_i in max(4*i_o, 1)..min(4*i_o + 4, 9)
//!     B[i_i] = A[i_i - 1] + A[i_i + 1]
//! ```
//!
//! The entries of a row have blocks that begin at its first entry. The iterator over blocks is the first
//! entry of each:
//!
//! ```rhai
//! let p = nest(`
//!   f64 y[4], V[11]
//!   i64 ptr[5] increasing in 0..12
//!   for i in 0..4
//!     for e in ptr[i]..ptr[i + 1]
//!       y[i] += V[e]
//! `);
//! print(p.stripmine("e", 4));
//! ```
//!
//! ```text
//! f64 y[4], V[11]
//! i64 ptr[5] increasing in 0..12
//! for i in 0..4
//!   for e_o in ptr[i]..ptr[i + 1] step 4
//!     for e_i in e_o..min(e_o + 4, ptr[i + 1])
//!       y[i] += V[e_i]
//! ```
//!
//! Always legal: iterations keep their order.
//!
//! Refuses: factors below 1; steps other than 1; new names that are in use; other tails; an entry that
//! is the only value; entries of a row with another tail than `"guard"`, and those of one block; with
//! `"cut"` and `"exact"`, a trip count whose remainder depends on outer loops; with `"exact"`, a
//! trip count that the factor does not divide.
//!
//! Source: TeML eq. 20, for extents that the factor divides.

use super::parts::{Names, with_body};
use super::resolve::{chain, check_positive, check_step, find};
use crate::analysis::bounds::{self, Bounds};
use crate::analysis::facts::{greatest_for_sizes, is_nonnegative};
use crate::analysis::implied::simplified;
use crate::analysis::position::splice;
use crate::args::{LOOP, NEST};
use crate::ir::{Affine, Loop, Mode, Name, Nest, Range, Role, Segment, Sharing, Tree, ceil_div};
use crate::refusals::not_constant;
use crate::words::words;
use crate::{Error, LoopRef, Op, Param, Returns, Value, refusal};
use std::sync::Arc;

const FACTOR: Param<i64> = Param::new("factor");
const TAIL: Param<Option<Tail>> = Param::new("tail");

/// `stripmine(nest, loop, factor, tail?)`.
pub static STRIPMINE: Op = Op {
    name: "stripmine",
    params: &[NEST.any(), LOOP.any(), FACTOR.any(), TAIL.any()],
    returns: Returns::Nest,
    file: include_str!("stripmine.rs"),
    call: |args| {
        let tail = args.get(&TAIL)?.unwrap_or(Tail::Guard);
        stripmine(args.get(&NEST)?, args.get(&LOOP)?, args.get(&FACTOR)?, tail).map(Value::Nest)
    },
};

words! {
    /// The treatment of the iterations after the last whole block.
    pub enum Tail {
        /// The last block is bounded by a `min`.
        Guard = "guard",
        /// As `Guard`, and blocks begin at the same values for all iterations of the outer loops.
        Grid = "grid",
        /// As `Grid`, and blocks begin at multiples of the factor.
        Aligned = "aligned",
        /// The remainder becomes a loop of its own.
        Cut = "cut",
        /// A remainder is refused.
        Exact = "exact",
    }
}

/// The nest with a loop split into blocks of `factor` iterations.
///
/// # Errors
/// As the header says.
pub fn stripmine(nest: &Nest, reference: &LoopRef, factor: i64, tail: Tail) -> Result<Nest, Error> {
    let refused = |l: &Loop| no_blocks(nest, l, reference, factor, tail);
    split(nest, reference, (factor, tail), &refused)
}

/// Splits a loop into whole blocks and a remainder, for operations that need blocks of one size.
pub(super) fn cut(nest: &Nest, reference: &LoopRef, factor: i64) -> Result<Nest, Error> {
    split(nest, reference, (factor, Tail::Cut), &|l| {
        let error = not_constant(nest, l);
        match outer_blocks(nest, l, factor) {
            Some(help) => error.help(help),
            None => error,
        }
    })
}

fn split(
    nest: &Nest,
    reference: &LoopRef,
    (factor, tail): (i64, Tail),
    refused: &dyn Fn(&Loop) -> Error,
) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    check_positive(factor, &FACTOR)?;
    let loops = chain(nest, &position);
    let l = loops[position.len() - 1];
    if let Some(segment) = l.range.within.as_ref().filter(|segment| segment.step == 1)
        && segment.of_row().is_some()
    {
        if tail != Tail::Guard {
            let text = format!("`{}` has as many iterations as entries say", l.name);
            let error = refusal(text).help("the tail \"guard\" takes any number of entries");
            return Err(error.at(&TAIL).on(nest, [l.name.clone()]));
        }
        let mut names = Names::of(nest);
        let new = [names.derive(&l.name, "o")?, names.derive(&l.name, "i")?];
        let tree = blocks_of_row(l, segment, new, factor);
        return Ok(nest.with_trees(splice(nest.trees(), &position, vec![tree])));
    }
    check_step(nest, l)?;
    let mut names = Names::of(nest);
    let new = [names.derive(&l.name, "o")?, names.derive(&l.name, "i")?];
    let refused = || refused(l);
    let outer: Vec<&Loop> = loops[..position.len() - 1].iter().map(|l| &***l).collect();
    let exact = whole_counts(nest, &l.range, factor);
    let trees = match tail {
        Tail::Guard if exact.is_some() => {
            let (lower, counts) = exact.ok_or_else(refused)?;
            vec![blocks(l, new, (lower, counts, factor), |full| vec![full])]
        }
        Tail::Guard => {
            let [lower] = l.range.lower.as_slice() else {
                return Err(refused());
            };
            let found = block_counts(nest, lower, l, factor, &outer);
            let (counts, count) = found.ok_or_else(refused)?;
            let upper = |full: Affine| block_end(full, l, lower, factor, count);
            vec![blocks(l, new, (lower, counts, factor), upper)]
        }
        Tail::Grid | Tail::Aligned => {
            let around = Bounds::around(nest, loops[..position.len() - 1].iter().map(|l| &***l));
            let found = match tail {
                Tail::Aligned => multiple(least(nest, l, &outer), l, factor, &around),
                _ => grid(least(nest, l, &outer), l, factor, &around),
            };
            let (origin, _) = found.ok_or_else(refused)?;
            let found = block_counts(nest, &origin, l, factor, &outer);
            let (counts, count) = found.ok_or_else(refused)?;
            let upper = |full: Affine| block_end(full, l, &origin, factor, count);
            let mut tree = blocks(l, new, (&origin, counts, factor), upper);
            // A bound below all blocks has no effect.
            let cuts = |b: &&Affine| b.minus(&origin).as_constant().is_none_or(|d| d > 0);
            let begins: Vec<Affine> = l.range.lower.iter().filter(cuts).cloned().collect();
            if let Tree::Loop(outer) = &mut tree
                && let [Tree::Loop(within)] = &mut Arc::make_mut(outer).body[..]
            {
                Arc::make_mut(within).range.lower.extend(begins);
            }
            vec![tree]
        }
        Tail::Cut | Tail::Exact => {
            let around: Vec<&Loop> = loops[..position.len() - 1].iter().map(|l| &***l).collect();
            if let Some((lower, extent)) = sized_extent(&l.range, factor) {
                let trees = cut_at_size(nest, l, new, (lower, &extent, factor), tail, &mut names)?;
                let made = nest.with_trees(splice(nest.trees(), &position, trees.clone()));
                // Blocks may end at a size that is new. It may imply where the remainder begins.
                let around: Vec<&Loop> = made.context().iter().chain(around).collect();
                let trees = simplified(&trees, &around);
                return Ok(nest.with_trees(splice(nest.trees(), &position, trees)));
            }
            let (lower, extents) = whole_extents(nest, l, factor, &around).ok_or_else(refused)?;
            let rests = extents.iter().map(|e| e.offset().rem_euclid(factor));
            let rests: Vec<i64> = rests.collect();
            let whole = |(extent, rest): (&Affine, &i64)| {
                let whole = extent.plus_constant(-rest).divided(factor);
                whole.unwrap_or_default()
            };
            let counts: Vec<Affine> = extents.iter().zip(&rests).map(whole).collect();
            let rest = rests.iter().position(|rest| *rest != 0);
            if let (Tail::Exact, Some(k)) = (tail, rest) {
                let (name, extent) = (&l.name, &extents[k]);
                let text = format!("{factor} does not divide the {extent} iterations of `{name}`");
                let error = refusal(text).help("the tails \"guard\" and \"cut\" take any factor");
                return Err(error.at(&FACTOR).on(nest, [name.clone()]));
            }
            let mut trees = Vec::new();
            if counts.iter().all(|count| count.as_constant() != Some(0)) {
                let start = (&lower, counts.clone(), factor);
                trees.push(blocks(l, new, start, |full| vec![full]));
            }
            if let Some(k) = rest {
                let name = names.derive(&l.name, "r")?;
                let start = lower.plus(&counts[k].times(factor));
                let range = match extents.len() {
                    1 => Range::of_extent(&start, rests[k]),
                    _ => Range {
                        lower: vec![start],
                        ..l.range.clone()
                    },
                };
                trees.push(names.part(l, Role::Tail, name, range));
            }
            trees
        }
    };
    Ok(nest.with_trees(splice(nest.trees(), &position, trees)))
}

/// The lower bound and the number of iterations of a loop, if sizes decide the remainder of its
/// blocks.
pub(super) fn sized_extent(range: &Range, factor: i64) -> Option<(&Affine, Affine)> {
    let ([lower], [upper]) = (&range.lower[..], &range.upper[..]) else {
        return None;
    };
    let extent = upper.minus(lower);
    let is_sized = extent.sizes().next().is_some() && extent.quotient_of_sizes(factor).is_some();
    is_sized.then_some((lower, extent))
}

/// The lower bound of a loop of a nest with sizes, and its numbers of blocks. The least of these
/// counts. `None` if some block may be partial.
fn whole_counts<'l>(
    nest: &Nest,
    range: &'l Range,
    factor: i64,
) -> Option<(&'l Affine, Vec<Affine>)> {
    let [lower] = range.lower.as_slice() else {
        return None;
    };
    let extents = range.upper.iter().map(|upper| upper.minus(lower));
    let extents: Vec<Affine> = extents.collect();
    let is_sized = |extent: &Affine| extent.sizes().next().is_some();
    if !nest.is_sized() || !extents.iter().any(is_sized) {
        return None;
    }
    let counts: Option<Vec<Affine>> = extents.iter().map(|e| e.divided(factor)).collect();
    Some((lower, counts?))
}

/// The lower bounds of the iterations after whole blocks, which end at `whole`. The quotient of a
/// negative number of iterations is negative.
pub(super) fn from_whole(whole: &Affine, lower: &Affine) -> Vec<Affine> {
    match whole.minus(lower).ends() {
        Some((least, _)) if least >= 0 => vec![whole.clone()],
        _ => vec![whole.clone(), lower.clone()],
    }
}

/// Whole blocks, as many as the quotient of sizes says, and the rest.
fn cut_at_size(
    nest: &Nest,
    l: &Loop,
    new: [Name; 2],
    (lower, extent, factor): (&Affine, &Affine, i64),
    tail: Tail,
    names: &mut Names,
) -> Result<Vec<Tree>, Error> {
    let exact = extent.divided(factor);
    if let (Tail::Exact, None) = (tail, &exact) {
        let name = &l.name;
        let text =
            format!("{factor} does not divide the {extent} iterations of `{name}` for all sizes");
        let error = refusal(text).help(
            "the tails \"guard\" and \"cut\" take any factor; \
             `specialize(nest, \"N % 8 == 0\")` makes a plan for sizes that are multiples",
        );
        return Err(error.at(&FACTOR).on(nest, [name.clone()]));
    }
    let count = extent.quotient_of_sizes(factor).unwrap_or_default();
    let start = (lower, vec![count.clone()], factor);
    let whole = blocks(l, new, start, |full| vec![full]);
    if exact.is_some() {
        return Ok(vec![whole]);
    }
    let name = names.derive(&l.name, "r")?;
    let range = Range {
        lower: from_whole(&lower.plus(&count.times(factor)), lower),
        ..l.range.clone()
    };
    Ok(vec![whole, names.part(l, Role::Tail, name, range)])
}

/// The refusal of blocks of one size, with this tail, if the remainder varies. The help names tails
/// that were tried and accept the bounds.
fn no_blocks(nest: &Nest, l: &Loop, reference: &LoopRef, factor: i64, tail: Tail) -> Error {
    let error = not_constant(nest, l);
    let others = [(Tail::Guard, "\"guard\""), (Tail::Grid, "\"grid\"")].into_iter();
    let others = others.filter(|(other, _)| *other != tail && tail != Tail::Grid);
    let works = others.filter(|(other, _)| stripmine(nest, reference, factor, *other).is_ok());
    let works: Vec<&str> = works.map(|(_, word)| word).collect();
    let tails = match works.as_slice() {
        [] => None,
        [one] => Some(format!("the tail {one} takes these bounds")),
        several => Some(format!(
            "the tails {} take these bounds",
            several.join(" and ")
        )),
    };
    let blocks = match tail {
        Tail::Cut => outer_blocks(nest, l, factor),
        _ => None,
    };
    let ways: Vec<String> = blocks.into_iter().chain(tails).collect();
    match ways.as_slice() {
        [] => error,
        ways => error.help(ways.join("; ")),
    }
}

/// The most copies that [`outer_blocks`] suggests.
const MOST_COPIES: i64 = 64;

/// A step that gives each copy of a loop a constant remainder: unrolled whole blocks of the loop
/// that its bounds depend on. `None` if that was tried in vain.
fn outer_blocks(nest: &Nest, l: &Loop, factor: i64) -> Option<String> {
    let bounds = l.range.lower.iter().chain(&l.range.upper);
    let (outer, _) = bounds.flat_map(Affine::terms).next()?;
    let named = |name: &Name| LoopRef::Name(name.to_string());
    let whole = |nest: &Nest, name: &Name| {
        split(nest, &named(name), (factor, Tail::Cut), &|l| {
            not_constant(nest, l)
        })
    };
    let cut = whole(nest, outer).ok()?;
    let position = find(&cut, &named(&outer.derived("i")), &LOOP).ok()?;
    let inner = chain(&cut, &position).pop()?;
    let [start] = inner.range.lower.as_slice() else {
        return None;
    };
    let has_whole = |copy: i64| {
        let value = |name: &Name| (*name == inner.name).then(|| start.plus_constant(copy));
        let body = inner.body.iter().map(|tree| tree.substitute(&value));
        let copy = cut.with_trees(splice(cut.trees(), &position, body.collect()));
        whole(&copy, &l.name).is_ok()
    };
    (factor <= MOST_COPIES && (0..factor).all(has_whole)).then(|| {
        format!(
            "after `stripmine(\"{outer}\", {factor}, \"cut\")` and `unroll(\"{outer}_i\")` the tail \
             \"cut\" takes each copy of `{}`",
            l.name
        )
    })
}

/// The lower bound of a loop and its candidate trip counts; the least of them applies. Their
/// remainders modulo the factor are the same in all iterations of the loops around, and all but one
/// are 0.
fn whole_extents(
    nest: &Nest,
    l: &Loop,
    factor: i64,
    around: &[&Loop],
) -> Option<(Affine, Vec<Affine>)> {
    if let Some((lower, extent)) = bounds::extent(&l.range) {
        return Some((lower, vec![Affine::constant(extent)]));
    }
    let [lower] = l.range.lower.as_slice() else {
        return None;
    };
    let extents = l.range.upper.iter().map(|upper| upper.minus(lower));
    let extents: Vec<Affine> = extents.collect();
    let context = nest.context().iter();
    let chain: Vec<&Loop> = context.chain(around.iter().copied()).collect();
    let even = |e: &Affine| e.terms().iter().all(|(_, c)| c % factor == 0);
    let fits = |e: &Affine| even(e) && is_nonnegative(e, &chain);
    let rests = extents.iter().filter(|e| e.offset() % factor != 0);
    let fits = rests.count() <= 1 && extents.iter().all(fits);
    fits.then(|| (lower.clone(), extents))
}

/// Expressions of sizes that the iterator is at least, in all iterations of the loops around.
fn least(nest: &Nest, l: &Loop, outer: &[&Loop]) -> Vec<Affine> {
    if !nest.is_sized() {
        let mut within = Bounds::around(nest, outer.iter().copied());
        within.enter(l);
        let low = within.get(&l.name).map(|(low, _)| Affine::constant(low));
        return low.into_iter().collect();
    }
    let bounds = l.range.lower.iter();
    let bounds = bounds.filter_map(|bound| greatest_for_sizes(&bound.times(-1), outer));
    bounds.map(|bound| bound.times(-1)).collect()
}

/// An origin of blocks that is the same, modulo the factor, for all values of the loops around: a
/// lower bound, or a least value. Among these, the one with the fewest iterations from there on;
/// also returns their greatest number.
fn grid(least: Vec<Affine>, l: &Loop, factor: i64, around: &Bounds) -> Option<(Affine, i64)> {
    let fixed = |b: &&Affine| b.terms().iter().all(|(_, c)| c % factor == 0);
    let bounds = l.range.lower.iter().filter(fixed).cloned();
    let origins = least.into_iter().chain(bounds);
    let extents = origins.map(|origin| {
        let extent = largest_extent(&origin, &l.range.upper, around);
        (origin, extent)
    });
    extents.min_by_key(|(_, extent)| *extent)
}

/// The last multiple of the factor up to a least value of the loop, and the greatest number of
/// iterations from there on.
fn multiple(least: Vec<Affine>, l: &Loop, factor: i64, around: &Bounds) -> Option<(Affine, i64)> {
    let origins = least.into_iter().filter_map(|low| match low.as_constant() {
        Some(low) => low
            .div_euclid(factor)
            .checked_mul(factor)
            .map(Affine::constant),
        None if factor == 1 => Some(low),
        None => Some(low.quotient_of_sizes(factor)?.times(factor)),
    });
    let extents = origins.map(|origin| {
        let extent = largest_extent(&origin, &l.range.upper, around);
        (origin, extent)
    });
    extents.min_by_key(|(_, extent)| *extent)
}

/// The loop over blocks of `factor` iterations from `lower` on, and the loop within a block. The
/// least of `counts` is the number of blocks. `upper` makes the bounds of a block from its full
/// end.
fn blocks(
    l: &Loop,
    [outer, inner]: [Name; 2],
    (lower, counts, factor): (&Affine, Vec<Affine>, i64),
    upper: impl Fn(Affine) -> Vec<Affine>,
) -> Tree {
    let start = lower.plus(&Affine::iterator(outer.clone()).times(factor));
    let within = Range {
        upper: upper(start.plus_constant(factor)),
        lower: vec![start],
        step: 1,
        within: None,
    };
    let range = Range {
        lower: vec![Affine::constant(0)],
        upper: counts,
        step: 1,
        within: None,
    };
    nested(l, [(outer, range), (inner, within)], factor)
}

/// The blocks of the entries of a row, from its first entry on.
fn blocks_of_row(l: &Loop, segment: &Segment, [outer, inner]: [Name; 2], factor: i64) -> Tree {
    let start = Affine::iterator(outer.clone());
    let end = start.plus_constant(factor);
    // The facts about the entries are known: the loop has affine bounds.
    let within = Range::of_part(vec![start], vec![end], &segment.upper);
    let within = within.unwrap_or_else(|| l.range.clone());
    let range = Range {
        within: Some(Segment {
            step: factor,
            ..segment.clone()
        }),
        ..l.range.clone()
    };
    nested(l, [(outer, range), (inner, within)], factor)
}

/// The loop over blocks with a range, and the loop within a block.
fn nested(l: &Loop, [outer, inner]: [(Name, Range); 2], factor: i64) -> Tree {
    let serial = Loop {
        mode: l.mode.without_threads(),
        ..l.clone()
    };
    let within = with_body(&serial, Role::Inner, inner.0, inner.1, l.body.clone());
    let in_blocks = |iterations: i64| ceil_div(iterations, factor);
    let shared = l.sharing().map(|of| Mode::Parallel {
        sharing: Sharing {
            collapse: 1,
            schedule: of.schedule,
            chunk: of.chunk.map(in_blocks),
            threshold: of.threshold.map(in_blocks),
            work: of.work,
            atomic: of.atomic,
        },
    });
    let bound = l.axis().map(|axis| Mode::Bound { axis });
    let mode = shared.or(bound).unwrap_or(Mode::Serial);
    Tree::of_loop(Loop {
        mode,
        lineage: l.lineage.child(Role::Outer),
        ..Loop::serial(outer.0, outer.1, vec![within])
    })
}

/// The greatest trip count of the loop for any values of the loops around it.
fn largest_extent(lower: &Affine, upper: &[Affine], around: &Bounds) -> i64 {
    let extents = upper.iter().map(|u| u.minus(lower));
    let largest = extents.filter_map(|e| Some(around.interval(&e)?.1)).min();
    largest.unwrap_or(0).max(0)
}

/// The numbers of blocks from `origin` on, and a number that the last of them is at most. The least
/// of the numbers counts. `None` if the sizes do not limit them.
fn block_counts(
    nest: &Nest,
    origin: &Affine,
    l: &Loop,
    factor: i64,
    outer: &[&Loop],
) -> Option<(Vec<Affine>, i64)> {
    let around = Bounds::around(nest, outer.iter().copied());
    let count = ceil_div(largest_extent(origin, &l.range.upper, &around), factor);
    if !nest.is_sized() {
        return Some((vec![Affine::constant(count)], count));
    }
    let mut counts: Vec<Affine> = Vec::new();
    for upper in &l.range.upper {
        let extent = greatest_for_sizes(&upper.minus(origin), outer);
        let rounded = extent.map(|extent| extent.plus_constant(factor - 1));
        let blocks = rounded.and_then(|rounded| match rounded.as_constant() {
            Some(number) => Some(Affine::constant(number.div_euclid(factor).max(0))),
            None => rounded.quotient_of_sizes(factor),
        });
        counts.extend(blocks.filter(|blocks| !counts.contains(blocks)));
    }
    (!counts.is_empty()).then_some((counts, count))
}

/// The end of a block: `full`, and the loop's own bounds that can be less.
fn block_end(full: Affine, l: &Loop, lower: &Affine, factor: i64, blocks: i64) -> Vec<Affine> {
    let mut end = vec![full];
    for bound in &l.range.upper {
        // A bound at the end of the blocks, or behind them, has no effect.
        let distance = bound.minus(lower).as_constant();
        let covered = factor.checked_mul(blocks);
        let cuts = !matches!((distance, covered), (Some(d), Some(c)) if d >= c);
        if cuts {
            end.push(bound.clone());
        }
    }
    end
}
