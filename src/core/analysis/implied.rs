//! Bounds implied by others, through relations between iterators that boxes cannot express. In the
//! tiles `j_o < i_o` below the diagonal of a triangle, `8*j_o + 8 <= 8*i_o` always holds. `peel`
//! drops such bounds, so that tiles beside the diagonal are full.

use super::facts::{Equal, Prover, binding};
use crate::ir::{Loop, Range, Tree};
use std::sync::Arc;

/// The trees without implied bounds. `around` are the loops around them, outermost first.
pub fn simplified(trees: &[Tree], around: &[&Loop]) -> Vec<Tree> {
    within(trees, around, &mut Prover::default())
}

fn within(trees: &[Tree], around: &[&Loop], prover: &mut Prover) -> Vec<Tree> {
    let one = |tree: &Tree| match tree {
        Tree::Loop(l) => {
            let simple = Loop {
                range: needed(&l.range, around, prover),
                ..(**l).clone()
            };
            let inside: Vec<&Loop> = around.iter().copied().chain([&simple]).collect();
            let body = within(&simple.body, &inside, prover);
            Tree::of_loop(Loop { body, ..simple })
        }
        _ => tree.clone(),
    };
    trees.iter().map(one).collect()
}

/// The ranges of a chain of loops, outermost first, without implied bounds.
pub fn simplified_chain(loops: &[&Arc<Loop>], ranges: Vec<Range>) -> Vec<Range> {
    let mut prover = Prover::default();
    let mut done: Vec<Loop> = Vec::with_capacity(loops.len());
    for (l, range) in loops.iter().zip(ranges) {
        let around: Vec<&Loop> = done.iter().collect();
        let range = needed(&range, &around, &mut prover);
        done.push(Loop {
            range,
            body: Vec::new(),
            ..(***l).clone()
        });
    }
    done.into_iter().map(|l| l.range).collect()
}

/// A range without implied bounds, in these loops.
pub fn simplified_range(range: &Range, around: &[&Loop]) -> Range {
    needed(range, around, &mut Prover::default())
}

fn needed(range: &Range, around: &[&Loop], prover: &mut Prover) -> Range {
    Range {
        lower: binding(&range.lower, Equal::Constant, |a, b| {
            prover.shows(&a.minus(b), around)
        }),
        upper: binding(&range.upper, Equal::Constant, |a, b| {
            prover.shows(&b.minus(a), around)
        }),
        ..range.clone()
    }
}
