//! Facts that no system reports. They are measured (`capacity.rs`, `region.rs`) and remembered.

use serde::{Deserialize, Serialize};

/// The measured capacity of the last level of cache, for all threads of this process together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// The largest array that is read at the speed of the cache, in bytes.
    pub bytes: u64,
    /// The rate of reading arrays that fit, in units of 10^9 bytes per second.
    pub within: f64,
    /// The rate of reading the largest array that was tried.
    pub beyond: f64,
    /// Whether no other program disturbed the measurement.
    pub quiet: bool,
}

/// The measured cost of a parallel loop with all threads of this process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// How long it takes to begin and to end, in seconds.
    pub seconds: f64,
    /// How many vector operations one thread executes in that time at best.
    pub operations: f64,
    /// Whether no other program disturbed the measurement: a thread that waits for a core waits far
    /// longer.
    pub quiet: bool,
}
