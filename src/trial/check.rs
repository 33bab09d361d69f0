//! From candidates to results that were found right.

use super::{
    Candidate, Evidence, Inputs, Reference, Settings, TrialError, check_outputs, generate, naive,
    results,
};
use crate::codegen::{Kernel, Param, Role};
use crate::ir::Tensor;
use crate::runtime::{self, Compiled, Control, Data, Outputs, Timing, Variant};
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
    pub inputs: &'a Inputs,
    pub settings: &'a Settings,
    pub control: &'a Control,
    progress: &'a (dyn Fn(Progress) + Sync),
    done: AtomicUsize,
    total: usize,
    tensors: Vec<Tensor>,
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
        inputs: &'a Inputs,
        settings: &'a Settings,
        control: &'a Control,
        (progress, total): (&'a (dyn Fn(Progress) + Sync), usize),
    ) -> Trial<'a> {
        Trial {
            inputs,
            settings,
            control,
            progress,
            done: AtomicUsize::new(0),
            total,
            tensors: all_tensors(kernels),
        }
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

    fn run(&self, compiled: &Compiled) -> Result<Arc<Outputs>, TrialError> {
        let data = self.data(compiled.kernel());
        let run = runtime::run_once(compiled, &data, self.control)?;
        Ok(Arc::new(run.outputs))
    }

    /// What `candidate` computes by definition, from its untransformed nests as they were
    /// compiled.
    pub fn expected(
        &self,
        candidate: &Candidate,
        naive: &Compiled,
    ) -> Result<Expected, TrialError> {
        self.begin(&format!("checking {} by definition", candidate.label));
        let outputs = self.run(naive)?;
        let reference = Reference {
            candidate,
            inputs: self.inputs,
            tensors: &self.tensors,
            control: self.control,
        };
        let evidence = reference.check(&outputs, self.settings.reference_loads)?;
        Ok(Expected { outputs, evidence })
    }

    /// Runs a candidate or a peer and compares its `results`; returns what it wrote, and its error.
    pub fn check(
        &self,
        label: &str,
        results: &[String],
        compiled: &Compiled,
        expected: &Expected,
    ) -> Result<(Arc<Outputs>, f64), TrialError> {
        let own = self.run(compiled)?;
        let error = check_outputs(label, results, &expected.outputs, &own)?;
        Ok((own, error))
    }

    /// A candidate or a peer that was checked, to be measured.
    pub fn variant(
        &self,
        label: &str,
        compiled: Compiled,
        checked: Arc<Outputs>,
        apart: bool,
    ) -> Variant {
        Variant {
            label: label.to_owned(),
            data: self.data(compiled.kernel()),
            kernel: compiled,
            threads: self.control.threads,
            apart,
            checked: Some(checked),
        }
    }

    /// Measures variants against each other.
    pub fn measure(&self, variants: &[Variant]) -> Result<Vec<Timing>, TrialError> {
        Ok(runtime::measure(
            variants,
            &self.settings.budget,
            self.control,
        )?)
    }
}

/// Runs a candidate once and returns what it wrote, after its results were compared with the
/// reference.
///
/// # Errors
/// As [`super::compare`].
pub fn run(
    candidate: &Candidate,
    inputs: &Inputs,
    settings: &Settings,
    control: &Control,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Arc<Outputs>, TrialError> {
    let kernel = generate(candidate, settings.reductions)?;
    let plain = naive(candidate);
    let trial = Trial::new(&[&kernel], inputs, settings, control, (progress, 3));
    trial.begin("compiling");
    let compiled = trial.compile(&kernel)?;
    let plain = match plain.nests == candidate.nests {
        true => compiled.clone(),
        false => trial.compile(&generate(&plain, settings.reductions)?)?,
    };
    let expected = trial.expected(candidate, &plain)?;
    trial.begin(&format!("running {}", candidate.label));
    let results = results(candidate);
    Ok(trial
        .check(&candidate.label, &results, &compiled, &expected)?
        .0)
}

/// The tensors of all kernels in order of appearance: their numbers decide the default inputs.
pub(super) fn all_tensors(kernels: &[&Kernel]) -> Vec<Tensor> {
    let mut seen = HashSet::new();
    let params = kernels.iter().flat_map(|k| &k.params);
    let tensors = params.map(|p| p.tensor.clone());
    tensors.filter(|t| seen.insert(t.name().cloned())).collect()
}
