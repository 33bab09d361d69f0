//! `teml run` and `teml tune`: compiles, checks and times variants.

use super::{Collect, RunContext, Runner};
use crate::ir::Tensor;
use crate::runtime::{Control, Values};
use crate::trial::comparison::{Observer, run_comparison};
use crate::trial::sweep::sweep;
use crate::trial::{Comparison, Evaluator, LocalEvaluator, Progress, Ranking, TrialError, run};

/// Compiles, checks and times.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    /// Whether to keep the script's comparisons, as [`Collect`] does, for a tuner.
    pub collects: bool,
}

impl Runner for Run {
    fn compare(
        &self,
        comparison: Comparison,
        context: &mut RunContext<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        if self.collects {
            return Collect.compare(comparison, context);
        }
        let observer = Observer {
            progress: context.progress,
            show: context.show,
        };
        let fail_fast = true;
        run_comparison(
            &comparison,
            (&[], &[]),
            fail_fast,
            context.control,
            observer,
        )
        .map(Some)
    }

    fn measure(
        &self,
        comparison: Comparison,
        context: &mut RunContext<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        sweep(&comparison, context.control, context.progress).map(Some)
    }

    fn run(
        &self,
        comparison: Comparison,
        context: &mut RunContext<'_>,
    ) -> Result<Vec<(Tensor, Values)>, TrialError> {
        let Comparison {
            variants,
            inputs,
            settings,
        } = comparison;
        let variant = variants.first().ok_or(TrialError::Nothing)?;
        let (outputs, cure) = run(
            variant,
            &inputs,
            &settings,
            context.control,
            context.progress,
        )?;
        if let Some(cure) = cure {
            (context.say)(&format!("{}: {cure}", variant.label));
        }
        let written = outputs.iter();
        Ok(written
            .map(|buffer| (buffer.tensor().clone(), Values::from(buffer.view())))
            .collect())
    }

    fn evaluator<'a>(
        &'a self,
        comparison: &'a Comparison,
        control: &'a Control,
        progress: &'a (dyn Fn(Progress) + Sync),
    ) -> Result<Option<Box<dyn Evaluator + 'a>>, TrialError> {
        Ok(Some(Box::new(LocalEvaluator::open(
            comparison, control, progress,
        )?)))
    }

    fn needs_inputs(&self) -> bool {
        true
    }

    fn runs(&self) -> bool {
        true
    }
}
