//! Definitions whose loops stay as they are: local tensors, and initializations in loops.
//!
//! A local tensor is one variable for Pluto, as a scalar is that an iteration sets and reads: each
//! iteration of the loop around it waits for the one before. Pluto renames nothing, so that loop is
//! serial, and nothing inside leaves it. What is left to find are the loops inside that are
//! parallel.

use super::error::NoSchedule;
use super::options::Options;
use super::work::named;
use crate::ir::{Affine, Arg, Index, Loop, Name, Nest, Tree};
use crate::legality::{Reductions, Verdict, check};
use crate::nest::mode::{PARALLELIZE, VECTORIZE};
use crate::{Op, Value, apply};

/// The nest with its outermost parallel loops on threads, and innermost ones that are parallel and
/// move through neighbors as vector loops.
pub(super) fn kept(nest: &Nest, options: &Options) -> Nest {
    let mut result = nest.clone();
    let loops = nest.loops();
    let mut threads: Vec<&Name> = Vec::new();
    for (around, l) in &loops {
        let is_inside = around.iter().any(|outer| threads.contains(&&outer.name));
        if !options.parallel || is_inside {
            continue;
        }
        if let Some(legal) = marked(&result, &PARALLELIZE, &l.name) {
            result = legal;
            threads.push(&l.name);
        }
    }
    for (_, l) in &loops {
        if !options.prevector || !moves_through_neighbors(l) {
            continue;
        }
        result = marked(&result, &VECTORIZE, &l.name).unwrap_or(result);
    }
    result
}

/// The nest with a loop marked, where that is legal.
fn marked(nest: &Nest, op: &'static Op, name: &Name) -> Option<Nest> {
    let args = [Arg::Nest(nest.clone()), named(name)];
    let Ok(Value::Nest(marked)) = apply(op, &args, None) else {
        return None;
    };
    let verdict = check(std::slice::from_ref(&marked), Reductions::Strict);
    (verdict == Verdict::Legal).then_some(marked)
}

/// Whether a loop executes statements alone, whose accesses it leaves where they are or moves to
/// an element beside.
pub(super) fn moves_through_neighbors(l: &Loop) -> bool {
    let near = |index: &[Affine]| {
        let moved = index.iter().map(|a| a.coefficient(&l.name));
        let moved: Vec<i64> = moved.collect();
        moved.split_last().is_none_or(|(last, others)| {
            (-1..=1).contains(last) && others.iter().all(|by| *by == 0)
        })
    };
    l.body.iter().all(|tree| match tree {
        Tree::Stmt(s) => {
            let mut all = near(&s.index);
            s.value.for_each_access(&mut |_, index| {
                if let Index::At(index) = index {
                    all &= near(index);
                }
            });
            all
        }
        _ => false,
    })
}

impl NoSchedule {
    /// Whether loops have to stay as they are, instead of none being found.
    pub(super) fn keeps_loops(&self) -> bool {
        matches!(
            self,
            NoSchedule::Local { .. } | NoSchedule::Initialized { .. }
        )
    }
}
