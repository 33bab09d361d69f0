//! Executes what the threads of a device do, in the order of the text, and watches who touches
//! which element. If one thread of a block writes an element, another one may touch it only after all
//! threads have waited. Lanes of one warp, whose other coordinates are the same, may wait for each
//! other alone. Or they pass an element on: then its owner wrote it in an earlier phase.
//!
//! This decides synchronization at given sizes, by execution. It shares no code with the proofs, and
//! tests them.

use super::Fault;
use crate::ir::{Affine, Axis, Expr, Index, Loop, Name, Node, Tensor, Tree};
use std::collections::HashMap;

/// The coordinates of a thread of a block.
pub type Thread = [i64; Axis::OF_THREADS];

/// Two threads that touch one element without a barrier in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    pub tensor: Name,
    pub element: Vec<i64>,
    /// The threads. The second one came later.
    pub threads: [Thread; 2],
}

/// How the code of a device runs.
pub struct Run<'a> {
    /// The positions of barriers, each before the tree there, or behind the last one.
    pub barriers: &'a [Vec<usize>],
    /// The positions where the lanes of each warp wait for each other.
    pub of_warps: &'a [Vec<usize>],
    /// The distributed tensors: each thread has its own part. No barrier serves these.
    pub distributed: &'a [Name],
    /// The distributed tensors whose elements lanes pass on, at the beginning of a phase.
    pub passed: &'a [Name],
    /// The values of sizes.
    pub sizes: &'a [(Name, i64)],
}

/// The first race of trees, if there is one.
///
/// # Errors
/// [`Fault`]: a size without a value.
pub fn race(trees: &[Tree], run: &Run) -> Result<Option<Race>, Fault> {
    let mut machine = Machine {
        run,
        point: run.sizes.to_vec(),
        thread: [0; Axis::OF_THREADS],
        own: Vec::new(),
        epoch: 0,
        of_warps: 0,
        phase: 0,
        block: 0,
        touched: HashMap::new(),
        race: None,
    };
    machine.sequence(trees, &mut Vec::new(), false)?;
    Ok(machine.race)
}

impl Touched {
    fn new(since: u64) -> Touched {
        Touched {
            since,
            writers: Vec::new(),
            readers: Vec::new(),
        }
    }
}

impl Touch {
    /// Whether both threads are lanes of one warp.
    fn is_in_warp_of(&self, other: &Touch) -> bool {
        self.by[..Axis::LANE] == other.by[..Axis::LANE]
    }
}

struct Machine<'a> {
    run: &'a Run<'a>,
    point: Vec<(Name, i64)>,
    thread: Thread,
    /// The local tensors of the current thread.
    own: Vec<Name>,
    /// The number of barriers, launches and blocks before.
    epoch: u64,
    /// The number of barriers of either kind before.
    of_warps: u64,
    phase: u64,
    block: u64,
    touched: HashMap<(Name, Vec<i64>), Touched>,
    race: Option<Race>,
}

/// Who touched an element since the last barrier.
struct Touched {
    /// The epoch; for distributed tensors the block.
    since: u64,
    writers: Vec<Touch>,
    readers: Vec<Touch>,
}

/// The last access of a thread.
#[derive(Clone, Copy)]
struct Touch {
    by: Thread,
    /// How many barriers of either kind came before, or for distributed tensors, how many phases.
    at: u64,
}

