//! Sweeps: measure many variants of one computation, some of which may fail.

use super::check::{Expected, Progress, Trial};
use super::comparison::{Comparison, Failed, Measured, Ranking};
use super::generate::generate;
use super::results::{check_results, compared};
use super::variant::naive;
use super::work::work_of;
use super::{Settings, TrialError, Variant};
use crate::runtime::{Budget, Compiled, Control};
use rayon::prelude::*;
use std::time::Duration;

/// Compiles `variants` in parallel, then checks and times one after the other. Each takes little
/// time and memory, so that there can be many; the best ones deserve a comparison.
///
/// # Errors
/// The computation, the system or all variants are at fault. The error of a single variant is in
/// its place.
pub(super) fn sweep(
    comparison: &Comparison,
    control: &Control,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Ranking, TrialError> {
    let Comparison {
        variants,
        inputs,
        settings,
    } = comparison;
    let [first, others @ ..] = &variants[..] else {
        return Err(TrialError::Nothing);
    };
    for other in others {
        check_results(first, other)?;
    }
    let settings = Settings {
        budget: BUDGET,
        ..settings.clone()
    };
    let plain = naive(first);
    let work = work_of(variants, &plain);
    let plain = generate(&plain, &settings)?;
    let total = 2 * variants.len() + 2;
    let trial = Trial::new(&[&plain], inputs, &settings, control, (progress, total));
    trial.begin("compiling");
    let compile = |variant: &Variant| trial.compile(&generate(variant, &settings)?);
    let compiled: Vec<Result<Compiled, TrialError>> = variants.par_iter().map(compile).collect();
    let plain = trial.compile_reference(&plain)?;
    trial.begin("running the untransformed nests");
    let expected = trial.expected(first, trial.run(&plain)?)?;
    trial.finish();
    let mut tried = Vec::with_capacity(variants.len());
    let mut serial = false;
    for (variant, compiled) in variants.iter().zip(compiled) {
        trial.begin(&format!("measuring {}", variant.label));
        serial |= compiled.as_ref().is_ok_and(Compiled::is_serial);
        let found = compiled.and_then(|compiled| measured(&trial, variant, &compiled, &expected));
        trial.finish();
        tried.push(match found {
            Err(error) if error.defect().is_none() => return Err(error),
            found => found.map_err(|error| Failed {
                label: variant.label.clone(),
                error,
            }),
        });
    }
    Ok(Ranking {
        tried,
        probes: Vec::new(),
        evidence: expected.evidence,
        work,
        threads: if serial { 1 } else { control.threads },
    })
}

const BUDGET: Budget = Budget {
    min_runs: 3,
    max_runs: 10,
    time: Duration::from_millis(500),
    patience: Duration::from_secs(1),
    enough: Some(Duration::from_millis(500)),
    reached: None,
    repeats: true,
};

fn measured(
    trial: &Trial,
    variant: &Variant,
    compiled: &Compiled,
    expected: &Expected,
) -> Result<Measured, TrialError> {
    let own = trial.run(compiled)?;
    let (label, results) = (&variant.label, compared(variant));
    let sound = trial.settle(label, &results, (compiled.clone(), own), expected)?;
    let workload = trial.workload(&variant.label, sound.compiled, sound.own, false);
    let timings = trial.measure(&[workload], &mut |_, _| {})?;
    let timing = timings.into_iter().next().ok_or(TrialError::Nothing)?;
    Ok(Measured {
        label: timing.label.clone(),
        timing,
        error: sound.error,
        kernel: compiled.kernel().clone(),
        cure: sound.cure,
    })
}
