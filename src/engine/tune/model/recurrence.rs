//! Recurrences: elements that a kernel computes from elements of earlier iterations.
//!
//! ```text
//! for i
//!   t = 0.5 * y[i - 1]
//!   y[i] = t + x[i]
//! ```
//!
//! Each iteration of the loop that carries `y` waits for the one before: for all operations from the
//! read of `y[i - 1]` to the write of `y[i]`, also in other statements. Compilers keep the element
//! in a register if the loop is the kernel's own, or is unrolled. Otherwise the read waits for the
//! store to be forwarded.
//!
//! Sums that update one element in all iterations are not among them (`code.rs`).

use super::copied::Copied;
use super::operations::Operations;
use super::shape::{Access, Level, Shape};
use crate::target::Pipeline;

/// An element that a later iteration needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Recurrence {
    /// The cycles from its read to the write of the next one.
    pub cycles: f64,
    pub carrier: Carrier,
}

/// The loop that carries a recurrence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Carrier {
    /// The kernel's loop: the element is needed so many iterations later. Each execution may go on
    /// where the last one ended.
    Kernel { distance: f64, goes_on: bool },
    /// An unrolled loop, so many of whose iterations wait in each iteration of the kernel's loop.
    Unrolled { waits: f64, is_carried: bool },
    /// A loop around: a share of the kernel's executions waits.
    Around(f64),
}

/// The cycles of operations, one after the other.
fn latency(operations: Operations, pipeline: &Pipeline) -> f64 {
    pipeline.addition_latency * operations.simple
        + pipeline.division_cycles * operations.divisions
        + pipeline.function_cycles * operations.functions
}

/// A kernel's statements, and the loops that may carry elements from one to another.
pub(super) struct Chains<'a> {
    pub shape: &'a Shape,
    pub pipeline: &'a Pipeline,
    pub level: Option<&'a Level>,
    pub around: &'a [&'a Level],
    pub statements: &'a [Copied<'a>],
}

impl<'a> Chains<'a> {
    /// All recurrences.
    pub fn recurrences(&self) -> Vec<Recurrence> {
        let mut found = Vec::new();
        for first in 0..self.statements.len() {
            for (read, cycles) in self.reads(first) {
                let writers = first..self.statements.len();
                let carried = writers.filter_map(|last| {
                    let write = self.write(last).filter(|w| w.tensor == read.tensor)?;
                    Some((last, self.carrier((last, write), (first, read))?))
                });
                let carried: Vec<(usize, Carrier)> = carried.collect();
                if carried.is_empty() {
                    continue;
                }
                let until = self.until(first, cycles);
                found.extend(carried.into_iter().filter_map(|(last, carrier)| {
                    let cycles = until[last - first]?;
                    Some(Recurrence { cycles, carrier })
                }));
            }
        }
        found
    }

    fn accesses(&self, k: usize) -> &'a [Access] {
        &self.shape.accesses[self.statements[k].leaf.range.clone()]
    }

    fn write(&self, k: usize) -> Option<&'a Access> {
        self.accesses(k).last().filter(|access| access.writes)
    }

    /// The reads of a statement, with the cycles until its result.
    fn reads(&self, k: usize) -> impl Iterator<Item = (&'a Access, f64)> {
        let reads = self.accesses(k).iter().filter(|access| !access.writes);
        reads.map(|access| (access, latency(access.after, self.pipeline)))
    }

    /// The cycles from a read of the statement `first` to the result of each statement from there
    /// on, if that needs it. The first result takes `cycles`.
    fn until(&self, first: usize, cycles: f64) -> Vec<Option<f64>> {
        let mut until = vec![Some(cycles)];
        for k in first + 1..self.statements.len() {
            let own = self.statements[k]
                .leaf
                .updates
                .then(|| self.write(k))
                .flatten();
            let own = own.map(|write| (write, self.pipeline.addition_latency));
            let waits = self.reads(k).chain(own).filter_map(|(read, cycles)| {
                let last = self.last_write(first..k, read)?;
                Some(until[last - first]? + cycles)
            });
            until.push(waits.reduce(f64::max));
        }
        until
    }

    /// The last of some statements that writes the element of a read.
    fn last_write(&self, mut of: std::ops::Range<usize>, read: &Access) -> Option<usize> {
        of.rfind(|k| self.write(*k).is_some_and(|write| is_same(write, read)))
    }

    /// The innermost loop that carries the element of a write to a read that comes before it.
    fn carrier(&self, write: (usize, &Access), read: (usize, &Access)) -> Option<Carrier> {
        let [of_write, of_read] = [write.0, read.0].map(|k| &self.statements[k].unrolled);
        let (first, write, read) = (read.0, write.1, read.1);
        if is_same(write, read) && self.last_write(0..first, read).is_some() {
            return None;
        }
        let is_shared = of_write.len() == of_read.len()
            && of_write
                .iter()
                .zip(of_read)
                .all(|(a, b)| std::ptr::eq(*a, *b));
        let unrolled = of_read
            .iter()
            .rev()
            .filter(|_| is_shared)
            .find_map(|level| {
                let waits = level.trips / distance(write, read, level)?;
                let is_carried = self
                    .level
                    .is_some_and(|kernel| goes_on(write, kernel, level));
                Some(Carrier::Unrolled { waits, is_carried })
            });
        let kernel = || {
            let level = self.level?;
            let distance = distance(write, read, level)?;
            let outer = self.around.last();
            let goes_on = outer.is_some_and(|outer| goes_on(write, outer, level));
            Some(Carrier::Kernel { distance, goes_on })
        };
        let around = || {
            let mut at = self.around.iter();
            let at = at.rposition(|level| distance(write, read, level).is_some())?;
            let inside = self.around[at + 1..]
                .iter()
                .map(|level| level.trips.max(1.0));
            Some(Carrier::Around(1.0 / inside.product::<f64>()))
        };
        unrolled.or_else(kernel).or_else(around)
    }
}

/// Whether two accesses of one iteration take the same element.
fn is_same(one: &Access, other: &Access) -> bool {
    one.tensor == other.tensor
        && one.index.iter().zip(&other.index).all(|(a, b)| {
            let longest = a.len().max(b.len());
            (0..longest).all(|k| coefficient(a, k) == coefficient(b, k))
        })
}

fn coefficient(linear: &[f64], k: usize) -> f64 {
    linear.get(k).copied().unwrap_or(0.0)
}

/// How many iterations of a loop after a write the element is read.
fn distance(write: &Access, read: &Access, level: &Level) -> Option<f64> {
    let mut distance = None;
    for (written, read) in write.index.iter().zip(&read.index) {
        let longest = written.len().max(read.len());
        if (1..longest).any(|k| coefficient(written, k) != coefficient(read, k)) {
            return None;
        }
        let (ahead, stride) = (written[0] - read[0], coefficient(written, level.depth + 1));
        if stride == 0.0 {
            if ahead != 0.0 {
                return None;
            }
            continue;
        }
        let own = ahead / stride;
        if own < 1.0 || own.fract() != 0.0 || *distance.get_or_insert(own) != own {
            return None;
        }
    }
    let distance = distance.unwrap_or(1.0);
    (distance < level.trips).then_some(distance)
}

/// Whether each iteration of a loop goes on where the last one of the loop inside ended.
fn goes_on(access: &Access, outer: &Level, inner: &Level) -> bool {
    let strides = access.strides(outer.depth).zip(access.strides(inner.depth));
    let mut strides = strides.map(|(outer, step)| outer == inner.trips * step);
    strides.all(|is_next| is_next)
}
