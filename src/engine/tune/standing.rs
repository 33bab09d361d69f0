//! The progress of a search, and its observer.

use super::value::Point;
use std::time::Duration;

/// Receives the progress of a search.
pub trait Observer {
    /// Called after each trial, and when the search turns to something else.
    fn tried(&mut self, progress: &Standing<'_>);
}

/// The progress of a search.
#[derive(Clone, Debug)]
pub struct Standing<'a> {
    /// The present activity, such as compiling.
    pub doing: &'a str,
    /// Trials so far.
    pub done: usize,
    /// Maximum number of trials.
    pub total: usize,
    /// The best point so far, with its seconds.
    pub best: Option<(&'a Point, f64)>,
    /// Time since the start.
    pub elapsed: Duration,
    /// Remaining time, if there is a limit.
    pub left: Option<Duration>,
}
