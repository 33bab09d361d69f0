//! The settings of a search: strategy, seed and budget.

use super::search::Strategy;
use super::tolerances::SEARCH_SHARE;
use std::time::{Duration, Instant};

#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// Maximum number of trials; refused points are free.
    pub trials: usize,
    /// Maximum time, including the finals.
    pub time: Option<Duration>,
    /// When that time began; `None` means with the search.
    pub begun: Option<Instant>,
    /// Maximum number of trials without improvement.
    pub patience: Option<usize>,
}

impl Budget {
    /// When the search ends if its time is limited: without the finals, and with them.
    pub(super) fn ends(&self, begun: Instant) -> Option<[Instant; 2]> {
        let (begun, time) = (self.begun.unwrap_or(begun), self.time?);
        let after = |time: Duration| begun.checked_add(time);
        Some([after(time.mul_f64(SEARCH_SHARE))?, after(time)?])
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub strategy: Strategy,
    /// The seed of random choices.
    pub seed: u64,
    pub budget: Budget,
}

/// Number of points proposed at a time. It is the same on every machine, since later proposals
/// depend on it.
pub(super) const BATCH: usize = 8;

/// The same for strategies that ignore results: larger batches share compilers better.
const LARGE_BATCH: usize = 32;

/// Number of points that a strategy proposes at a time.
pub(super) fn batch(strategy: Strategy) -> usize {
    match strategy {
        Strategy::Exhaustive | Strategy::Random => LARGE_BATCH,
        Strategy::Hill | Strategy::Evolution | Strategy::Model => BATCH,
    }
}
