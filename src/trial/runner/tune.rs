//! `teml tune`: what a script tunes is tried, and what it compares is kept, for the tuner where the
//! script tunes nothing.

use super::{Collect, Run, Runner, Stage};
use crate::ir::Tensor;
use crate::runtime::{Control, Values};
use crate::trial::{Contest, Gauge, Progress, Ranking, TrialError};

/// Tries what is tuned.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tune;

impl Runner for Tune {
    fn compare(
        &self,
        contest: Contest,
        stage: &mut Stage<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        Collect.compare(contest, stage)
    }

    fn measure(
        &self,
        contest: Contest,
        stage: &mut Stage<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        Run.measure(contest, stage)
    }

    fn run(
        &self,
        contest: Contest,
        stage: &mut Stage<'_>,
    ) -> Result<Vec<(Tensor, Values)>, TrialError> {
        Run.run(contest, stage)
    }

    fn gauge<'a>(
        &'a self,
        contest: &'a Contest,
        control: &'a Control,
        progress: &'a (dyn Fn(Progress) + Sync),
    ) -> Result<Option<Box<dyn Gauge + 'a>>, TrialError> {
        Run.gauge(contest, control, progress)
    }

    fn needs_inputs(&self) -> bool {
        true
    }

    fn runs(&self) -> bool {
        true
    }
}
