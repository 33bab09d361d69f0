//! From variants to results that were compared with the reference.

use super::generate::generate;
use super::reference::{Evidence, Reference};
use super::results::{compare_outputs, compared};
use super::variant::naive;
use super::{Blame, Inputs, Settings, TrialError, Variant};
use crate::codegen::{Kernel, Param, Role};
use crate::ir::Tensor;
use crate::legality::Proof;
use crate::runtime::{
    self, Beside, CURES, Compiled, Control, Data, Event, Outputs, RuntimeError, Timing, Workload,
};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The progress of a trial.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The current step.
    pub what: String,
    /// How many steps are done.
    pub done: usize,
    /// The number of all steps.
    pub total: usize,
}

/// The shared state of all steps of a trial.
pub(super) struct Trial<'a> {
    pub inputs: Inputs,
    pub settings: &'a Settings,
    pub control: &'a Control,
    progress: &'a (dyn Fn(Progress) + Sync),
    done: AtomicUsize,
    total: usize,
    tensors: Vec<Tensor>,
}

/// The outputs of a kernel, or why there are none.
pub(super) type Written = Result<Arc<Outputs>, TrialError>;

/// The remedy for a kernel that a compiler gets wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cure {
    /// The version of the compiler.
    pub compiler: String,
    /// The flags with which the results are right.
    pub flags: String,
}

impl std::fmt::Display for Cure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Cure { compiler, flags } = self;
        write!(
            f,
            "compiled with {flags}, since {compiler} miscompiles it otherwise"
        )
    }
}

/// A kernel whose results are right.
pub(super) struct Sound {
    pub compiled: Compiled,
    pub own: Arc<Outputs>,
    /// The largest relative error.
    pub error: f64,
    /// The remedy that it needed.
    pub cure: Option<Cure>,
}

/// The reference of a comparison.
pub(super) struct Expected {
    /// The variant whose definition they follow.
    pub variant: Variant,
    /// The outputs of the untransformed nests.
    pub outputs: Arc<Outputs>,
    /// Why these are right.
    pub evidence: Evidence,
}

impl Expected {
    fn of(&self) -> (&Variant, &Outputs) {
        (&self.variant, &self.outputs)
    }
}

impl<'a> Trial<'a> {
    /// A trial of `total` steps that runs `kernels`.
    pub fn new(
        kernels: &[&Kernel],
        inputs: &Inputs,
        settings: &'a Settings,
        control: &'a Control,
        (progress, total): (&'a (dyn Fn(Progress) + Sync), usize),
    ) -> Trial<'a> {
        let tensors = all_tensors(kernels);
        Trial {
            inputs: inputs.settled(&tensors),
            settings,
            control,
            progress,
            done: AtomicUsize::new(0),
            total,
            tensors,
        }
    }

    /// Compiles the untransformed nests that other kernels are compared with; one step.
    pub fn compile_reference(&self, kernel: &Kernel) -> Result<Compiled, TrialError> {
        let compiled = runtime::compile(kernel, &self.settings.options.plain(), self.control)?;
        self.finish();
        Ok(compiled)
    }

    /// Says that the next step begins.
    pub fn begin(&self, what: &str) {
        (self.progress)(Progress {
            what: what.to_owned(),
            done: self.done.load(Ordering::Relaxed),
            total: self.total,
        });
    }

    /// Compiles a kernel; one step.
    pub fn compile(&self, kernel: &Kernel) -> Result<Compiled, TrialError> {
        let compiled = runtime::compile(kernel, &self.settings.options, self.control)?;
        self.finish();
        self.begin("compiling");
        Ok(compiled)
    }

