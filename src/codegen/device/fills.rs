//! Spreads initializations over the threads of a device.
//!
//! A fill outside of all block loops would run on one thread. In a block, its last dimension is
//! dealt out to the threads. If a block has lanes, they get it, and threads the one before it. A fill of the processor becomes a grid: blocks of threads along the
//! last dimension, and blocks over the two before it. All elements of a fill are different, so that
//! needs no proof.

use crate::ir::{Affine, Axis, Fill, Level, Loop, Mode, Name, Range, Tree};
use std::sync::Arc;

/// The name of the loop number `part` of a fill. Scripts cannot use it.
fn name(number: &mut usize, part: &str) -> Name {
    *number += 1;
    Name::generated(0).derived(format!("{part}_{number}"))
}

fn bound(name: Name, range: Range, of: Level, dimension: usize, body: Vec<Tree>) -> Tree {
    let axis = Axis { of, dimension };
    Tree::of_loop(Loop {
        mode: Mode::Bound { axis },
        ..Loop::serial(name, range, body)
    })
}

/// One element of a dimension, at `at`.
fn element(fill: &Fill, dimension: usize, at: &Affine) -> Fill {
    let mut region = fill.region.clone();
    let (low, _) = &region[dimension];
    region[dimension] = (low.plus(at), Affine::constant(1));
    Fill {
        region,
        ..fill.clone()
    }
}

/// A loop, to be bound or not.
type Over = (Name, Range);

/// Loops over parts of a dimension that `threads` threads fill at a time, if there are several, and
/// over the elements of a part; the fill in them.
fn parts(
    fill: &Fill,
    dimension: usize,
    threads: i64,
    number: &mut usize,
) -> Option<(Option<Over>, Over, Fill)> {
    let extent = fill.region[dimension].1.clone();
    if extent.as_constant().is_some_and(|extent| extent <= threads) {
        let inner = name(number, "element");
        let one = element(fill, dimension, &Affine::iterator(inner.clone()));
        let all = Range::between(Affine::constant(0), extent);
        return Some((None, (inner, all), one));
    }
    let (outer, inner) = (name(number, "part"), name(number, "element"));
    let first = Affine::iterator(outer.clone()).times(threads);
    let one = element(fill, dimension, &Affine::iterator(inner.clone()));
    let range = Range {
        lower: vec![first.clone()],
        upper: vec![first.plus_constant(threads), extent.clone()],
        step: 1,
        within: None,
    };
    let count = extent.plus_constant(threads - 1);
    let count = match count.as_constant() {
        Some(count) => Affine::constant(count.max(0) / threads),
        None => count.quotient_of_sizes(threads)?,
    };
    let all = Range::between(Affine::constant(0), count);
    Some((Some((outer, all)), (inner, range), one))
}

/// A fill of the processor as a grid of blocks with so many threads; `None` if it has no dimension.
pub(super) fn grid(fill: &Fill, threads: i64, number: &mut usize) -> Option<Tree> {
    let mut whole = fill.clone();
    let mut around = Vec::new();
    for dimension in (0..fill.region.len().saturating_sub(1)).rev().take(2) {
        let l = name(number, "row");
        let extent = fill.region[dimension].1.clone();
        whole = element(&whole, dimension, &Affine::iterator(l.clone()));
        around.push((l, Range::between(Affine::constant(0), extent)));
    }
    let last = fill.region.len().checked_sub(1)?;
    let (outer, (inner, range), one) = parts(&whole, last, threads, number)?;
    let one_block = |number: &mut usize| {
        let all = Range::between(Affine::constant(0), Affine::constant(1));
        (name(number, "part"), all)
    };
    let (outer, all) = outer.unwrap_or_else(|| one_block(number));
    let body = vec![Tree::Fill(Arc::new(one))];
    let inner = bound(inner, range, Level::Block, 0, body);
    let mut tree = bound(outer, all, Level::Grid, 0, vec![inner]);
    for (k, (l, range)) in around.into_iter().enumerate() {
        tree = bound(l, range, Level::Grid, k + 1, vec![tree]);
    }
    Some(tree)
}

/// Trees of a block whose fills run on all of its threads in x, and on all of their lanes.
pub(super) fn spread(trees: &[Tree], threads: [i64; 2], number: &mut usize) -> Vec<Tree> {
    let in_block = |tree: &Tree, number: &mut usize| match tree {
        Tree::Loop(l) if !l.is_block() => Tree::of_loop(Loop {
            body: spread(&l.body, threads, number),
            ..(**l).clone()
        }),
        Tree::Fill(fill) => dealt(fill, threads, number).unwrap_or_else(|| tree.clone()),
        tree => tree.clone(),
    };
    trees.iter().map(|tree| in_block(tree, number)).collect()
}

/// A fill on the threads of a block. `None` if it has nothing to share out.
fn dealt(fill: &Fill, [x, lanes]: [i64; 2], number: &mut usize) -> Option<Tree> {
    let last = fill.region.len().checked_sub(1)?;
    let mut dimensions = match lanes {
        1 => vec![(last, 0, x)],
        _ => vec![(last, Axis::LANE, lanes)],
    };
    if lanes > 1 && last > 0 {
        dimensions.push((last - 1, 0, x));
    }
    dimensions.retain(|(d, _, threads)| *threads > 1 && !is_single(fill, *d));
    let mut whole = fill.clone();
    let (mut around, mut phase) = (Vec::new(), Vec::new());
    for (dimension, axis, threads) in dimensions {
        let (outer, inner, one) = parts(&whole, dimension, threads, number)?;
        around.extend(outer);
        phase.push((inner, axis));
        whole = one;
    }
    if phase.is_empty() {
        return None;
    }
    let tree = Tree::Fill(Arc::new(whole));
    let tree = phase.into_iter().fold(tree, |tree, ((l, range), axis)| {
        bound(l, range, Level::Block, axis, vec![tree])
    });
    let serial = |tree, (l, range)| Tree::of_loop(Loop::serial(l, range, vec![tree]));
    Some(around.into_iter().fold(tree, serial))
}

/// Whether a fill has one element along a dimension.
fn is_single(fill: &Fill, dimension: usize) -> bool {
    fill.region[dimension].1.as_constant() == Some(1)
}
