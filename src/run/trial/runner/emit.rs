//! `teml emit`: C is generated and kept, and nothing is timed.

use super::{Runner, Stage};
use crate::ir::Tensor;
use crate::legality::Reductions;
use crate::runtime::Values;
use crate::trial::{Contest, Ranking, TrialError, Variant, no_code};

/// Generates C and keeps it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Emit {
    /// Whether the C runs afterwards, so that inputs matter.
    pub verifies: bool,
}

impl Runner for Emit {
    fn compare(
        &self,
        contest: Contest,
        stage: &mut Stage<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        for variant in &contest.variants {
            let kernel = stage.kept.emit(variant, &contest.settings);
            kernel.map_err(|error| no_code(variant, error))?;
        }
        Ok(None)
    }

    fn measure(
        &self,
        contest: Contest,
        stage: &mut Stage<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        for variant in &contest.variants {
            if let Err(error) = stage.kept.emit(variant, &contest.settings) {
                let why = error.to_string();
                let first = why.lines().next().unwrap_or_default();
                (stage.say)(&format!("skipped {}: {first}", variant.label));
            }
        }
        Ok(None)
    }

    fn run(
        &self,
        contest: Contest,
        stage: &mut Stage<'_>,
    ) -> Result<Vec<(Tensor, Values)>, TrialError> {
        stage.kept.unwritten(&contest)
    }

    fn generates(&self, variant: &Variant, _: Reductions, stage: &mut Stage<'_>) {
        stage.kept.generated.push(variant.clone());
    }

    fn needs_inputs(&self) -> bool {
        self.verifies
    }
}
