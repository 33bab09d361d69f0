//! Sweeps: many variants of one computation, of which some may fail.

use super::check::{Expected, Progress, Trial};
use super::{
    Candidate, Evidence, Inputs, Row, Settings, TrialError, check_results, compared, generate,
    naive,
};
use crate::analysis::work::flops;
use crate::runtime::{Budget, Compiled, Control, RuntimeError};
use rayon::prelude::*;
use std::time::Duration;

/// What a sweep found out.
#[derive(Debug)]
pub struct Sweep {
    /// One per candidate, in order: its row, or why it has none.
    pub tried: Vec<Result<Row, TrialError>>,
    /// What the results were compared with.
    pub evidence: Evidence,
    /// Arithmetic operations of the computation by definition.
    pub flops: f64,
}

/// Compiles `candidates` in parallel, then checks and times one after the other. It takes little
/// time and memory for each, so that there can be many; what is best among them is worth a
/// [`compare`](super::compare).
///
/// # Errors
/// What is wrong with the computation, the system or all candidates. What is wrong with one of
/// them is in its place.
pub fn sweep(
    candidates: &[Candidate],
    inputs: &Inputs,
    settings: &Settings,
    control: &Control,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Sweep, TrialError> {
    let [first, others @ ..] = candidates else {
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
    let work = plain.nests.iter().filter_map(flops).sum();
    let plain = generate(&plain, settings.reductions)?;
    let total = 2 * candidates.len() + 2;
    let trial = Trial::new(&[&plain], inputs, &settings, control, (progress, total));
    trial.begin("compiling");
    let compile = |candidate: &Candidate| trial.compile(&generate(candidate, settings.reductions)?);
    let compiled: Vec<Result<Compiled, TrialError>> = candidates.par_iter().map(compile).collect();
    let plain = trial.compile_reference(&plain)?;
    trial.begin("running the untransformed nests");
    let expected = trial.expected(first, trial.run(&plain)?)?;
    trial.finish();
    let mut tried = Vec::with_capacity(candidates.len());
    for (candidate, compiled) in candidates.iter().zip(compiled) {
        trial.begin(&format!("measuring {}", candidate.label));
        let row = compiled.and_then(|compiled| measured(&trial, candidate, &compiled, &expected));
        trial.finish();
        tried.push(match row {
            Err(error) if !is_of_candidate(&error) => return Err(error),
            row => row,
        });
    }
    Ok(Sweep {
        tried,
        evidence: expected.evidence,
        flops: work,
    })
}

const BUDGET: Budget = Budget {
    min_runs: 3,
    max_runs: 10,
    time: Duration::from_millis(500),
    patience: Duration::from_secs(1),
    enough: Some(Duration::from_millis(500)),
};

fn measured(
    trial: &Trial,
    candidate: &Candidate,
    compiled: &Compiled,
    expected: &Expected,
) -> Result<Row, TrialError> {
    let own = trial.run(compiled)?;
    let (label, results) = (&candidate.label, compared(candidate));
    let error = trial.check(label, &results, (compiled.kernel(), &own), expected)?;
    let variant = trial.variant(&candidate.label, compiled.clone(), own, false);
    let timings = trial.measure(&[variant], &mut |_, _| {})?;
    let timing = timings.into_iter().next().ok_or(TrialError::Nothing)?;
    Ok(Row {
        label: timing.label.clone(),
        timing,
        error,
        kernel: compiled.kernel().clone(),
    })
}

/// Whether another candidate may do better.
pub(super) fn is_of_candidate(error: &TrialError) -> bool {
    use RuntimeError::{
        CompileFailed, CompileTimedOut, CompilerKilled, Crashed, Exited, OutOfBounds, TimedOut,
        Unstable,
    };
    match error {
        TrialError::Code { .. } | TrialError::Wrong { .. } => true,
        TrialError::Runtime(error) => matches!(
            error,
            CompileFailed { .. }
                | CompileTimedOut { .. }
                | CompilerKilled { .. }
                | Crashed { .. }
                | Exited { .. }
                | OutOfBounds { .. }
                | TimedOut { .. }
                | Unstable { .. }
        ),
        _ => false,
    }
}
