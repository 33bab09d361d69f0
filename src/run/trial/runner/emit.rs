//! `teml emit`: generates C and keeps it; times nothing.

use super::{RunContext, Runner};
use crate::trial::generate::no_code;
use crate::trial::{Comparison, Ranking, Settings, TrialError, Variant};

/// Generates C and keeps it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Emit {
    /// Whether the C runs afterwards, so that inputs matter.
    pub verifies: bool,
}

impl Runner for Emit {
    fn compare(
        &self,
        comparison: Comparison,
        context: &mut RunContext<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        for variant in &comparison.variants {
            let kernel = context.kept.emit(variant, &comparison.settings);
            kernel.map_err(|error| no_code(variant, error))?;
        }
        Ok(None)
    }

    fn measure(
        &self,
        comparison: Comparison,
        context: &mut RunContext<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        for variant in &comparison.variants {
            if let Err(error) = context.kept.emit(variant, &comparison.settings) {
                let why = error.to_string();
                let first = why.lines().next().unwrap_or_default();
                (context.say)(&format!("skipped {}: {first}", variant.label));
            }
        }
        Ok(None)
    }

    fn generates(&self, variant: &Variant, _: &Settings, context: &mut RunContext<'_>) {
        context.kept.generated.push(variant.clone());
    }

    fn needs_inputs(&self) -> bool {
        self.verifies
    }
}