impl Machine<'_> {
    fn sequence(
        &mut self,
        trees: &[Tree],
        position: &mut Vec<usize>,
        in_phase: bool,
    ) -> Result<(), Fault> {
        let own = self.own.len();
        for k in 0..=trees.len() {
            position.push(k);
            if self.run.barriers.contains(position) {
                self.epoch += 1;
                self.of_warps += 1;
            }
            if self.run.of_warps.contains(position) {
                self.of_warps += 1;
            }
            match trees.get(k) {
                None => {}
                Some(Tree::Local(tensor)) if in_phase => self.own.extend(tensor.name().cloned()),
                Some(Tree::Local(_)) => {}
                Some(Tree::Loop(l)) => self.run_loop(l, position, in_phase)?,
                Some(Tree::Stmt(s)) => {
                    self.read(&s.value)?;
                    if s.update.is_some() {
                        self.touch(&s.target, &s.index, false)?;
                    }
                    self.touch(&s.target, &s.index, true)?;
                }
                Some(Tree::Fill(fill)) => self.fill(&fill.target, &fill.region, &mut Vec::new())?,
            }
            position.pop();
            if self.race.is_some() {
                break;
            }
        }
        self.own.truncate(own);
        Ok(())
    }

    fn run_loop(
        &mut self,
        l: &Loop,
        position: &mut Vec<usize>,
        in_phase: bool,
    ) -> Result<(), Fault> {
        let lower = self.values(&l.range.lower)?.into_iter().max().unwrap_or(0);
        let upper = self.values(&l.range.upper)?.into_iter().min().unwrap_or(0);
        let dimension = l.axis().filter(|_| l.is_block()).map(|axis| axis.dimension);
        if dimension.is_some() && !in_phase {
            self.phase += 1;
        }
        let mut value = lower;
        while value < upper && self.race.is_none() {
            if l.is_grid() {
                self.epoch += 1;
                self.block += 1;
            }
            if let Some(dimension) = dimension {
                self.thread[dimension] = value - lower;
            }
            self.point.push((l.name.clone(), value));
            self.sequence(&l.body, position, in_phase || dimension.is_some())?;
            self.point.pop();
            value += l.range.step;
        }
        if let Some(dimension) = dimension {
            self.thread[dimension] = 0;
        }
        Ok(())
    }

    fn read(&mut self, value: &Expr) -> Result<(), Fault> {
        match value.node() {
            Node::Access {
                tensor,
                index: Index::At(index),
            } => self.touch(tensor, index, false),
            Node::Access { tensor, .. } => self.touch(tensor, &[], false),
            Node::Binary { left, right, .. } => {
                self.read(left)?;
                self.read(right)
            }
            Node::Apply { args, .. } => args.iter().try_for_each(|arg| self.read(arg)),
            _ => Ok(()),
        }
    }

    fn fill(
        &mut self,
        tensor: &Tensor,
        region: &[(Affine, Affine)],
        element: &mut Vec<i64>,
    ) -> Result<(), Fault> {
        let Some((low, extent)) = region.get(element.len()) else {
            self.touch_element(tensor, element.clone(), true);
            return Ok(());
        };
        let (low, extent) = (self.value(low)?, self.value(extent)?);
        for k in low..low + extent {
            element.push(k);
            self.fill(tensor, region, element)?;
            element.pop();
        }
        Ok(())
    }

    fn touch(&mut self, tensor: &Tensor, index: &[Affine], writes: bool) -> Result<(), Fault> {
        let element = self.values(index)?;
        self.touch_element(tensor, element, writes);
        Ok(())
    }

    fn touch_element(&mut self, tensor: &Tensor, element: Vec<i64>, writes: bool) {
        let Some(name) = tensor.name().filter(|name| !self.own.contains(name)) else {
            return;
        };
        let is_passed = self.run.passed.contains(name);
        let is_distributed = is_passed || self.run.distributed.contains(name);
        let (since, at) = match is_distributed {
            true => (self.block, self.phase),
            false => (self.epoch, self.of_warps),
        };
        let touched = self.touched.entry((name.clone(), element.clone()));
        let touched = touched.or_insert(Touched::new(since));
        if touched.since != since {
            *touched = Touched::new(since);
        }
        let new = Touch {
            by: self.thread,
            at,
        };
        // Lanes do so in order, if a barrier or the beginning of a phase is between them.
        let may_wait = is_passed || !is_distributed;
        let is_in_order = |other: &Touch| may_wait && other.is_in_warp_of(&new) && other.at < at;
        let collides = |other: &&Touch| other.by != new.by && !is_in_order(other);
        // An element of a distributed tensor belongs to whoever writes it.
        let is_taken =
            |other: &&Touch| collides(other) || is_passed && writes && other.by != new.by;
        let reads_count = writes || is_distributed && !is_passed;
        let mut readers = touched.readers.iter().filter(|_| reads_count);
        let writer = touched.writers.iter().find(is_taken);
        let first = writer.or_else(|| readers.find(collides));
        if let Some(first) = first {
            self.race = Some(Race {
                tensor: name.clone(),
                element,
                threads: [first.by, new.by],
            });
        } else {
            let known = match writes {
                true => &mut touched.writers,
                false => &mut touched.readers,
            };
            known.retain(|other| other.by != new.by);
            known.push(new);
        }
    }

    fn values(&self, bounds: &[Affine]) -> Result<Vec<i64>, Fault> {
        bounds.iter().map(|bound| self.value(bound)).collect()
    }

    fn value(&self, index: &Affine) -> Result<i64, Fault> {
        let value = |name: &Name| {
            let known = self.point.iter().rev().find(|(known, _)| known == name);
            known.map(|(_, value)| *value)
        };
        let value = index.evaluate(&value);
        value.ok_or_else(|| Fault::Meaningless(index.to_string()))
    }
}