    /// Says that a step is done.
    pub fn finish(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn data(&self, kernel: &Kernel) -> Vec<Data> {
        let of = |p: &Param| match p.role {
            Role::Out | Role::Workspace => Data::Unset,
            Role::In | Role::InOut => self.inputs.data(&p.tensor, &self.tensors),
        };
        kernel.params.iter().map(of).collect()
    }

    /// Runs a kernel and returns its outputs.
    pub fn run(&self, compiled: &Compiled) -> Written {
        self.run_beside(Beside::Nothing, compiled)
    }

    fn run_beside(&self, beside: Beside, compiled: &Compiled) -> Written {
        let data = self.data(compiled.kernel());
        let run = runtime::run_beside(beside, compiled, &data, self.control)?;
        Ok(Arc::new(run.outputs))
    }

    /// Runs the reference and, beside it, all others in order, untimed. Returns the outputs of the
    /// reference, then those of the others. Kernels that run out of time or memory are rerun alone.
    /// With `fail_fast`, others run until one fails.
    pub fn run_all(
        &self,
        naive: &Compiled,
        others: &[&Compiled],
        fail_fast: bool,
    ) -> (Written, Vec<Written>) {
        self.begin("running the untransformed nests");
        if others.is_empty() {
            return (self.run(naive), Vec::new());
        }
        let mut written = Vec::with_capacity(others.len());
        let reference = std::thread::scope(|scope| {
            let reference = scope.spawn(|| self.run_beside(Beside::Others, naive));
            for other in others {
                self.begin(&format!("running {}", other.kernel().symbol));
                let beside = if reference.is_finished() {
                    Beside::Nothing
                } else {
                    Beside::First
                };
                let outputs = self.run_beside(beside, other);
                let crowded = outputs.as_ref().err().is_some_and(lacks_room);
                let failed = outputs.is_err();
                written.push(outputs);
                if crowded || failed && fail_fast {
                    break;
                }
            }
            // A panic there is a bug, so it continues here.
            reference
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let reference = match reference {
            Err(error) if lacks_room(&error) => self.run(naive),
            reference => reference,
        };
        let last = written.last().and_then(|outputs| outputs.as_ref().err());
        if last.is_some_and(lacks_room) {
            written.pop();
        }
        for other in &others[written.len()..] {
            let failed = reference.is_err() || written.last().is_some_and(Result::is_err);
            if fail_fast && failed {
                break;
            }
            written.push(self.run(other));
        }
        (reference, written)
    }

    /// The results of `variant` by definition, given the outputs of its untransformed nests.
    pub fn expected(
        &self,
        variant: &Variant,
        outputs: Arc<Outputs>,
    ) -> Result<Expected, TrialError> {
        self.begin(&format!("checking {} by definition", variant.label));
        let loads = self.settings.reference_loads;
        let evidence = self.reference(variant).check(&outputs, loads)?;
        let variant = variant.clone();
        Ok(Expected {
            variant,
            outputs,
            evidence,
        })
    }

    /// The evidence that the `results` of a variant equal the definition in all elements. `None` if
    /// its evaluation takes too long, or if they differ: the untransformed nests then say who is to
    /// blame.
    pub fn by_definition(
        &self,
        variant: &Variant,
        results: &[String],
        own: &Outputs,
    ) -> Result<Option<Evidence>, TrialError> {
        self.begin(&format!("checking {} by definition", variant.label));
        let loads = self.settings.reference_loads;
        match self.reference(variant).check_all(results, own, loads) {
            Err(TrialError::Wrong { .. }) => Ok(None),
            evidence => evidence,
        }
    }

    fn reference<'v>(&'v self, variant: &'v Variant) -> Reference<'v> {
        Reference {
            variant,
            inputs: &self.inputs,
            tensors: &self.tensors,
            control: self.control,
        }
    }

    /// Compares the `results` of a variant or a peer with the reference; returns the largest
    /// relative error.
    pub fn check(
        &self,
        label: &str,
        results: &[String],
        (kernel, own): (&Kernel, &Outputs),
        expected: &Expected,
    ) -> Result<f64, TrialError> {
        compare_outputs(results, expected.of(), own)?.or_else(|difference| {
            Err(TrialError::Wrong {
                label: label.to_owned(),
                tensor: difference.tensor,
                comparison: difference.comparison,
                blame: self.blame(kernel, results, expected)?,
            })
        })
    }

    /// As [`check`](Trial::check), for the outputs of `compiled`. If the compiler is to blame, the
    /// kernel is compiled with fewer optimizations until its results are right.
    pub fn settle(
        &self,
        label: &str,
        results: &[String],
        (compiled, own): (Compiled, Arc<Outputs>),
        expected: &Expected,
    ) -> Result<Sound, TrialError> {
        let wrong = match self.check(label, results, (compiled.kernel(), &own), expected) {
            Ok(error) => {
                return Ok(Sound {
                    compiled,
                    own,
                    error,
                    cure: None,
                });
            }
            Err(error) => error,
        };
        let TrialError::Wrong {
            blame: Blame::Compiler(version),
            ..
        } = &wrong
        else {
            return Err(wrong);
        };
        for cure in CURES {
            let options = self.settings.options.cured(cure);
            let kernel = compiled.kernel();
            let Ok(compiled) = runtime::compile(kernel, &options, self.control) else {
                self.control.go_on(|| format!("compiling {label}"))?;
                continue;
            };
            let own = self.run(&compiled)?;
            if let Ok(error) = compare_outputs(results, expected.of(), &own)? {
                let cure = Some(Cure {
                    compiler: version.clone(),
                    flags: cure.join(" "),
                });
                return Ok(Sound {
                    compiled,
                    own,
                    error,
                    cure,
                });
            }
        }
        Err(wrong)
    }

    /// Finds the cause of a kernel's wrong results. If they are right with fewer optimizations, it
    /// is the compiler.
    fn blame(
        &self,
        kernel: &Kernel,
        results: &[String],
        expected: &Expected,
    ) -> Result<Blame, TrialError> {
        if !matches!(kernel.proof, Proof::Proved | Proof::Given(_)) {
            return Ok(Blame::Path);
        }
        let plain = self.run(&self.compile_reference(kernel)?)?;
        Ok(match compare_outputs(results, expected.of(), &plain)? {
            Ok(_) => {
                let compiler = runtime::Compiler::find(self.control)?;
                Blame::Compiler(compiler.version().to_owned())
            }
            Err(_) => Blame::Teml,
        })
    }

    /// The workload that measures a variant or a peer that was checked.
    pub fn workload(
        &self,
        label: &str,
        compiled: Compiled,
        checked: Arc<Outputs>,
        apart: bool,
    ) -> Workload {
        Workload {
            label: label.to_owned(),
            data: self.data(compiled.kernel()),
            kernel: compiled,
            threads: self.control.threads,
            apart,
            checked: Some(checked),
        }
    }

    /// Measures variants against each other. `known` gets the number and the times of each as soon
    /// as they are known.
    pub fn measure(
        &self,
        variants: &[Workload],
        known: &mut dyn FnMut(usize, &Timing),
    ) -> Result<Vec<Timing>, TrialError> {
        let mut tell = |event: Event<'_>| match event {
            Event::Runs { variant, run: 0 } => {
                self.begin(&format!("measuring {}: warm-up", variants[variant].label));
            }
            Event::Runs { variant, run } => {
                self.begin(&format!("measuring {}: run {run}", variants[variant].label));
            }
            Event::Known { variant, timing } => known(variant, timing),
        };
        let budget = &self.settings.budget;
        Ok(runtime::measure_and_tell(
            variants,
            budget,
            self.control,
            &mut tell,
        )?)
    }
}

/// Whether a run lacked time or memory, so that it may succeed alone.
pub(super) fn lacks_room(error: &TrialError) -> bool {
    use RuntimeError::{Allocation, TimedOut};
    matches!(
        error,
        TrialError::Runtime(Allocation { .. } | TimedOut { .. })
    )
}

/// Runs a variant once and compares its results with the reference. Returns the results, and the
/// remedy if the compiler gets the variant wrong.
///
/// # Errors
/// [`TrialError`], if the results stay wrong with all remedies, or for any other failure.
pub fn run(
    variant: &Variant,
    inputs: &Inputs,
    settings: &Settings,
    control: &Control,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(Arc<Outputs>, Option<Cure>), TrialError> {
    let kernel = generate(variant, settings)?;
    let trial = Trial::new(&[&kernel], inputs, settings, control, (progress, 3));
    trial.begin("compiling");
    let compiled = trial.compile(&kernel)?;
    trial.begin(&format!("running {}", variant.label));
    let own = trial.run(&compiled)?;
    let (label, results) = (&variant.label, compared(variant));
    if trial.by_definition(variant, &results, &own)?.is_some() {
        return Ok((own, None));
    }
    trial.begin("compiling");
    let plain = trial.compile_reference(&generate(&naive(variant), settings)?)?;
    trial.begin("running the untransformed nests");
    let expected = trial.expected(variant, trial.run(&plain)?)?;
    let sound = trial.settle(label, &results, (compiled, own), &expected)?;
    Ok((sound.own, sound.cure))
}

/// The tensors of all kernels in order of appearance, which numbers the default inputs.
pub(super) fn all_tensors(kernels: &[&Kernel]) -> Vec<Tensor> {
    let mut seen = HashSet::new();
    let params = kernels.iter().flat_map(|k| &k.params);
    let tensors = params.map(|p| p.tensor.clone());
    tensors.filter(|t| seen.insert(t.name().cloned())).collect()
}
