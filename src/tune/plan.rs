//! How to search, and when to stop.

use super::search::Strategy;
use std::time::Duration;

/// When to stop.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// After so many trials; refused points do not count.
    pub trials: usize,
    /// After this time. The finals come after it.
    pub time: Option<Duration>,
    /// After so many trials without improvement.
    pub patience: Option<usize>,
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

/// How many points a search proposes at a time.
pub(super) fn batch(strategy: Strategy) -> usize {
    match strategy {
        Strategy::Exhaustive | Strategy::Random => LARGE_BATCH,
        Strategy::Hill | Strategy::Evolution | Strategy::Model => BATCH,
    }
}
