//! Records which iterations of parallel and vector loops touch an element.

use super::answer::Policy;
use super::executed::Executed;
use crate::ir::{BinaryOp, Loop, Stmt};
use std::rc::Rc;

/// An iteration of a parallel or vector loop.
pub(super) struct Iteration<'a> {
    pub(super) of: &'a Loop,
    /// The number of the loop's execution, unique among all loops.
    pub(super) execution: u64,
    pub(super) value: i64,
    /// The number of iterations that run at a time. `None` for any number.
    pub(super) at_a_time: Option<i64>,
    /// Whether updates are atomic.
    pub(super) atomic: bool,
}

/// The kind of an access to an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    /// Any write but these two.
    Write,
    /// Adds to it or subtracts from it, in any order.
    Sum,
    /// Multiplies it, in any order.
    Product,
}

impl Access {
    const ALL: [Access; 4] = [Access::Write, Access::Sum, Access::Product, Access::Read];

    /// The access of a statement to its target.
    pub(super) fn of(s: &Stmt, policy: Policy) -> Access {
        let any_order = policy == Policy::Reassociate || !s.target.elem().is_float();
        match s.update {
            Some(BinaryOp::Add | BinaryOp::Sub) if any_order => Access::Sum,
            Some(BinaryOp::Mul) if any_order => Access::Product,
            _ => Access::Write,
        }
    }

    /// Whether two iterations may do this and that to one element at the same time.
    fn may_meet(self, other: Access, atomic: bool) -> bool {
        match self {
            Access::Read => other == Access::Read,
            Access::Write => false,
            Access::Sum | Access::Product => atomic && self == other,
        }
    }
}

impl Iteration<'_> {
    /// Whether it may run at the same time as an earlier iteration.
    fn meets(&self, earlier: i64) -> bool {
        let apart = (self.value - earlier) / self.of.range.stride();
        self.at_a_time.is_none_or(|n| apart < n)
    }
}

/// An iteration, and its access to the element.
pub(super) type IterationAccess<'a> = (i64, Rc<Executed<'a>>);

/// The accesses to an element, for each parallel or vector loop around it, outermost first.
#[derive(Clone, Default)]
pub(super) struct Touches<'a>(Vec<Touch<'a>>);

#[derive(Clone)]
struct Touch<'a> {
    execution: u64,
    /// Those of each kind, in the order of [`Access::ALL`].
    latest: [Latest<'a>; 4],
}

/// The accesses of the latest two iterations, the latest one first.
#[derive(Clone, Default)]
struct Latest<'a>([Option<IterationAccess<'a>>; 2]);

impl<'a> Latest<'a> {
    /// The latest access by another iteration.
    fn before(&self, value: i64) -> Option<&IterationAccess<'a>> {
        self.0.iter().flatten().find(|(other, _)| *other != value)
    }

    fn add(&mut self, access: IterationAccess<'a>) {
        let [latest, before] = &mut self.0;
        if latest.as_ref().is_some_and(|(value, _)| *value != access.0) {
            *before = latest.take();
        }
        *latest = Some(access);
    }
}

impl<'a> Touches<'a> {
    /// Adds an access. On a conflict, returns the loop and the two iterations.
    pub(super) fn touch(
        &mut self,
        around: &[Iteration<'a>],
        by: &Rc<Executed<'a>>,
        access: Access,
    ) -> Result<(), (&'a Loop, [IterationAccess<'a>; 2])> {
        for (level, iteration) in around.iter().enumerate() {
            let is_same = |t: &Touch| t.execution == iteration.execution;
            if !self.0.get(level).is_some_and(is_same) {
                // The entries of inner loops belong to another iteration.
                self.0.truncate(level);
                self.0.push(Touch {
                    execution: iteration.execution,
                    latest: Default::default(),
                });
            }
            let Some(touch) = self.0.get_mut(level) else {
                continue;
            };
            let own = (iteration.value, by.clone());
            for (kind, latest) in Access::ALL.into_iter().zip(&mut touch.latest) {
                let earlier = latest.before(iteration.value);
                let earlier = earlier.filter(|_| !access.may_meet(kind, iteration.atomic));
                if let Some(other) = earlier.filter(|(value, _)| iteration.meets(*value)) {
                    return Err((iteration.of, [other.clone(), own]));
                }
            }
            for (kind, latest) in Access::ALL.into_iter().zip(&mut touch.latest) {
                if kind == access {
                    latest.add(own.clone());
                }
            }
        }
        Ok(())
    }
}
