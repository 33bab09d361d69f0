//! `teml run` and `teml tune`: variants are compiled, checked and timed.

use super::{Collect, Runner, Stage};
use crate::ir::Tensor;
use crate::runtime::{Control, Values};
use crate::trial::contest::{Audience, run_comparison};
use crate::trial::{Contest, Gauge, Progress, Ranking, TrialError, Workshop, run, sweep};

/// Compiles, checks and times.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    /// Whether what a script compares is kept, as [`Collect`] does, for a tuner that tries it.
    pub collects: bool,
}

impl Runner for Run {
    fn compare(
        &self,
        contest: Contest,
        stage: &mut Stage<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        if self.collects {
            return Collect.compare(contest, stage);
        }
        let audience = Audience {
            progress: stage.progress,
            show: stage.show,
        };
        let fail_fast = true;
        run_comparison(&contest, (&[], &[]), fail_fast, stage.control, audience).map(Some)
    }

    fn measure(
        &self,
        contest: Contest,
        stage: &mut Stage<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        sweep(&contest, stage.control, stage.progress).map(Some)
    }

    fn run(
        &self,
        contest: Contest,
        stage: &mut Stage<'_>,
    ) -> Result<Vec<(Tensor, Values)>, TrialError> {
        let Contest {
            variants,
            inputs,
            settings,
        } = contest;
        let variant = variants.first().ok_or(TrialError::Nothing)?;
        let (outputs, cure) = run(variant, &inputs, &settings, stage.control, stage.progress)?;
        if let Some(cure) = cure {
            (stage.say)(&format!("{}: {cure}", variant.label));
        }
        let written = outputs.iter();
        Ok(written
            .map(|buffer| (buffer.tensor().clone(), Values::from(buffer.view())))
            .collect())
    }

    fn gauge<'a>(
        &'a self,
        contest: &'a Contest,
        control: &'a Control,
        progress: &'a (dyn Fn(Progress) + Sync),
    ) -> Result<Option<Box<dyn Gauge + 'a>>, TrialError> {
        Ok(Some(Box::new(Workshop::open(contest, control, progress)?)))
    }

    fn needs_inputs(&self) -> bool {
        true
    }

    fn runs(&self) -> bool {
        true
    }
}
