//! How far a search is, and who gets to know.

use super::value::Point;
use std::time::Duration;

/// Who gets to know how far it is.
pub trait Observer {
    /// A trial has ended.
    fn tried(&mut self, progress: &Standing<'_>);
}

/// How far it is.
#[derive(Clone, Debug)]
pub struct Standing<'a> {
    /// Trials so far.
    pub done: usize,
    /// Trials at most.
    pub total: usize,
    /// The best point so far, and its time in seconds.
    pub best: Option<(&'a Point, f64)>,
    /// Since it began.
    pub elapsed: Duration,
    /// What is left by the clock, if there is a limit.
    pub left: Option<Duration>,
}
