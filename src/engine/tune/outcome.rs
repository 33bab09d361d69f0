//! What a search found, or why it found nothing.

use super::finals::Decided;
use super::record::Record;
use super::space::{ConfigIndex, Halt};
use super::value::Point;
use crate::ir::Nest;
use crate::trial::{Screened, TrialError, Work};
use std::collections::BTreeMap;
use std::time::Duration;

/// A point that was tried.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The point.
    pub point: Point,
    /// Its place in the space.
    pub digits: ConfigIndex,
    /// Its nests.
    pub nests: Vec<Nest>,
    /// Its times, or what is wrong with it and why.
    pub outcome: Result<Screened, (String, String)>,
    /// What the model expected, in seconds.
    pub expected: Option<f64>,
    /// Seconds from the beginning to the end of this trial.
    pub at: f64,
}

impl Trial {
    /// Its shortest time in seconds, if it has one: of few runs, another program may have disturbed
    /// most.
    pub fn seconds(&self) -> Option<f64> {
        let runs = self.outcome.as_ref().ok()?.runs.iter();
        runs.map(Duration::as_secs_f64).min_by(f64::total_cmp)
    }

    /// What it may take where nobody else uses the machine.
    pub fn at_best(&self) -> Option<f64> {
        let screened = self.outcome.as_ref().ok()?;
        Some(screened.at_best.as_secs_f64())
    }
}

/// What tuning found.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// What was tried, in order.
    pub trials: Vec<Trial>,
    /// How many points were refused, by reason.
    pub refused: BTreeMap<String, usize>,
    /// The finals; their numbers are those of trials. The winner comes first.
    pub decided: Decided,
    /// How long the search took, without the finals.
    pub elapsed: Duration,
    /// How long the screen waited for the compiler in that time.
    pub compiling: Duration,
    /// How many trials were known from records.
    pub known: usize,
    /// How many points make nests that another point has made.
    pub same: usize,
    /// The winner as records have it.
    pub recorded: Option<Record>,
    /// What the computation asks of a machine.
    pub work: Option<Work>,
    /// Whether someone stopped it.
    pub interrupted: bool,
}

/// Why there is no result.
#[derive(Debug)]
pub enum Ended {
    /// The script failed.
    Halt,
    /// No variant can be tried.
    Trial(TrialError),
    /// No point has a nest: how many were refused, by reason.
    Refused(BTreeMap<String, usize>),
    /// All that were tried failed: the last reason.
    Failed(String),
}

impl From<Halt> for Ended {
    fn from(_: Halt) -> Ended {
        Ended::Halt
    }
}

impl From<TrialError> for Ended {
    fn from(error: TrialError) -> Ended {
        Ended::Trial(error)
    }
}
