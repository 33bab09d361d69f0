//! `teml check`: proves each variant, and reports it in one line.

use super::{RunContext, Runner};
use crate::codegen::{self, NoCode};
use crate::interp::symbolic::{self, Answer, Policy};
use crate::ir::Tensor;
use crate::legality::{Proof, Reductions};
use crate::runtime::Values;
use crate::trial::{Comparison, Equality, Ranking, Settings, TrialError, Variant, equality};

/// Proves that variants compute what their definitions say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Check {
    /// Whether to execute their instances as well, one by one.
    pub exhaustive: bool,
}

impl Runner for Check {
    fn compare(
        &self,
        comparison: Comparison,
        context: &mut RunContext<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        if let [first, others @ ..] = &comparison.variants[..] {
            let reductions = comparison.settings.reductions;
            for other in others {
                if !(other.is_text() || first.is_text()) || other.is_defined_as(first) {
                    continue;
                }
                let (label, of) = (&other.label, &first.label);
                let equality = equality(&other.nests, &first.nests, reductions, context.control);
                let text = match equality {
                    Equality::Proved(elements) => {
                        format!("proved equal to `{of}`, in each of {elements} elements")
                    }
                    Equality::Refuted(why) => format!("not proved equal to `{of}`: {why}"),
                    Equality::Open(why) => format!("not proved equal to `{of}`, since {why}"),
                };
                (context.say)(&format!("{label}: a definition of its own; {text}"));
            }
        }
        self.measure(comparison, context)
    }

    fn measure(
        &self,
        comparison: Comparison,
        context: &mut RunContext<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        for variant in &comparison.variants {
            self.generates(variant, &comparison.settings, context);
        }
        Ok(None)
    }

    fn run(
        &self,
        comparison: Comparison,
        context: &mut RunContext<'_>,
    ) -> Result<Vec<(Tensor, Values)>, TrialError> {
        for variant in &comparison.variants {
            self.generates(variant, &comparison.settings, context);
        }
        context.kept.unwritten(&comparison)
    }

    fn sample(&self) -> usize {
        8
    }

    fn generates(&self, variant: &Variant, settings: &Settings, context: &mut RunContext<'_>) {
        let (nests, reductions) = (&variant.nests, settings.reductions);
        let proof = codegen::check(nests, reductions);
        // An unproved variant counts as not known to be right.
        let mut is_wrong = matches!(&proof, Err(_) | Ok(Proof::Unproved(_)));
        let mut text = match &proof {
            Ok(Proof::Proved) => "legal".to_owned(),
            Ok(Proof::Given(laws)) => format!("legal, given that {}", laws.join("; ")),
            Ok(other) => other.to_string(),
            Err(NoCode::Illegal(violation)) => format!("illegal: {violation}"),
            Err(NoCode::Race { race, .. }) => format!("illegal: {race}"),
            Err(NoCode::Undecided(why)) => format!("undecided: {why}"),
            Err(other) => format!("refused: {other}"),
        };
        let device = &settings.options.target.device;
        if let Some(limit) = proof
            .as_ref()
            .ok()
            .and_then(|_| codegen::limit(nests, device))
        {
            text.push_str(&format!("; the device cannot run it: {limit}"));
        }
        if self.exhaustive {
            let policy = match reductions {
                Reductions::Strict => Policy::Strict,
                Reductions::Reassociate => Policy::Reassociate,
            };
            let answer = symbolic::compare(nests, policy, &|| context.control.interrupted());
            let is_equal = matches!(answer, Ok(Answer::Equal { .. }));
            match &proof {
                Ok(Proof::Assumed(_)) => {}
                Err(NoCode::Undecided(_)) | Ok(Proof::Unproved(_)) => is_wrong = !is_equal,
                _ => is_wrong |= !is_equal,
            }
            match answer {
                Ok(answer) => text.push_str(&format!("; {answer}")),
                Err(fault) => text.push_str(&format!("; not executed: {fault}")),
            }
        }
        (context.say)(&format!("{}: {text}", variant.label));
        context.kept.checked += 1;
        context.kept.wrong += usize::from(is_wrong);
        let is_unproved = matches!(proof, Ok(Proof::Unproved(_))) && is_wrong;
        context.kept.unproved += usize::from(is_unproved);
    }
}
