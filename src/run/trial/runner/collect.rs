//! Keeps comparisons for callers that add to them, such as `teml bench`.

use super::{RunContext, Runner};
use crate::trial::{Comparison, Ranking, TrialError};

/// Keeps the comparisons. Nothing runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Collect;

impl Runner for Collect {
    fn compare(
        &self,
        comparison: Comparison,
        context: &mut RunContext<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        context.kept.comparisons.push(comparison);
        Ok(None)
    }

    fn measure(
        &self,
        _: Comparison,
        _: &mut RunContext<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        Ok(None)
    }

    fn needs_inputs(&self) -> bool {
        true
    }
}
