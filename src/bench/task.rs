//! What is measured together.

use super::results::Absent;
use crate::trial::Contest;

/// A comparison, and what is known about it before it is held.
pub(super) struct Task {
    pub(super) contest: Contest,
    pub(super) absent: Vec<Absent>,
    pub(super) notes: Vec<String>,
}

impl Task {
    pub(super) fn of(contest: Contest) -> Task {
        Task {
            contest,
            absent: Vec::new(),
            notes: Vec::new(),
        }
    }
}
