//! Contests: variants of one computation, and code that others wrote for it, in one run.

use super::check::{Progress, Trial};
use super::sweep::is_of_candidate;
use super::{
    Candidate, Evidence, Inputs, Row, Settings, TrialError, check_results, compared, generate,
    naive,
};
use crate::analysis::work;
use crate::codegen::Kernel;
use crate::ir::Elem;
use crate::runtime::{Compiled, Compiler, Control, Options, Timing, Variant};
use rayon::prelude::*;

/// What a script compares.
#[derive(Clone, Debug)]
pub struct Contest {
    /// The variants; the first one's definition is the reference.
    pub candidates: Vec<Candidate>,
    /// What tensors hold before.
    pub inputs: Inputs,
    /// How the variants are run.
    pub settings: Settings,
}

/// Code that others wrote, or others compile, for the same computation.
#[derive(Clone, Debug)]
pub struct Peer {
    /// What tables call it.
    pub label: String,
    /// The code; its tensors have the names of the computation's.
    pub kernel: Kernel,
    /// What compiles it.
    pub compiler: Compiler,
    /// How.
    pub options: Options,
}

/// How a contest ended.
#[derive(Debug)]
pub struct Ranking {
    /// One per variant, then one per peer: what was measured, or why nothing was.
    pub entries: Vec<Entry>,
    /// The times of the probes.
    pub probes: Vec<Timing>,
    /// What the results were compared with.
    pub evidence: Evidence,
    /// What has to be done at least.
    pub work: Work,
    /// The number of threads that parallel loops used.
    pub threads: usize,
}

/// A variant or a peer.
#[derive(Debug)]
pub struct Entry {
    /// What tables call it.
    pub label: String,
    /// What was measured, or why nothing was.
    pub row: Result<Row, TrialError>,
}

/// What a computation asks of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// Arithmetic operations by the first variant's definition.
    pub flops: f64,
    /// The fewest arithmetic operations by any variant's definition.
    pub least_flops: f64,
    /// Bytes that are read at least: inputs, each once.
    pub read: f64,
    /// Bytes that are written at least: results, each once.
    pub written: f64,
    /// The type of the results.
    pub elem: Elem,
}

impl Contest {
    /// The C of the untransformed nests of the first variant.
    ///
    /// # Errors
    /// There is no variant, or no C.
    pub fn reference(&self) -> Result<Kernel, TrialError> {
        let first = self.candidates.first().ok_or(TrialError::Nothing)?;
        generate(&naive(first), self.settings.reductions)
    }

    /// Checks and times all variants and peers. Those that fail are out, and the others go on.
    /// `probes` are timed with them, and not checked.
    ///
    /// # Errors
    /// What is wrong with the computation, the system or the reference.
    pub fn run(
        &self,
        peers: &[Peer],
        probes: &[Variant],
        control: &Control,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Ranking, TrialError> {
        let all_must_do = false;
        let show = &mut |_: &Row| {};
        let audience = Audience { progress, show };
        hold(self, (peers, probes), all_must_do, control, audience)
    }
}

/// Who gets to know how a contest goes.
pub(super) struct Audience<'a> {
    /// Is told what is being done.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Gets each row as soon as it is known.
    pub show: &'a mut dyn FnMut(&Row),
}

