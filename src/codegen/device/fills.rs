//! Spreads initializations over the threads of a device.
//!
//! A fill outside of all block loops would run on one thread. In a block, its last dimension is
//! dealt out to the threads. A fill of the processor becomes a grid: blocks of threads along the
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

/// Loops over parts of the last dimension that `threads` threads fill at a time: the loop over
/// parts, to be bound or not, and the fill in it.
fn parts(fill: &Fill, threads: i64, number: &mut usize) -> Option<(Name, Range, Tree)> {
    let last = fill.region.len().checked_sub(1)?;
    let extent = fill.region[last].1.clone();
    let (outer, inner) = (name(number, "part"), name(number, "element"));
    let first = Affine::iterator(outer.clone()).times(threads);
    let one = element(fill, last, &Affine::iterator(inner.clone()));
    let range = Range {
        lower: vec![first.clone()],
        upper: vec![first.plus_constant(threads), extent.clone()],
        step: 1,
        within: None,
    };
    let body = vec![Tree::Fill(Arc::new(one))];
    let inner = bound(inner, range, Level::Block, 0, body);
    let count = extent.plus_constant(threads - 1);
    let count = match count.as_constant() {
        Some(count) => Affine::constant(count.max(0) / threads),
        None => count.quotient_of_sizes(threads)?,
    };
    Some((outer, Range::between(Affine::constant(0), count), inner))
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
    let (outer, range, inner) = parts(&whole, threads, number)?;
    let mut tree = bound(outer, range, Level::Grid, 0, vec![inner]);
    for (k, (l, range)) in around.into_iter().enumerate() {
        tree = bound(l, range, Level::Grid, k + 1, vec![tree]);
    }
    Some(tree)
}

/// Trees of a block whose fills run on all of its `threads` in x.
pub(super) fn spread(trees: &[Tree], threads: i64, number: &mut usize) -> Vec<Tree> {
    let in_block = |tree: &Tree, number: &mut usize| match tree {
        Tree::Loop(l) if !l.is_block() => Tree::of_loop(Loop {
            body: spread(&l.body, threads, number),
            ..(**l).clone()
        }),
        Tree::Fill(fill) if threads > 1 && !is_single(fill) => match parts(fill, threads, number) {
            Some((outer, range, inner)) => Tree::of_loop(Loop::serial(outer, range, vec![inner])),
            None => tree.clone(),
        },
        tree => tree.clone(),
    };
    trees.iter().map(|tree| in_block(tree, number)).collect()
}

/// Whether a fill has one element along its last dimension.
fn is_single(fill: &Fill) -> bool {
    let last = fill.region.last();
    last.is_none_or(|(_, extent)| extent.as_constant() == Some(1))
}
