//! Comparisons of one computation's variants, and of peers' code for it, in one run.

use super::check::{Cure, Progress, Sound, Trial};
use super::generate::generate;
use super::results::{check_results, compared};
use super::variant::naive;
use super::work::work_of;
use super::{Blame, Equality, Evidence, Inputs, Settings, TrialError, Variant, Work, equality};
use crate::codegen::Kernel;
use crate::runtime::{Compiled, Compiler, Control, Options, Timing, Workload};
use rayon::prelude::*;

/// A comparison that a script asks for.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The variants; the first one's definition is the reference.
    pub variants: Vec<Variant>,
    /// The initial contents of tensors.
    pub inputs: Inputs,
    /// How the variants are run.
    pub settings: Settings,
}

/// Code for the same computation that other people wrote, or that another compiler compiles.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its name in tables.
    pub label: String,
    /// The code; its tensors have the names of the computation's.
    pub kernel: Kernel,
    /// The compiler that compiles it.
    pub compiler: Compiler,
    /// The compiler's options.
    pub options: Options,
}

/// A variant that was checked and timed.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The variant's label.
    pub label: String,
    pub timing: Timing,
    /// The largest relative error of its results against the reference.
    pub error: f64,
    /// The code, with the evidence that it is right.
    pub kernel: Kernel,
    /// The remedy, if the compiler got it wrong.
    pub cure: Option<Cure>,
}

/// A variant that has no times.
#[derive(Debug)]
pub struct Failed {
    /// The variant's label.
    pub label: String,
    pub error: TrialError,
}

/// The outcome of a comparison.
#[derive(Debug)]
pub struct Ranking {
    /// One per variant, then one per peer: the measurement, or why there is none.
    pub tried: Vec<Result<Measured, Failed>>,
    /// The times of the probes.
    pub probes: Vec<Timing>,
    /// The reference of the results.
    pub evidence: Evidence,
    /// The least work of the computation.
    pub work: Work,
    /// The number of threads that parallel loops used.
    pub threads: usize,
}

impl Ranking {
    /// The measurements, in order.
    pub fn measured(&self) -> impl Iterator<Item = &Measured> {
        self.tried.iter().flatten()
    }
}

impl Comparison {
    /// The least work of the computation.
    ///
    /// # Errors
    /// There is no variant.
    pub fn work(&self) -> Result<Work, TrialError> {
        let first = self.variants.first().ok_or(TrialError::Nothing)?;
        Ok(work_of(&self.variants, &naive(first)))
    }

    /// The C of the untransformed nests of the first variant.
    ///
    /// # Errors
    /// There is no variant, or no C.
    pub fn reference(&self) -> Result<Kernel, TrialError> {
        let first = self.variants.first().ok_or(TrialError::Nothing)?;
        generate(&naive(first), &self.settings)
    }

    /// Checks and times all variants and peers. Those that fail are dropped, and the others go on.
    /// `probes` are timed with them, and not checked.
    ///
    /// # Errors
    /// The computation, the system or the reference is at fault.
    pub fn run(
        &self,
        peers: &[Peer],
        probes: &[Workload],
        control: &Control,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Ranking, TrialError> {
        let fail_fast = false;
        let show = &mut |_: &Measured| {};
        let observer = Observer { progress, show };
        run_comparison(self, (peers, probes), fail_fast, control, observer)
    }
}

/// Receives the progress and the rows of a comparison.
pub(super) struct Observer<'a> {
    /// Is told the current step.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Gets each row as soon as it is known.
    pub show: &'a mut dyn FnMut(&Measured),
}

