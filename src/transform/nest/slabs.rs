//! `slabs` cuts a loop and loops inside it along a hyperplane into slabs of one width, and runs
//! slab after slab.
//!
//! ```rhai
//! let A = tensor([10]);
//! let B = tensor([10]);
//! B = eq(vadd(A, A, [[i - 1], [i + 1]]), [i], [10]);
//! let first = build(B);
//! A = eq(B, [i] -> [i]);
//! let steps = fuse_outer(first, build(A), 0).repeat("t", 6);
//! print(steps.shift("i_2", 1).slabs("t", ["i", "i_2"], #{t: 2}, 4));
//! ```
//!
//! ```text
//! f64 B[10], A[10]
//! for i_s in 0..6
//!   for t in max(0, 2*i_s - 5)..min(6, 2*i_s + 2)
//!     for i in max(1, 4*i_s - 2*t)..min(9, 4*i_s - 2*t + 4)
//!       B[i] = A[i - 1] + A[i + 1]
//!     for i_2 in max(1, 4*i_s - 2*t)..min(11, 4*i_s - 2*t + 4)
//!       A[i_2 - 1] = B[i_2 - 1]
//! ```
//!
//! `slabs(nest, outer, loops, factors, size)` makes a loop over slabs around `outer`. Slab `s`
//! executes the iterations with `size*s <= x < size*s + size`. Here `x` is the iterator of the
//! enclosing loop from `loops`, plus each factor times the iterator of its loop. The loops with
//! factors are around all of `loops`. The new loop is named after the first of `loops`: `i_s`, or
//! `i_s_2` and so on. All iterators keep their values, so that indices do not change; `outer` runs
//! only as far as the slab needs.
//!
//! Several calls make slabs of slabs: tiles whose sides have any slope. One positive and one
//! negative factor make diamonds.
//!
//! Legal when no dependence goes from a slab to an earlier one. `check` proves it.
//!
//! Refuses: loops that are not inside `outer` or a loop with a factor, or that are inside each
//! other; statements in `outer` outside all of these loops; widths below 1; steps other than 1;
//! coefficients beyond 2^40.
//!
//! Source: tiling by hyperplanes, Irigoin and Triolet, Supernode Partitioning, 1988; with the
//! hyperplanes of Bandishti, Pananilath and Bondhugula, Tiling Stencil Computations to Maximize
//! Parallelism, 2012, the tiles can start at the same time.

use super::fuse_inner::one_line;
use super::guard::hull;
use super::parts::Names;
use super::resolve::{chain, check_positive, check_step, find};
use crate::analysis::bounds::Bounds;
use crate::analysis::facts::greatest_for_sizes;
use crate::analysis::position::{Position, splice};
use crate::analysis::project;
use crate::args::{Factors, NEST};
use crate::ir::{Affine, Lineage, Loop, Name, Nest, Range, Role, Tree};
use crate::refusals::{needs_division, not_constant, not_inside, repeated};
use crate::{Error, LoopRef, Op, Param, Returns, Value, mistake};

const OUTER: Param<LoopRef> = Param::new("outer");
const LOOPS: Param<Vec<LoopRef>> = Param::new("loops");
const FACTORS: Param<Factors> = Param::new("factors");
const SIZE: Param<i64> = Param::new("size");

/// `slabs(nest, outer, loops, factors, size)`.
pub static SLABS: Op = Op {
    name: "slabs",
    params: &[
        NEST.any(),
        OUTER.any(),
        LOOPS.any(),
        FACTORS.any(),
        SIZE.any(),
    ],
    returns: Returns::Nest,
    file: include_str!("slabs.rs"),
    call: |args| {
        let (loops, factors) = (args.get(&LOOPS)?, args.get(&FACTORS)?);
        let (nest, outer) = (args.get(&NEST)?, args.get(&OUTER)?);
        slabs(nest, outer, loops, &factors, args.get(&SIZE)?).map(Value::Nest)
    },
};

