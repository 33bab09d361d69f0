//! Bounds that follow from others, in relations between iterators that boxes do not see: in the
//! tiles `j_o < i_o` below the diagonal of a triangle, `8*j_o + 8 <= 8*i_o` always holds.

use crate::ir::{Affine, Loop, Range, Tree};
use std::sync::Arc;

/// How many bounds are tried to show one inequality.
const MAX_TRIED: usize = 256;

/// The trees without the bounds that others imply; `around` are the loops around, outermost first.
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

/// The ranges of the loops of a chain, outermost first, without the bounds that others imply.
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
        lower: tightest(&range.lower, &|a, b| is_never_negative(&a.minus(b), around)),
        upper: tightest(&range.upper, &|a, b| is_never_negative(&b.minus(a), around)),
        step: range.step,
    }
}

/// The bounds but for those that another one is at least as tight as.
fn tightest(bounds: &[Affine], tighter: &dyn Fn(&Affine, &Affine) -> bool) -> Vec<Affine> {
    let mut left = bounds.to_vec();
    let mut at = 0;
    while at < left.len() {
        let mut others = left.iter().enumerate().filter(|(k, _)| *k != at);
        match others.any(|(_, other)| tighter(other, &left[at])) {
            true => {
                left.remove(at);
            }
            false => at += 1,
        }
    }
    left
}

/// Whether a value is shown to be at least 0 in all iterations of the loops `around`: iterators are
/// replaced by their bounds, the innermost first. `false` says nothing.
pub fn is_never_negative(value: &Affine, around: &[&Loop]) -> bool {
    let mut tries = MAX_TRIED;
    holds(value, around, &mut tries)
}

fn holds(value: &Affine, around: &[&Loop], tries: &mut usize) -> bool {
    if let Some(constant) = value.as_constant() {
        return constant >= 0;
    }
    let Some((l, outer)) = around.split_last() else {
        return false;
    };
    let factor = value.coefficient(&l.name);
    if factor == 0 {
        return holds(value, outer, tries);
    }
    let bounds = match factor > 0 {
        true => &l.range.lower,
        false => &l.range.upper,
    };
    bounds.iter().any(|bound| {
        if *tries == 0 {
            return false;
        }
        *tries -= 1;
        let last = match factor > 0 {
            true => bound.clone(),
            false => bound.plus_constant(-1),
        };
        let at = value.substitute(&|name| (*name == l.name).then(|| last.clone()));
        at.is_in_limits() && holds(&at, outer, tries)
    })
}
