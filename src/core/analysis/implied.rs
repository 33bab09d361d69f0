//! Bounds implied by others, through relations between iterators that boxes cannot express. In the
//! tiles `j_o < i_o` below the diagonal of a triangle, `8*j_o + 8 <= 8*i_o` always holds. `peel`
//! drops such bounds, so that tiles beside the diagonal are full.

use super::bounds::is_nonnegative;
use crate::ir::{Affine, Loop, Range, Tree};
use std::sync::Arc;

/// The trees without implied bounds. `around` are the loops around them, outermost first.
pub fn simplified(trees: &[Tree], around: &[&Loop]) -> Vec<Tree> {
    let one = |tree: &Tree| match tree {
        Tree::Loop(l) => {
            let simple = Loop {
                range: needed(&l.range, around),
                ..(**l).clone()
            };
            let inside: Vec<&Loop> = around.iter().copied().chain([&simple]).collect();
            let body = simplified(&simple.body, &inside);
            Tree::of_loop(Loop { body, ..simple })
        }
        _ => tree.clone(),
    };
    trees.iter().map(one).collect()
}

/// The ranges of a chain of loops, outermost first, without implied bounds.
pub fn simplified_chain(loops: &[&Arc<Loop>], ranges: Vec<Range>) -> Vec<Range> {
    let mut done: Vec<Loop> = Vec::with_capacity(loops.len());
    for (l, range) in loops.iter().zip(ranges) {
        let around: Vec<&Loop> = done.iter().collect();
        let range = needed(&range, &around);
        done.push(Loop {
            range,
            body: Vec::new(),
            ..(***l).clone()
        });
    }
    done.into_iter().map(|l| l.range).collect()
}

fn needed(range: &Range, around: &[&Loop]) -> Range {
    Range {
        lower: tightest(&range.lower, &|a, b| is_nonnegative(&a.minus(b), around)),
        upper: tightest(&range.upper, &|a, b| is_nonnegative(&b.minus(a), around)),
        step: range.step,
    }
}

/// Drops each bound that another one always implies.
fn tightest(bounds: &[Affine], tighter: &dyn Fn(&Affine, &Affine) -> bool) -> Vec<Affine> {
    let mut left = bounds.to_vec();
    let mut at = 0;
    while at < left.len() {
        let mut others = left.iter().enumerate().filter(|(k, _)| *k != at);
        if others.any(|(_, other)| tighter(other, &left[at])) {
            left.remove(at);
        } else {
            at += 1
        }
    }
    left
}