/// Cuts the nest into slabs of width `size`. Across them grows the iterator of one of `listed` plus
/// `factors` times the iterators of loops around it.
///
/// # Errors
/// As the header says.
pub fn slabs(
    nest: &Nest,
    outer: &LoopRef,
    listed: &[LoopRef],
    factors: &[(&str, i64)],
    size: i64,
) -> Result<Nest, Error> {
    let around = find(nest, outer, &OUTER)?;
    let outer = chain(nest, &around)[around.len() - 1];
    check_step(nest, outer)?;
    let positions = covering(nest, &around, listed)?;
    check_positive(size, &SIZE)?;
    let first = positions.first().map(|p| &last(nest, p).name);
    let name = Names::of(nest).free(&first.unwrap_or(&outer.name).derived("s"));

    let mut slabs: Option<Range> = None;
    // The new range of each loop covers the iterations that any cut loop inside of it needs.
    let mut ranges: Vec<(&[usize], Range)> = Vec::new();
    for position in &positions {
        let loops = chain(nest, position);
        let l = loops[position.len() - 1];
        let mut boxes = Bounds::open(nest, loops.iter().map(|l| &***l));
        let beyond = beyond(nest, position, factors)?;
        let value = Affine::iterator(l.name.clone()).plus(&beyond);
        let all: Vec<&Loop> = loops.iter().map(|l| &***l).collect();
        let ends = ends(nest, &value, &boxes, &all);
        let quotients = ends.and_then(|[low, high]| {
            let (low, high) = (low.quotient_of_sizes(size)?, high.quotient_of_sizes(size)?);
            Some([low, high.plus_constant(1)])
        });
        let [low, high] = quotients.ok_or_else(|| not_constant(nest, l))?;
        let range = Range::between(low, high);
        let slab = Loop::serial(name.clone(), range, Vec::new());
        boxes.enter(&slab);
        let start = Affine::iterator(name.clone()).times(size).minus(&beyond);
        let mut cut = Loop::clone(l);
        cut.range.upper.push(start.plus_constant(size));
        cut.range.lower.push(start);

        let inside = &loops[around.len() - 1..position.len() - 1];
        inside.iter().try_for_each(|l| check_step(nest, l))?;
        let band = [&slab].into_iter().chain(inside.iter().map(|l| &***l));
        let band: Vec<&Loop> = band.chain([&cut]).collect();
        let own = project::permuted_ranges(&band, &boxes);
        let own = own.map_err(|division| needs_division(nest, &division))?;
        let mut own = own.into_iter();
        let widest = |known: Option<&Range>, own: Range| match known {
            None => Ok(own),
            Some(known) => hull(&boxes, known, &own).ok_or_else(|| not_constant(nest, outer)),
        };
        if let Some(own) = own.next() {
            slabs = Some(widest(slabs.as_ref(), own)?);
        }
        for (depth, own) in (around.len()..position.len()).zip(own) {
            let place = &position[..depth];
            let known = ranges.iter_mut().find(|(p, _)| *p == place);
            match known {
                Some((_, range)) => {
                    *range = widest(Some(range), own)?;
                    keep(range, &loops[depth - 1].range);
                }
                None => ranges.push((place, own)),
            }
        }
        ranges.push((position, cut.range));
    }
    let mut cut = nest.clone();
    for (place, range) in ranges {
        let l = Loop {
            range,
            ..last(&cut, place).clone()
        };
        cut = cut.with_trees(splice(cut.trees(), place, vec![Tree::of_loop(l)]));
    }
    let Some(slabs) = slabs else {
        return Err(not_constant(nest, outer));
    };
    let outer = Tree::of_loop(last(&cut, &around).clone());
    let slabs = Tree::of_loop(Loop {
        lineage: Lineage::of(Role::Outer),
        ..Loop::serial(name, slabs, vec![outer])
    });
    Ok(nest.with_trees(splice(cut.trees(), &around, vec![slabs])))
}

