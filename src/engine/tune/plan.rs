//! How to search, and when to stop.

use super::search::Strategy;
use std::time::{Duration, Instant};

/// When to stop.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// After so many trials; refused points do not count.
    pub trials: usize,
    /// After this time, which the finals are part of.
    pub time: Option<Duration>,
    /// When that began; `None` means with the search.
    pub begun: Option<Instant>,
    /// After so many trials without improvement.
    pub patience: Option<usize>,
}

/// This part of a limited time is for the search; the rest is for the finals.
const SEARCHING: f64 = 0.85;

impl Budget {
    /// When the search ends, where its time is limited; without the finals, and with them.
    pub(super) fn ends(&self, begun: Instant) -> Option<[Instant; 2]> {
        let (begun, time) = (self.begun.unwrap_or(begun), self.time?);
        let after = |time: Duration| begun.checked_add(time);
        Some([after(time.mul_f64(SEARCHING))?, after(time)?])
    }
}

/// How to search.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Which points are proposed.
    pub strategy: Strategy,
    /// What random choices follow from.
    pub seed: u64,
    /// When to stop.
    pub budget: Budget,
}

/// How many points are proposed at a time. The same everywhere, since what is proposed next depends
/// on it.
pub(super) const BATCH: usize = 8;

/// The same for searches that propose the same points whatever was found: compilers share more work.
const LARGE_BATCH: usize = 32;

/// This part of the time that is left is for proposing points, where time is limited: points whose
/// every step is proved take seconds.
pub(super) const PROPOSING: f64 = 0.2;

/// How many points a search proposes at a time.
pub(super) fn batch(strategy: Strategy) -> usize {
    match strategy {
        Strategy::Exhaustive | Strategy::Random => LARGE_BATCH,
        Strategy::Hill | Strategy::Evolution | Strategy::Model => BATCH,
    }
}