/// Checks and times all variants and peers. With `fail_fast`, the first failure is returned.
pub(super) fn run_comparison(
    comparison: &Comparison,
    (peers, probes): (&[Peer], &[Workload]),
    fail_fast: bool,
    control: &Control,
    Observer { progress, show }: Observer<'_>,
) -> Result<Ranking, TrialError> {
    let (variants, settings) = (&comparison.variants, &comparison.settings);
    let [first, others @ ..] = &variants[..] else {
        return Err(TrialError::Nothing);
    };
    for other in others {
        check_results(first, other)?;
    }
    let generated = || -> Result<Vec<Result<Kernel, TrialError>>, TrialError> {
        let kernel = |variant: &Variant| generate(variant, settings);
        let kernels = variants.par_iter();
        let kernels = kernels.map(|variant| keep_if_of_variant(kernel(variant), fail_fast));
        kernels.collect()
    };
    // Finds the compiler concurrently, and asks for its version only once.
    let (kernels, compiler) = rayon::join(generated, || Compiler::find(control));
    let kernels = kernels?;
    compiler?;
    let plain = naive(first);
    let plain_kernel = generate(&plain, settings)?;
    let known: Vec<&Kernel> = kernels.iter().flatten().chain([&plain_kernel]).collect();

    let total = 2 * (variants.len() + peers.len()) + 2;
    let step = (progress, total);
    let trial = Trial::new(&known, &comparison.inputs, settings, control, step);
    trial.begin("compiling");
    let of_candidate = |kernel: Result<Kernel, TrialError>| {
        keep_if_of_variant(kernel.and_then(|kernel| trial.compile(&kernel)), fail_fast)
    };
    let of_peer = |peer: &Peer| {
        let compiled = peer.compiler.compile(&peer.kernel, &peer.options, control);
        trial.finish();
        keep_if_of_variant(compiled.map_err(TrialError::from), fail_fast)
    };
    let candidates = || -> Result<Vec<_>, TrialError> {
        let kernels = kernels.into_par_iter().map(of_candidate);
        let mut compiled: Vec<Result<Compiled, TrialError>> = kernels.collect::<Result<_, _>>()?;
        let peers = peers.par_iter().map(of_peer);
        compiled.extend(peers.collect::<Result<Vec<_>, _>>()?);
        Ok(compiled)
    };
    let (compiled, plain_compiled) =
        rayon::join(candidates, || trial.compile_reference(&plain_kernel));
    let (compiled, plain_compiled) = (compiled?, plain_compiled?);

    let labels = variants.iter().map(|c| &c.label);
    let labels = labels.chain(peers.iter().map(|p| &p.label));
    let names = compared(first);
    let others: Vec<&Compiled> = compiled.iter().flatten().collect();
    let (outputs, written) = trial.run_all(&plain_compiled, &others, fail_fast);
    let expected = trial.expected(first, outputs?)?;
    let mut written = written.into_iter();
    let mut checked: Vec<Result<Entrant, TrialError>> = Vec::with_capacity(compiled.len());
    for (k, (label, compiled)) in labels.clone().zip(compiled).enumerate() {
        trial.begin(&format!("checking {label}"));
        let is_peer = k >= variants.len();
        let check = |compiled: Compiled| -> Result<Entrant, TrialError> {
            let own = written.next().unwrap_or(Err(TrialError::Nothing))?;
            let found = if is_peer {
                let of_kernel = (compiled.kernel(), &*own);
                let error = trial.check(label, &names, of_kernel, &expected)?;
                let cure = None;
                Sound {
                    compiled,
                    own,
                    error,
                    cure,
                }
            } else {
                let sound = trial.settle(label, &names, (compiled, own), &expected);
                sound.map_err(|error| match variants.get(k) {
                    Some(own) => explained(error, (first, own), settings, control),
                    None => error,
                })?
            };
            Ok(Entrant {
                workload: trial.workload(label, found.compiled, found.own, is_peer),
                error: found.error,
                cure: found.cure,
            })
        };
        checked.push(keep_if_of_variant(compiled.and_then(check), fail_fast)?);
        trial.finish();
    }
    let entrants: Vec<&Entrant> = checked.iter().flatten().collect();
    let workloads = entrants.iter().map(|entrant| &entrant.workload);
    let workloads: Vec<Workload> = workloads.chain(probes).cloned().collect();
    let mut known = |k: usize, timing: &Timing| {
        if let Some(entrant) = entrants.get(k) {
            show(&measured(entrant, timing.clone()));
        }
    };
    let mut timings = trial.measure(&workloads, &mut known)?;
    let serial = workloads.iter().any(|workload| workload.kernel.is_serial());
    let of_probes = timings.split_off(workloads.len() - probes.len());
    let mut timings = timings.into_iter();
    let tried = labels.zip(checked).map(|(label, checked)| {
        let checked = checked.and_then(|checked| {
            let timing = timings.next().ok_or(TrialError::Nothing)?;
            Ok(measured(&checked, timing))
        });
        checked.map_err(|error| Failed {
            label: label.clone(),
            error,
        })
    });
    Ok(Ranking {
        tried: tried.collect(),
        probes: of_probes,
        evidence: expected.evidence,
        work: work_of(&comparison.variants, &plain),
        threads: if serial { 1 } else { control.threads },
    })
}

/// A variant that was checked.
struct Entrant {
    workload: Workload,
    error: f64,
    cure: Option<Cure>,
}

/// The row of a variant that was checked and timed.
fn measured(entrant: &Entrant, timing: Timing) -> Measured {
    Measured {
        label: entrant.workload.label.clone(),
        timing,
        error: entrant.error,
        kernel: entrant.workload.kernel.kernel().clone(),
        cure: entrant.cure.clone(),
    }
}

/// Keeps a failure as a value if it is that of one variant and the others go on; returns other
/// failures.
fn keep_if_of_variant<T>(
    result: Result<T, TrialError>,
    fail_fast: bool,
) -> Result<Result<T, TrialError>, TrialError> {
    match result {
        Err(error) if fail_fast || error.defect().is_none() => Err(error),
        result => Ok(result),
    }
}

/// The error that a variant differs from the reference. It blames the variant's definition if that
/// differs from the reference's.
fn explained(
    error: TrialError,
    (first, own): (&Variant, &Variant),
    settings: &Settings,
    control: &Control,
) -> TrialError {
    let TrialError::Wrong {
        label,
        tensor,
        comparison,
        blame,
    } = error
    else {
        return error;
    };
    let equality = if own.is_defined_as(first) {
        None
    } else {
        Some(equality(
            &own.nests,
            &first.nests,
            settings.reductions,
            control,
        ))
    };
    let blame = match equality {
        // The definition is not to blame.
        None | Some(Equality::Proved(_)) => blame,
        Some(equality) => Blame::Definition {
            first: first.label.clone(),
            is_text: own.is_text(),
            equality,
        },
    };
    TrialError::Wrong {
        label,
        tensor,
        comparison,
        blame,
    }
}
