//! How threads and lanes run the trees that a plan was raised to: teams of threads, barriers, stores past
//! the caches, and dead lanes.
//!
//! Positions are those of trees: a place in each sequence, outermost first.

use crate::ir::{Affine, Loop, Tensor};
use std::ops::Range;

/// How threads and lanes run the trees of a nest.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    /// The threads that run several loops together.
    pub teams: Vec<Team>,
    /// The acts of threads between trees, in order. Each is before the tree at its position.
    pub marks: Vec<(Vec<usize>, Mark)>,
    /// The positions of the statements that store past the caches.
    pub streams: Vec<Vec<usize>>,
    /// The dead lanes.
    pub dead: Vec<DeadLanes>,
}

/// An act of a thread between two trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Its earlier stores past the caches become visible.
    Fence,
    /// It waits for all threads of its team.
    Barrier,
    /// A team begins or ends.
    Team,
}

/// Threads that all run some trees of a sequence, and share the iterations of the parallel loops.
#[derive(Clone, Debug)]
pub struct Team {
    /// The position of the tree that the sequence is the body of.
    pub sequence: Vec<usize>,
    /// The trees.
    pub trees: Range<usize>,
}

/// Lanes of a vector loop that are computed, though the loop ends before them.
#[derive(Clone, Debug)]
pub struct DeadLanes {
    /// The position of the loop.
    pub position: Vec<usize>,
    /// The lanes, as loops without bodies. Each of these runs.
    pub lanes: Vec<Loop>,
    /// The elements that they touch, and whether they write them.
    pub touched: Vec<(Tensor, Vec<Affine>, bool)>,
}

impl Team {
    /// Whether the team runs the tree at a position.
    pub(super) fn holds(&self, position: &[usize]) -> bool {
        let own = position.get(self.sequence.len());
        position.starts_with(&self.sequence) && own.is_some_and(|k| self.trees.contains(k))
    }
}
