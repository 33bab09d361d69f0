//! Definitions whose loops stay as they are: local tensors, and initializations in loops.
//!
//! Pluto treats a local tensor as one variable, like a scalar that an iteration sets and reads.
//! Each iteration of the loop around it has to wait for the previous one. Pluto does not rename
//! variables, so that loop is serial and nothing can leave it. Only parallel loops inside remain to
//! be found.

use super::error::NoSchedule;
use super::options::Options;
use super::work::named;
use crate::ir::{Affine, Arg, Index, Loop, Name, Nest, Tree};
use crate::legality::{Reductions, Verdict, check};
use crate::nest::mode::{PARALLELIZE, VECTORIZE};
use crate::{Op, Value, apply};

/// The nest with its outermost parallel loops on threads. Innermost parallel loops with unit stride
/// become vector loops.
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

/// The nest with a loop marked, if that is legal.
fn marked(nest: &Nest, op: &'static Op, name: &Name) -> Option<Nest> {
    let args = [Arg::Nest(nest.clone()), named(name)];
    let Ok(Value::Nest(marked)) = apply(op, &args, None) else {
        return None;
    };
    let verdict = check(std::slice::from_ref(&marked), Reductions::Strict);
    (verdict == Verdict::Legal).then_some(marked)
}

/// Whether a loop executes only statements with accesses that are invariant or have unit stride, in
/// either direction.
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
    /// Whether the loops have to stay as they are, rather than that no schedule was found.
    pub(super) fn keeps_loops(&self) -> bool {
        matches!(
            self,
            NoSchedule::Local { .. } | NoSchedule::Initialized { .. }
        )
    }
}
