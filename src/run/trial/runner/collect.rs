//! Comparisons are kept for whoever holds them with more than the script has, as `teml bench` does.

use super::{Runner, Stage};
use crate::ir::Tensor;
use crate::runtime::Values;
use crate::trial::{Contest, Ranking, TrialError};

/// Keeps what is compared. Nothing runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Collect;

impl Runner for Collect {
    fn compare(
        &self,
        contest: Contest,
        stage: &mut Stage<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        stage.kept.contests.push(contest);
        Ok(None)
    }

    fn measure(&self, _: Contest, _: &mut Stage<'_>) -> Result<Option<Ranking>, TrialError> {
        Ok(None)
    }

    fn run(
        &self,
        contest: Contest,
        stage: &mut Stage<'_>,
    ) -> Result<Vec<(Tensor, Values)>, TrialError> {
        stage.kept.unwritten(&contest)
    }

    fn needs_inputs(&self) -> bool {
        true
    }
}
