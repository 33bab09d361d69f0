//! Records which iterations of parallel and vector loops touch an element.

use super::executed::Executed;
use crate::ir::Loop;
use std::rc::Rc;

/// An iteration of a parallel or vector loop.
pub(super) struct Iteration<'a> {
    pub(super) of: &'a Loop,
    /// The number of the loop's execution, unique among all loops.
    pub(super) execution: u64,
    pub(super) value: i64,
    /// The number of iterations that run at a time. `None` for any number.
    pub(super) at_a_time: Option<i64>,
}

impl Iteration<'_> {
    /// Whether it may run at the same time as an earlier iteration.
    fn meets(&self, earlier: i64) -> bool {
        let apart = (self.value - earlier) / self.of.range.step;
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
    writes: Latest<'a>,
    reads: Latest<'a>,
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
        writes: bool,
    ) -> Result<(), (&'a Loop, [IterationAccess<'a>; 2])> {
        for (level, iteration) in around.iter().enumerate() {
            let is_same = |t: &Touch| t.execution == iteration.execution;
            if !self.0.get(level).is_some_and(is_same) {
                // The entries of inner loops belong to another iteration.
                self.0.truncate(level);
                self.0.push(Touch {
                    execution: iteration.execution,
                    writes: Latest::default(),
                    reads: Latest::default(),
                });
            }
            let Some(touch) = self.0.get_mut(level) else {
                continue;
            };
            let own = (iteration.value, by.clone());
            let written = touch.writes.before(iteration.value);
            let read = touch.reads.before(iteration.value).filter(|_| writes);
            let mut earlier = written.into_iter().chain(read);
            if let Some(other) = earlier.find(|(value, _)| iteration.meets(*value)) {
                return Err((iteration.of, [other.clone(), own]));
            }
            if writes {
                touch.writes.add(own)
            } else {
                touch.reads.add(own)
            }
        }
        Ok(())
    }
}
