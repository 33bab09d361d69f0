//! A comparison to measure, with its notes.

use super::results::Absent;
use crate::trial::Comparison;

/// A comparison, and what is known before it runs.
pub(super) struct Task {
    pub(super) comparison: Comparison,
    pub(super) absent: Vec<Absent>,
    pub(super) notes: Vec<String>,
}

impl Task {
    pub(super) fn of(comparison: Comparison) -> Task {
        Task {
            comparison,
            absent: Vec::new(),
            notes: Vec::new(),
        }
    }
}
