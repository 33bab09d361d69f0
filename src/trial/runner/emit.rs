//! `teml emit`: C is generated and kept, and nothing is compiled.

use super::{Runner, Stage};
use crate::ir::Tensor;
use crate::runtime::Values;
use crate::trial::{Contest, Ranking, TrialError, no_code};

/// Generates C and keeps it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Emit;

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
}
