//! `tighten` leaves out iterations that execute nothing: those of loops whose inner loops are empty
//! then.
//!
//! ```rhai
//! let p = nest(`
//!   f64 A[100][100]
//!   for i_o in 0..4
//!     for j_o in 0..4
//!       for i in 25*i_o..25*i_o + 25
//!         for j in max(25*j_o, i)..25*j_o + 25
//!           for k in i..j + 1
//!             for l in k..k + 1
//!               A[i][l] += 1
//! `);
//! print(p.tighten());
//! ```
//!
//! ```text
//! f64 A[100][100]
//! for i_o in 0..4
//!   for j_o in i_o..4
//!     for i in 25*i_o..25*i_o + 25
//!       for j in max(25*j_o, i)..25*j_o + 25
//!         for k in i..j + 1
//!           A[i][k] += 1
//! ```
//!
//! A loop gets the bounds that all statements in it have, after the iterators of loops inside are
//! eliminated. Bounds that save one iteration at most are left out, and so are bounds that others
//! imply. Loops and statements that never run are dropped. A serial loop of one iteration becomes its
//! body, unless its bounds were numbers. A loop that may have none stays, and its body has the only
//! value of the iterator. Loops with steps, with threads that share several loops, in vectors, or on
//! devices keep their bounds.
//!
//! A bound that needs division, as `i_o >= j_o / 2`, is none. A parallel loop that lacks one has
//! iterations without work, so they are dealt out to threads one by one, unless it has a schedule.
//!
//! Always legal: each statement runs in the same iterations, in the same order.
//!
//! Refuses: nothing.
//!
//! Source: Ancourt and Irigoin, Scanning Polyhedra with DO Loops, 1991; what CLooG does with the
//! domains of statements.

use crate::analysis::facts::is_nonnegative;
use crate::analysis::implied::{simplified, simplified_range};
use crate::analysis::reached::{Alternative, is_never, reached};
use crate::args::NEST;
use crate::ir::{Affine, Hints, Loop, Mode, Name, Nest, Range, Schedule, Sharing, Tree};
use crate::{Op, Returns, Value};

/// `tighten(nest)`.
pub static TIGHTEN: Op = Op {
    name: "tighten",
    params: &[NEST.any()],
    returns: Returns::Nest,
    file: include_str!("tighten.rs"),
    call: |args| Ok(Value::Nest(tighten(args.get(&NEST)?))),
};

/// The nest without iterations that execute nothing.
pub fn tighten(nest: &Nest) -> Nest {
    let around: Vec<&Loop> = nest.context().iter().collect();
    let trees = tightened(nest.trees(), &around, 0);
    if trees == nest.trees() {
        return nest.clone();
    }
    nest.with_trees(simplified(&trees, &around))
}

/// The trees in a chain of loops. The first `shared` loops of them share their iterations with one
/// around.
fn tightened(trees: &[Tree], around: &[&Loop], shared: usize) -> Vec<Tree> {
    let mut left = Vec::with_capacity(trees.len());
    for tree in trees {
        let Tree::Loop(l) = tree else {
            left.push(tree.clone());
            continue;
        };
        let inside: Vec<&Loop> = around.iter().copied().chain([&**l]).collect();
        let ways = reached(&l.body).into_iter();
        let ways: Vec<Alternative> = ways.filter(|way| !is_never(way, &inside)).collect();
        if ways.is_empty() {
            continue;
        }
        let band = match l.is_parallel() {
            true => l.collapse(),
            false => shared,
        };
        let is_fixed = band > 1 || shared > 0 || l.range.within.is_some() || l.range.step != 1;
        let is_fixed = is_fixed || !matches!(l.mode, Mode::Serial | Mode::Parallel { .. });
        let range = match is_fixed {
            true => l.range.clone(),
            false => narrowed(l, &ways, around),
        };
        let mode = match is_fixed {
            true => l.mode,
            false => dealt(l, &ways, around),
        };
        let is_constant = l.range.as_constant().is_some();
        let is_fixed = is_fixed || is_constant;
        let mut l = Loop {
            range,
            mode,
            ..(**l).clone()
        };
        let only = (!is_fixed).then(|| only(&l)).flatten();
        if let Some(value) = &only {
            let map = |name: &Name| (*name == l.name).then(|| value.clone());
            l.body = l.body.iter().map(|t| t.substitute(&map)).collect();
            l.range = simplified_range(&l.range, around);
        }
        let has_local = l.body.iter().any(|t| matches!(t, Tree::Local(_)));
        let is_one = |value: &Affine| {
            let (lower, upper) = (&l.range.lower, &l.range.upper);
            *lower == [value.clone()] && *upper == [value.plus_constant(1)]
        };
        if only.as_ref().is_some_and(is_one)
            && !has_local
            && l.mode == Mode::Serial
            && l.hints == Hints::default()
        {
            left.extend(tightened(&l.body, around, 0));
            continue;
        }
        let inside: Vec<&Loop> = around.iter().copied().chain([&l]).collect();
        let body = tightened(&l.body, &inside, band.saturating_sub(1));
        left.push(Tree::of_loop(Loop { body, ..l }));
    }
    left
}

/// The range of a loop with the bounds that all ways to reach a statement in it have.
fn narrowed(l: &Loop, ways: &[Alternative], around: &[&Loop]) -> Range {
    let iterator = Affine::iterator(l.name.clone());
    let mut range = l.range.clone();
    let bounds = |range: &Range| Loop {
        range: range.clone(),
        body: Vec::new(),
        ..l.clone()
    };
    for value in ways.iter().flatten() {
        let factor = value.coefficient(&l.name);
        let own = bounds(&range);
        let inside: Vec<&Loop> = around.iter().copied().chain([&own]).collect();
        // A bound that leaves out one iteration only costs more than it saves.
        if factor.abs() != 1 || is_nonnegative(&value.plus_constant(1), &inside) {
            continue;
        }
        let misses = value.times(-1).plus_constant(-1);
        let holds = |way: &Alternative| {
            let mut all = way.clone();
            all.push(misses.clone());
            is_never(&all, &inside)
        };
        if ways.iter().all(holds) {
            match factor {
                1 => range.lower.push(iterator.minus(value)),
                _ => range.upper.push(value.plus(&iterator).plus_constant(1)),
            }
            range = simplified_range(&range, around);
        }
    }
    range
}

/// The mode of a parallel loop, whose threads share its iterations evenly although some reach nothing.
fn dealt(l: &Loop, ways: &[Alternative], around: &[&Loop]) -> Mode {
    let inside: Vec<&Loop> = around.iter().copied().chain([l]).collect();
    let is_missed = |value: &Affine| {
        let factor = value.coefficient(&l.name).abs();
        factor > 1 && !is_nonnegative(&value.plus_constant(factor), &inside)
    };
    let plain = l
        .sharing()
        .filter(|s| s.schedule.is_none() && s.chunk.is_none());
    match plain {
        Some(sharing) if ways.iter().flatten().any(is_missed) => Mode::Parallel {
            sharing: Sharing {
                schedule: Some(Schedule::Static),
                chunk: Some(1),
                ..sharing
            },
        },
        _ => l.mode,
    }
}

/// The only value that the iterator of a loop may have.
fn only(l: &Loop) -> Option<Affine> {
    let Range { lower, upper, .. } = &l.range;
    let one = |value: &&Affine| upper.contains(&value.plus_constant(1));
    lower.iter().find(one).cloned()
}