/// Adds a loop's old bounds, unless others are at least as tight.
fn keep(range: &mut Range, had: &Range) {
    let ends = [
        (&mut range.lower, &had.lower, 1),
        (&mut range.upper, &had.upper, -1),
    ];
    for (bounds, had, sign) in ends {
        for bound in had {
            let tighter = |b: &Affine| b.minus(bound).as_constant().is_some_and(|d| d * sign >= 0);
            if !bounds.iter().any(tighter) {
                bounds.push(bound.clone());
            }
        }
    }
}

/// The sum of factors times iterators of loops around the position.
fn beyond(nest: &Nest, position: &[usize], factors: &[(&str, i64)]) -> Result<Affine, Error> {
    let mut sum = Affine::constant(0);
    for (name, factor) in factors {
        let around = find(nest, &LoopRef::Name((*name).to_owned()), &FACTORS)?;
        let outer = last(nest, &around).name.clone();
        if around.len() >= position.len() || !position.starts_with(&around) {
            let inner = &last(nest, position).name;
            return Err(not_inside(nest, inner, &outer).at(&FACTORS));
        }
        sum = sum.plus(&Affine::iterator(outer).times(*factor));
    }
    Ok(sum)
}

fn last<'a>(nest: &'a Nest, position: &[usize]) -> &'a Loop {
    chain(nest, position)[position.len() - 1]
}

/// The positions of the listed loops inside of the loop at `around`. Together they contain all of
/// its statements, each in exactly one of them.
fn covering(nest: &Nest, around: &[usize], listed: &[LoopRef]) -> Result<Vec<Position>, Error> {
    let outer = &last(nest, around).name;
    let mut positions: Vec<Position> = Vec::with_capacity(listed.len());
    for reference in listed {
        let position = find(nest, reference, &LOOPS)?;
        let l = last(nest, &position);
        let inner = &l.name;
        if position.len() <= around.len() || !position.starts_with(around) {
            return Err(not_inside(nest, inner, outer).at(&LOOPS));
        }
        if positions.contains(&position) {
            return Err(repeated(inner).at(&LOOPS).on(nest, [inner.clone()]));
        }
        let shares = |p: &&Position| p.starts_with(&position) || position.starts_with(p);
        if let Some(other) = positions.iter().find(shares) {
            let other = &last(nest, other).name;
            let text = format!(
                "`{inner}` and `{other}` are around the same statements, and one loop cuts each"
            );
            let culprits = [inner, other].map(Name::clone);
            return Err(mistake(text).at(&LOOPS).on(nest, culprits));
        }
        check_step(nest, l)?;
        positions.push(position);
    }
    let mut place = around.to_vec();
    match uncovered(&last(nest, around).body, &mut place, &positions) {
        None => Ok(positions),
        Some(tree) => {
            let text = format!(
                "`{}` is in `{outer}`, and in none of the loops that are listed",
                one_line(tree)
            );
            Err(mistake(text).at(&LOOPS).on(nest, [outer.clone()]))
        }
    }
}

/// The first statement outside of the loops at `positions`.
fn uncovered<'a>(
    body: &'a [Tree],
    place: &mut Position,
    positions: &[Position],
) -> Option<&'a Tree> {
    for (k, tree) in body.iter().enumerate() {
        place.push(k);
        let found = match tree {
            _ if positions.contains(place) => None,
            Tree::Loop(l) => uncovered(&l.body, place, positions),
            other => Some(other),
        };
        place.pop();
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The least and the greatest value of an expression, in terms of sizes where there are some.
fn ends(nest: &Nest, value: &Affine, boxes: &Bounds, loops: &[&Loop]) -> Option<[Affine; 2]> {
    if !nest.is_sized() {
        let (low, high) = boxes.interval(value)?;
        return Some([low, high].map(Affine::constant));
    }
    let low = greatest_for_sizes(&value.times(-1), loops)?.times(-1);
    Some([low, greatest_for_sizes(value, loops)?])
}
