//! Loops and their modes.

use super::{Lineage, Loop, Tree};
use crate::ir::mode::{Axis, Level, Mode, Sharing};
use crate::ir::name::Name;
use crate::ir::range::{Hints, Range};

impl PartialEq for Loop {
    fn eq(&self, other: &Loop) -> bool {
        self.has_head_of(other) && self.body == other.body
    }
}

impl Eq for Loop {}

impl Loop {
    /// A serial loop without hints.
    pub fn serial(name: Name, range: Range, body: Vec<Tree>) -> Loop {
        Loop {
            name,
            range,
            mode: Mode::Serial,
            hints: Hints::default(),
            body,
            lineage: Lineage::default(),
        }
    }

    /// Whether both have one name, and run the same range in the same mode with the same hints.
    pub fn has_head_of(&self, other: &Loop) -> bool {
        (&self.name, &self.range) == (&other.name, &other.range) && self.runs_like(other)
    }

    /// Whether both have the same mode and hints.
    pub fn runs_like(&self, other: &Loop) -> bool {
        self.mode == other.mode && self.hints == other.hints
    }

    /// Whether iterations run in order.
    pub fn is_serial(&self) -> bool {
        self.mode == Mode::Serial
    }

    /// Whether iterations may run on several threads.
    pub fn is_parallel(&self) -> bool {
        self.sharing().is_some()
    }

    /// Whether iterations may run in vector lanes.
    pub fn is_vector(&self) -> bool {
        match self.mode {
            Mode::Vector { .. } | Mode::ParallelVector { .. } => true,
            Mode::Serial | Mode::Parallel { .. } | Mode::Bound { .. } => false,
        }
    }

    /// How threads share the iterations if the loop is parallel.
    pub fn sharing(&self) -> Option<Sharing> {
        match self.mode {
            Mode::Parallel { sharing } | Mode::ParallelVector { sharing, .. } => Some(sharing),
            Mode::Serial | Mode::Vector { .. } | Mode::Bound { .. } => None,
        }
    }

    /// The axis of a device that runs the iterations.
    pub fn axis(&self) -> Option<Axis> {
        match self.mode {
            Mode::Bound { axis } => Some(axis),
            Mode::Serial
            | Mode::Parallel { .. }
            | Mode::Vector { .. }
            | Mode::ParallelVector { .. } => None,
        }
    }

    /// Whether blocks of a device run the iterations.
    pub fn is_grid(&self) -> bool {
        self.axis().is_some_and(|axis| axis.of == Level::Grid)
    }

    /// Whether the threads of a block of a device run the iterations.
    pub fn is_block(&self) -> bool {
        self.axis().is_some_and(|axis| axis.of == Level::Block)
    }

    /// The number of perfectly nested loops, from this one on, that share their combined
    /// iterations: 1 unless the loop is parallel.
    pub fn collapse(&self) -> usize {
        self.sharing().unwrap_or_default().collapse
    }

    /// How many loops inside, from the next one on, share their iterations with a parallel loop.
    /// `band` loops from this one on do so with a loop around.
    pub fn band_inside(&self, band: usize) -> usize {
        let band = self.sharing().map_or(band, |sharing| sharing.collapse);
        band.saturating_sub(1)
    }

    /// Whether iterations may update the same elements, by atomic operations.
    pub fn is_atomic(&self) -> bool {
        self.sharing().unwrap_or_default().atomic
    }

    /// The number of lanes of a vector loop. `None` leaves it to the compiler.
    pub fn lanes(&self) -> Option<i64> {
        match self.mode {
            Mode::Vector { lanes } | Mode::ParallelVector { lanes, .. } => lanes,
            Mode::Serial | Mode::Parallel { .. } | Mode::Bound { .. } => None,
        }
    }

    /// The most iterations that run at the same time, if the mode says so. Lanes run this many at
    /// a time; threads run any number.
    pub fn at_a_time(&self) -> Option<i64> {
        match self.mode {
            Mode::Vector { lanes } => lanes,
            Mode::Serial
            | Mode::Parallel { .. }
            | Mode::ParallelVector { .. }
            | Mode::Bound { .. } => None,
        }
    }
}