/// Checks and times all variants and peers. The first one that fails is the error if all must do.
pub(super) fn hold(
    contest: &Contest,
    (peers, probes): (&[Peer], &[Variant]),
    all_must_do: bool,
    control: &Control,
    Audience { progress, show }: Audience<'_>,
) -> Result<Ranking, TrialError> {
    let (candidates, settings) = (&contest.candidates, &contest.settings);
    let [first, others @ ..] = &candidates[..] else {
        return Err(TrialError::Nothing);
    };
    for other in others {
        check_results(first, other)?;
    }
    let generated = || -> Result<Vec<Result<Kernel, TrialError>>, TrialError> {
        let kernel = |candidate: &Candidate| generate(candidate, settings.reductions);
        let kernels = candidates.par_iter();
        let kernels = kernels.map(|candidate| tolerate(kernel(candidate), all_must_do));
        kernels.collect()
    };
    // The compiler is asked what it is meanwhile, and once.
    let (kernels, compiler) = rayon::join(generated, || Compiler::find(control));
    let kernels = kernels?;
    compiler?;
    let plain = naive(first);
    let plain_kernel = generate(&plain, settings.reductions)?;
    let known: Vec<&Kernel> = kernels.iter().flatten().chain([&plain_kernel]).collect();

    let total = 2 * (candidates.len() + peers.len()) + 2;
    let step = (progress, total);
    let trial = Trial::new(&known, &contest.inputs, settings, control, step);
    trial.begin("compiling");
    let of_candidate = |kernel: Result<Kernel, TrialError>| {
        tolerate(
            kernel.and_then(|kernel| trial.compile(&kernel)),
            all_must_do,
        )
    };
    let of_peer = |peer: &Peer| {
        let compiled = peer.compiler.compile(&peer.kernel, &peer.options, control);
        trial.finish();
        tolerate(compiled.map_err(TrialError::from), all_must_do)
    };
    let mut compiled: Vec<Result<Compiled, TrialError>> = kernels
        .into_par_iter()
        .map(of_candidate)
        .collect::<Result<_, _>>()?;
    compiled.extend(
        peers
            .par_iter()
            .map(of_peer)
            .collect::<Result<Vec<_>, _>>()?,
    );
    let plain_compiled = trial.compile_reference(&plain_kernel)?;

    let labels = candidates.iter().map(|c| &c.label);
    let labels = labels.chain(peers.iter().map(|p| &p.label));
    let names = compared(first);
    let others: Vec<&Compiled> = compiled.iter().flatten().collect();
    let (outputs, written) = trial.run_all(&plain_compiled, &others, all_must_do);
    let expected = trial.expected(first, outputs?)?;
    let mut written = written.into_iter();
    let mut checked: Vec<Result<(Variant, f64), TrialError>> = Vec::with_capacity(compiled.len());
    for (k, (label, compiled)) in labels.clone().zip(compiled).enumerate() {
        trial.begin(&format!("checking {label}"));
        let is_peer = k >= candidates.len();
        let check = |compiled: Compiled| -> Result<(Variant, f64), TrialError> {
            let own = written.next().unwrap_or(Err(TrialError::Nothing))?;
            let of_kernel = (compiled.kernel(), &*own);
            let error = trial.check(label, &names, of_kernel, &expected)?;
            Ok((trial.variant(label, compiled, own, is_peer), error))
        };
        checked.push(tolerate(compiled.and_then(check), all_must_do)?);
        trial.finish();
    }
    let entrants: Vec<&(Variant, f64)> = checked.iter().flatten().collect();
    let variants = entrants.iter().map(|(variant, _)| variant);
    let variants: Vec<Variant> = variants.chain(probes).cloned().collect();
    let mut known = |k: usize, timing: &Timing| {
        if let Some(entrant) = entrants.get(k) {
            show(&row(entrant, timing.clone()));
        }
    };
    let mut timings = trial.measure(&variants, &mut known)?;
    let serial = variants.iter().any(|variant| variant.kernel.is_serial());
    let of_probes = timings.split_off(variants.len() - probes.len());
    let mut timings = timings.into_iter();
    let rows = checked.into_iter().map(|checked| {
        let checked = checked?;
        Ok(row(&checked, timings.next().ok_or(TrialError::Nothing)?))
    });
    let entry = |(label, row): (&String, Result<Row, TrialError>)| Entry {
        label: label.clone(),
        row,
    };
    Ok(Ranking {
        entries: labels.zip(rows).map(entry).collect(),
        probes: of_probes,
        evidence: expected.evidence,
        work: work_of(contest, &plain),
        threads: if serial { 1 } else { control.threads },
    })
}

/// The row of a variant that was checked, with its error, and timed.
fn row((variant, error): &(Variant, f64), timing: Timing) -> Row {
    Row {
        label: variant.label.clone(),
        timing,
        error: *error,
        kernel: variant.kernel.kernel().clone(),
    }
}

/// A result that may be an error, if that is the fault of one candidate and not all must do.
fn tolerate<T>(
    result: Result<T, TrialError>,
    all_must_do: bool,
) -> Result<Result<T, TrialError>, TrialError> {
    match result {
        Err(error) if all_must_do || !is_of_candidate(&error) => Err(error),
        result => Ok(result),
    }
}

fn work_of(contest: &Contest, plain: &Candidate) -> Work {
    let flops = |plain: &Candidate| -> f64 { plain.nests.iter().filter_map(work::flops).sum() };
    let all = contest.candidates.iter().map(naive);
    let least = all.map(|plain| flops(&plain)).fold(f64::INFINITY, f64::min);
    let last = plain.nests.last().and_then(|n| n.definition().last());
    let moved = work::moved(&plain.nests);
    Work {
        flops: flops(plain),
        least_flops: least,
        read: moved.read as f64,
        written: moved.written as f64,
        elem: last.map_or(Elem::F64, |e| e.elem()),
    }
}
