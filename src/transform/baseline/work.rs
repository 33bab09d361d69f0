//! The nest under transformation. All steps go through `transform::apply`.

use super::error::NoSchedule;
use crate::analysis::position;
use crate::ir::{Arg, Condition, Expr, Loop, LoopRef, Name, Nest, Range, Tree};
use crate::nest::build::BUILD;
use crate::nest::distribute::DISTRIBUTE;
use crate::nest::fuse_outer::FUSE_OUTER;
use crate::nest::interchange::INTERCHANGE;
use crate::nest::place_init::PLACE_INIT;
use crate::nest::reorder::REORDER;
use crate::nest::specialize::SPECIALIZE;
use crate::{Op, apply, trace};
use std::sync::Arc;

/// A nest, and the loops around each statement of its definition.
pub(super) struct Work {
    pub(super) nest: Nest,
    /// For each statement the names of the loops around it, outermost first.
    pub(super) loops: Vec<Vec<Name>>,
}

/// The nest of all definitions, one after the other, as they were before any step. It is for the same
/// sizes.
pub(super) fn built(nests: &[Nest]) -> Result<Nest, NoSchedule> {
    let mut joined: Option<Nest> = None;
    for nest in nests {
        for next in plain(nest)? {
            joined = Some(match joined {
                None => next,
                Some(before) => done(
                    &FUSE_OUTER,
                    vec![Arg::Nest(before), Arg::Nest(next), Arg::Int(0)],
                )?,
            });
        }
    }
    let joined = joined.ok_or(NoSchedule::Unknown)?;
    let sizes = joined.sizes();
    let kept = nests.iter().flat_map(|nest| nest.condition().of());
    let kept = kept.filter(|(name, _)| sizes.contains(name));
    let mut kept = kept.map(|(name, accepted)| Condition::on(name.clone(), *accepted));
    let condition = kept.try_fold(Condition::default(), |all, one| all.and(&one));
    let condition = condition.unwrap_or_default();
    if joined.condition().implies(&condition) {
        return Ok(joined);
    }
    let condition = Arg::Word(condition.to_string());
    done(&SPECIALIZE, vec![Arg::Nest(joined), condition])
}

/// The built nests of a nest's definition, without its later steps.
fn plain(nest: &Nest) -> Result<Vec<Nest>, NoSchedule> {
    if nest.definition().is_empty() {
        return Err(NoSchedule::Unknown);
    }
    if nest.originals().iter().all(|part| !part.in_order) {
        let build = |assignment: &Expr| done(&BUILD, vec![Arg::Expr(assignment.clone())]);
        return nest.definition().iter().map(build).collect();
    }
    // The start of the path has made the loops of a part that is executed in order.
    let same = |n: &Nest| n.originals() == nest.originals();
    let steps = i64::try_from(nest.path().len()).unwrap_or(i64::MAX);
    let mut earlier = (0..steps).rev().map(|count| trace::undo(nest, count));
    let written = earlier.find_map(|n| n.ok().filter(same));
    Ok(vec![written.ok_or(NoSchedule::Unknown)?])
}

pub(super) fn done(op: &'static Op, args: Vec<Arg>) -> Result<Nest, NoSchedule> {
    Ok(apply(op, &args, None)?.nest()?)
}

/// For each statement of the definition the names of the loops around it, outermost first.
fn around(nest: &Nest) -> Vec<Vec<Name>> {
    let mut loops = vec![Vec::new(); nest.definition().len()];
    position::walk(nest.trees(), &mut |_, around, tree| {
        if let Tree::Stmt(s) = tree
            && let Some(origin) = &s.origin
            && let Some(own) = loops.get_mut(origin.assignment)
        {
            *own = around.iter().map(|l| l.name.clone()).collect();
        }
    });
    loops
}

pub(super) fn named(name: &Name) -> Arg {
    Arg::Loop(LoopRef::Name(name.to_string()))
}

pub(super) fn list(names: &[Name]) -> Arg {
    let names = names.iter().map(|n| LoopRef::Name(n.to_string()));
    Arg::Loops(names.collect())
}

impl Work {
    /// Starts from a built nest, and distributes its loops until each statement has its own. The
    /// statements `together` keep their shared outermost loop.
    pub(super) fn on(nest: Nest, together: &[usize]) -> Result<Work, NoSchedule> {
        let mut work = Work {
            loops: around(&nest),
            nest,
        };
        let outermost = together.iter().filter_map(|s| work.loops[*s].first());
        let kept: Vec<Name> = outermost.cloned().collect();
        while let Some(shared) = work.shared(&kept) {
            work.step(&DISTRIBUTE, vec![named(&shared)])?;
        }
        work.loops = around(&work.nest);
        Ok(work)
    }

    /// An innermost loop around several trees, except kept ones.
    fn shared(&self, kept: &[Name]) -> Option<Name> {
        let loops = self.nest.loops();
        let is_shared = |l: &Loop| l.body.len() > 1 && !kept.contains(&l.name);
        let shared = loops.iter().rev().find(|(_, l)| is_shared(l));
        shared.map(|(_, l)| l.name.clone())
    }

    /// The parent loop.
    pub(super) fn parent(&self, name: &Name) -> Option<Name> {
        let place = position::named(&self.nest, name.as_str()).ok()?;
        let around = place.split_last()?.1;
        let parent = position::chain(&self.nest, around);
        parent.last().map(|l| l.name.clone())
    }

    /// Applies an operation.
    pub(super) fn step(&mut self, op: &'static Op, args: Vec<Arg>) -> Result<(), NoSchedule> {
        let args = [Arg::Nest(self.nest.clone())].into_iter().chain(args);
        self.nest = done(op, args.collect())?;
        Ok(())
    }

    pub(super) fn find(&self, name: &Name) -> Option<Arc<Loop>> {
        let position = position::named(&self.nest, name.as_str()).ok()?;
        position::chain(&self.nest, &position)
            .last()
            .map(|l| (*l).clone())
    }

    pub(super) fn range(&self, name: &Name) -> Option<Range> {
        self.find(name).map(|l| l.range.clone())
    }

    /// Reorders loops from the order `now` to another one.
    pub(super) fn order(&mut self, now: &[Name], then: &[Name]) -> Result<(), NoSchedule> {
        let differ = |k: &usize| now[*k] != then[*k];
        let moved: Vec<usize> = (0..now.len()).filter(differ).collect();
        let swapped = |a: usize, b: usize| now[a] == then[b] && now[b] == then[a];
        match moved.as_slice() {
            [] => Ok(()),
            [a, b] if swapped(*a, *b) => {
                self.step(&INTERCHANGE, vec![named(&now[*a]), named(&now[*b])])
            }
            several => {
                let moved: Vec<Name> = several.iter().map(|k| then[*k].clone()).collect();
                self.step(&REORDER, vec![list(&moved)])
            }
        }
    }

    /// Moves the initialization of a tensor before everything.
    pub(super) fn begin_with(&mut self, tensor: &str) -> Result<(), NoSchedule> {
        let whole = Arg::Loop(LoopRef::Level(0));
        self.step(&PLACE_INIT, vec![whole, Arg::Word(tensor.to_owned())])
    }
}
