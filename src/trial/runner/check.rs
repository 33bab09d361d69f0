//! `teml check`: each variant is proved, and told in a line.

use super::{Runner, Stage};
use crate::interp::symbolic::{self, Answer, Policy};
use crate::ir::Tensor;
use crate::legality::{Proof, Reductions, Refused, prove};
use crate::runtime::Values;
use crate::trial::{Contest, Ranking, TrialError, Variant};

/// Proves that variants compute what their definitions say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Check {
    /// Whether their instances are executed, too, one by one.
    pub exhaustive: bool,
}

impl Runner for Check {
    fn compare(
        &self,
        contest: Contest,
        stage: &mut Stage<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        self.measure(contest, stage)
    }

    fn measure(
        &self,
        contest: Contest,
        stage: &mut Stage<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        let reductions = contest.settings.reductions;
        for variant in &contest.variants {
            self.generates(variant, reductions, stage);
        }
        Ok(None)
    }

    fn run(
        &self,
        contest: Contest,
        stage: &mut Stage<'_>,
    ) -> Result<Vec<(Tensor, Values)>, TrialError> {
        for variant in &contest.variants {
            self.generates(variant, contest.settings.reductions, stage);
        }
        stage.kept.unwritten(&contest)
    }

    fn sample(&self) -> usize {
        8
    }

    fn generates(&self, variant: &Variant, reductions: Reductions, stage: &mut Stage<'_>) {
        let nests = &variant.nests;
        let proof = prove(nests, reductions);
        let mut is_wrong = proof.is_err();
        let mut text = match &proof {
            Ok(Proof::Proved) => "legal".to_owned(),
            Ok(other) => other.to_string(),
            Err(Refused::Violation(violation)) => format!("illegal: {violation}"),
            Err(Refused::Race(_, race)) => format!("illegal: {race}"),
            Err(Refused::Undecided(why)) => format!("undecided: {why}"),
        };
        if self.exhaustive {
            let policy = match reductions {
                Reductions::Strict => Policy::Strict,
                Reductions::Reassociate => Policy::Reassociate,
            };
            let answer = symbolic::compare(nests, policy, &|| stage.control.interrupted());
            let is_equal = matches!(answer, Ok(Answer::Equal { .. }));
            match &proof {
                Ok(Proof::Assumed(_)) => {}
                Err(Refused::Undecided(_)) => is_wrong = !is_equal,
                _ => is_wrong |= !is_equal,
            }
            match answer {
                Ok(answer) => text.push_str(&format!("; {answer}")),
                Err(fault) => text.push_str(&format!("; not executed: {fault}")),
            }
        }
        (stage.say)(&format!("{}: {text}", variant.label));
        stage.kept.checked += 1;
        stage.kept.wrong += usize::from(is_wrong);
    }
}
