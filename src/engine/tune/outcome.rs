//! The result of a search, or the reason why there is none.

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
    pub point: Point,
    /// Its index in the space.
    pub digits: ConfigIndex,
    pub nests: Vec<Nest>,
    /// Its times, or its defect with the reason.
    pub outcome: Result<Screened, (String, String)>,
    /// The predicted seconds.
    pub expected: Option<f64>,
    /// Seconds from the start of the search to the end of this trial.
    pub at: f64,
}

impl Trial {
    /// The shortest time in seconds, if there is one: with few runs, interference may affect most
    /// of them.
    pub fn seconds(&self) -> Option<f64> {
        let runs = self.outcome.as_ref().ok()?.runs.iter();
        runs.map(Duration::as_secs_f64).min_by(f64::total_cmp)
    }

    /// The estimated time on an otherwise idle machine.
    pub fn at_best(&self) -> Option<f64> {
        let screened = self.outcome.as_ref().ok()?;
        Some(screened.at_best.as_secs_f64())
    }
}

/// The result of tuning.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The trials, in order.
    pub trials: Vec<Trial>,
    /// Number of refused points, by reason.
    pub refused: BTreeMap<String, usize>,
    /// The finals, the winner first; numbers are those of trials.
    pub decided: Decided,
    /// Duration of the search, without the finals.
    pub elapsed: Duration,
    /// How long screening waited for the compiler in that time.
    pub compiling: Duration,
    /// Number of trials taken from records.
    pub known: usize,
    /// Number of points whose nests equal those of another point.
    pub same: usize,
    /// The record of the winner.
    pub recorded: Option<Record>,
    /// The operations and bytes of the computation.
    pub work: Option<Work>,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

/// The reason why there is no result.
#[derive(Debug)]
pub enum Ended {
    /// The script failed.
    Halt,
    /// No variant can be tried.
    Trial(TrialError),
    /// No point has a nest; with the number of refusals, by reason.
    Refused(BTreeMap<String, usize>),
    /// All trials failed; with the last reason.
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
