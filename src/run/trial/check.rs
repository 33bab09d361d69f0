//! From variants to results that were found right.

use super::{
    Blame, Evidence, Inputs, Reference, Settings, TrialError, Variant, compare_outputs, compared,
    generate, naive,
};
use crate::codegen::{Kernel, Param, Role};
use crate::ir::Tensor;
use crate::legality::Proof;
use crate::runtime::{
    self, Beside, CURES, Compiled, Control, Data, Event, Outputs, RuntimeError, Timing, Workload,
};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How far a trial is.
#[derive(Clone, Debug)]
pub struct Progress {
    /// What is being done.
    pub what: String,
    /// How many steps are done.
    pub done: usize,
    /// Of how many.
    pub total: usize,
}

/// What all steps of a trial need.
pub(super) struct Trial<'a> {
    pub inputs: Inputs,
    pub settings: &'a Settings,
    pub control: &'a Control,
    progress: &'a (dyn Fn(Progress) + Sync),
    done: AtomicUsize,
    total: usize,
    tensors: Vec<Tensor>,
}

/// What a kernel wrote, or why it wrote nothing.
pub(super) type Written = Result<Arc<Outputs>, TrialError>;

/// What was done about a compiler that gets a kernel wrong.
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
    /// What that took.
    pub cure: Option<Cure>,
}

/// What results are compared with.
pub(super) struct Expected {
    /// What the untransformed nests wrote.
    pub outputs: Arc<Outputs>,
    /// Why that is right.
    pub evidence: Evidence,
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

    /// Compiles the untransformed nests that others are compared with, which is a step.
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

    /// Compiles a kernel, which is a step.
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
            Role::Out => Data::Unset,
            Role::In | Role::InOut => self.inputs.data(&p.tensor, &self.tensors),
        };
        kernel.params.iter().map(of).collect()
    }

    /// What a kernel writes.
    pub fn run(&self, compiled: &Compiled) -> Written {
        self.run_beside(Beside::Nothing, compiled)
    }

    fn run_beside(&self, beside: Beside, compiled: &Compiled) -> Written {
        let data = self.data(compiled.kernel());
        let run = runtime::run_beside(beside, compiled, &data, self.control)?;
        Ok(Arc::new(run.outputs))
    }

    /// What the untransformed nests write, and what others write, in order, which run beside them
    /// as long as they do. Nothing is timed. What lacks time or memory beside others runs again
    /// alone. With `fail_fast`, others run until one fails.
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
            // What panics there is a bug that panics here, too.
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

    /// What `variant` computes by definition, from what its untransformed nests wrote.
    pub fn expected(
        &self,
        variant: &Variant,
        outputs: Arc<Outputs>,
    ) -> Result<Expected, TrialError> {
        self.begin(&format!("checking {} by definition", variant.label));
        let reference = Reference {
            variant,
            inputs: &self.inputs,
            tensors: &self.tensors,
            control: self.control,
        };
        let evidence = reference.check(&outputs, self.settings.reference_loads)?;
        Ok(Expected { outputs, evidence })
    }

    /// Compares the `results` of a variant or a peer with the reference; its error.
    pub fn check(
        &self,
        label: &str,
        results: &[String],
        (kernel, own): (&Kernel, &Outputs),
        expected: &Expected,
    ) -> Result<f64, TrialError> {
        compare_outputs(results, &expected.outputs, own)?.or_else(|difference| {
            Err(TrialError::Wrong {
                label: label.to_owned(),
                tensor: difference.tensor,
                comparison: difference.comparison,
                blame: self.blame(kernel, results, expected)?,
            })
        })
    }

    /// As [`check`](Trial::check), for what `compiled` wrote. Where the compiler is to blame, the kernel
    /// is compiled with fewer optimizations, until its results are right.
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
            if let Ok(error) = compare_outputs(results, &expected.outputs, &own)? {
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

    /// Who is to blame for the wrong results of a kernel: they may be right where the compiler
    /// optimizes less.
    fn blame(
        &self,
        kernel: &Kernel,
        results: &[String],
        expected: &Expected,
    ) -> Result<Blame, TrialError> {
        if kernel.proof != Proof::Proved {
            return Ok(Blame::Path);
        }
        let plain = self.run(&self.compile_reference(kernel)?)?;
        Ok(match compare_outputs(results, &expected.outputs, &plain)? {
            Ok(_) => {
                let compiler = runtime::Compiler::find(self.control)?;
                Blame::Compiler(compiler.version().to_owned())
            }
            Err(_) => Blame::Teml,
        })
    }

    /// A variant or a peer that was checked, to be measured.
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

/// Whether a run lacked time or memory: it may end well where nothing else runs beside it.
pub(super) fn lacks_room(error: &TrialError) -> bool {
    use RuntimeError::{Allocation, TimedOut};
    matches!(
        error,
        TrialError::Runtime(Allocation { .. } | TimedOut { .. })
    )
}

/// Runs a variant once and returns what it wrote, after its results were compared with the
/// reference, and what that took where the compiler got it wrong.
///
/// # Errors
/// [`TrialError`], if its results are wrong, too.
pub fn run(
    variant: &Variant,
    inputs: &Inputs,
    settings: &Settings,
    control: &Control,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(Arc<Outputs>, Option<Cure>), TrialError> {
    let kernel = generate(variant, settings)?;
    let plain = naive(variant);
    let trial = Trial::new(&[&kernel], inputs, settings, control, (progress, 3));
    trial.begin("compiling");
    let compiled = trial.compile(&kernel)?;
    let plain = trial.compile_reference(&generate(&plain, settings)?)?;
    trial.begin(&format!("running {}", variant.label));
    let (outputs, own) = trial.run_all(&plain, &[&compiled], true);
    let expected = trial.expected(variant, outputs?)?;
    let own = own.into_iter().next().unwrap_or(Err(TrialError::Nothing))?;
    let (label, results) = (&variant.label, compared(variant));
    let sound = trial.settle(label, &results, (compiled, own), &expected)?;
    Ok((sound.own, sound.cure))
}

/// The tensors of all kernels in order of appearance: their numbers decide the default inputs.
pub(super) fn all_tensors(kernels: &[&Kernel]) -> Vec<Tensor> {
    let mut seen = HashSet::new();
    let params = kernels.iter().flat_map(|k| &k.params);
    let tensors = params.map(|p| p.tensor.clone());
    tensors.filter(|t| seen.insert(t.name().cloned())).collect()
}
