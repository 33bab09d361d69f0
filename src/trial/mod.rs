//! Trials: variants of one computation, each checked, then all timed in one run.
//!
//! The first variant's definition is the reference. Its untransformed nests are compiled without
//! the optimizations that variants get, since compilers err, too, and what they compute is compared
//! with the definition: in full where that is cheap, at samples where it is not. Every element of
//! every variant's results is compared with them. Only then is anything timed.

mod check;
mod contest;
mod export;
mod inputs;
mod reference;
mod sweep;

pub use check::{Progress, run};
pub use contest::{Contest, Entry, Peer, Ranking, Work};
pub use export::{ExportedFile, export};
pub use inputs::Inputs;
pub use reference::Evidence;
pub use sweep::{Sweep, sweep};

use crate::analysis::work;
use crate::codegen::{self, Kernel, NoCode};
use crate::interp::Fault;
use crate::ir::{Expr, Nest, Node, Part, Tensor, Tree};
use crate::legality::Reductions;
use crate::runtime::{self, Budget, Comparison, Control, Options, Outputs, RuntimeError, Timing};
use contest::Audience;
use reference::Reference;

/// One way to compute something: nests that run in order.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What tables call it.
    pub label: String,
    /// At least one.
    pub nests: Vec<Nest>,
}

/// How trials are run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How often each variant runs.
    pub budget: Budget,
    /// How the C is compiled.
    pub options: Options,
    /// What may become of the order of reductions.
    pub reductions: Reductions,
    /// How many tensor elements the reference may look at before it samples.
    pub reference_loads: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        let (budget, options) = (Budget::default(), Options::default());
        Settings {
            budget,
            options,
            reductions: Reductions::default(),
            reference_loads: 5e7,
        }
    }
}

/// What a trial found out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// One row per candidate, in order.
    pub rows: Vec<Row>,
    /// What the results were compared with.
    pub evidence: Evidence,
    /// Arithmetic operations of the computation by definition.
    pub flops: f64,
    /// The number of threads that parallel loops used.
    pub threads: usize,
}

/// A candidate's row.
#[derive(Clone, Debug)]
pub struct Row {
    /// The label.
    pub label: String,
    /// Its times.
    pub timing: Timing,
    /// The largest relative error of its results against the reference.
    pub error: f64,
    /// The code, which knows why it may stand for the computation.
    pub kernel: Kernel,
}

/// Why a trial ended without times.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// There is nothing to compare.
    #[error("there is nothing to compare")]
    Nothing,
    /// There is no C for a candidate.
    #[error("`{label}` has no code: {error}")]
    Code {
        /// The candidate.
        label: String,
        /// Its nest at fault.
        nest: Option<Nest>,
        /// Why.
        error: NoCode,
    },
    /// The definition has no value.
    #[error("`{label}` has no reference: {fault}")]
    Fault {
        /// The candidate.
        label: String,
        /// Why.
        fault: Fault,
    },
    /// Candidates compute different things.
    #[error("`{first}` computes {first_results}, but `{second}` computes {second_results}")]
    ResultsDiffer {
        /// The first candidate.
        first: String,
        /// Its results.
        first_results: String,
        /// The other one.
        second: String,
        /// Its results.
        second_results: String,
    },
    /// A result is wrong.
    #[error("`{label}` computes a wrong {tensor}: {comparison}; nothing was timed")]
    Wrong {
        /// The candidate.
        label: String,
        /// The tensor.
        tensor: String,
        /// Where it differs first, and by how much.
        comparison: String,
        /// Who is to blame.
        blame: Blame,
    },
    /// Compiling, running or measuring failed.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

/// Who is to blame for a wrong result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blame {
    /// A step of the path, which was not proved.
    Path,
    /// The C compiler, of this version: without its optimizations the result is right.
    Compiler(String),
    /// teml, which proved the nest.
    Teml,
}

/// Checks and times `candidates`. Says what it is doing to `progress`, and gives each row to `show`
/// as soon as it is known.
///
/// # Errors
/// [`TrialError`]; then nothing was timed, or what was timed is not the whole comparison.
pub fn compare(
    candidates: &[Candidate],
    inputs: &Inputs,
    settings: &Settings,
    control: &Control,
    progress: &(dyn Fn(Progress) + Sync),
    show: &mut dyn FnMut(&Row),
) -> Result<Outcome, TrialError> {
    let contest = Contest {
        candidates: candidates.to_vec(),
        inputs: inputs.clone(),
        settings: settings.clone(),
    };
    let all_must_do = true;
    let audience = Audience { progress, show };
    let ranking = contest::hold(&contest, (&[], &[]), all_must_do, control, audience)?;
    let rows = ranking.entries.into_iter().map(|entry| entry.row);
    Ok(Outcome {
        rows: rows.collect::<Result<_, _>>()?,
        evidence: ranking.evidence,
        flops: ranking.work.flops,
        threads: ranking.threads,
    })
}

/// Arithmetic operations of the computation of `candidate` by its definition.
pub fn flops(candidate: &Candidate) -> f64 {
    naive(candidate).nests.iter().filter_map(work::flops).sum()
}

fn generate(candidate: &Candidate, reductions: Reductions) -> Result<Kernel, TrialError> {
    let symbol = codegen::symbol::from_label(&candidate.label);
    codegen::generate(&candidate.nests, &symbol, reductions).map_err(|error| {
        let nest = match &error {
            NoCode::Race { nest, .. } => candidate.nests.get(*nest).cloned(),
            NoCode::Illegal(violation) => {
                let nest = violation.nest();
                nest.and_then(|k| candidate.nests.get(k)).cloned()
            }
            NoCode::Undecided(why) => why.nest().and_then(|k| candidate.nests.get(k)).cloned(),
            _ => None,
        };
        TrialError::Code {
            label: candidate.label.clone(),
            nest,
            error,
        }
    })
}

/// The untransformed nests of a candidate's definition.
fn naive(candidate: &Candidate) -> Candidate {
    let nests = candidate.nests.iter().flat_map(Nest::untransformed);
    Candidate {
        label: candidate.label.clone(),
        nests: nests.collect(),
    }
}

fn definition(candidate: &Candidate) -> impl Iterator<Item = &Expr> {
    candidate.nests.iter().flat_map(|n| n.definition().iter())
}

/// The tensors of a candidate that are compared: its results, and all that programs assign.
fn compared(candidate: &Candidate) -> Vec<String> {
    let mut names = results(candidate);
    for nest in &candidate.nests {
        let programs = nest.originals().iter().filter(|part| part.is_program);
        let assigned = programs.flat_map(Part::assigned);
        let kept = assigned.filter(|t| !nest.spent().iter().any(|n| t.name() == Some(n)));
        names.extend(kept.map(|t| t.label().to_owned()));
    }
    names.sort();
    names.dedup();
    names
}

/// The tensors that a candidate assigns and that nothing reads afterwards. The last statement's
/// target is always among them, so that there is always something to compare.
fn results(candidate: &Candidate) -> Vec<String> {
    let statements: Vec<&Expr> = definition(candidate).collect();
    let reads = |statement: &Expr, name: &str| {
        let mut found = false;
        if let Node::Assign { value, .. } = statement.node() {
            value.for_each_access(&mut |t, _| found |= t.label() == name);
        }
        found
    };
    let locals = candidate.nests.iter().flat_map(Nest::originals);
    let locals = locals.flat_map(|part| part.trees.iter().flat_map(Tree::locals));
    let locals: Vec<&str> = locals.map(Tensor::label).collect();
    let mut results = Vec::new();
    for (k, statement) in statements.iter().enumerate() {
        let Some(name) = statement.tensor().map(|t| t.label()) else {
            continue;
        };
        if locals.contains(&name) {
            continue;
        }
        // An update of the tensor itself reads it, and assigns it anew.
        if !statements[k + 1..].iter().any(|later| reads(later, name)) {
            results.push(name.to_owned());
        }
    }
    results.sort();
    results.dedup();
    results
}

fn check_results(first: &Candidate, second: &Candidate) -> Result<(), TrialError> {
    let (a, b) = (results(first), results(second));
    match a == b {
        true => Ok(()),
        false => Err(TrialError::ResultsDiffer {
            first: first.label.clone(),
            first_results: a.join(", "),
            second: second.label.clone(),
            second_results: b.join(", "),
        }),
    }
}

/// A result that differs from the reference.
struct Difference {
    tensor: String,
    comparison: String,
}

/// Compares all results; returns the largest relative error, or the first difference.
fn compare_outputs(
    results: &[String],
    reference: &Outputs,
    own: &Outputs,
) -> Result<Result<f64, Difference>, RuntimeError> {
    let mut worst = 0.0f64;
    for name in results {
        let (Some(expected), Some(actual)) = (reference.get(name), own.get(name)) else {
            continue;
        };
        let tolerance = runtime::default_tolerance(expected.tensor().elem());
        let shape = expected.tensor().shape();
        let comparison: Comparison =
            runtime::compare(expected.view(), actual.view(), shape, tolerance)?;
        if !comparison.agrees() {
            return Ok(Err(Difference {
                tensor: name.clone(),
                comparison: comparison.to_string(),
            }));
        }
        worst = worst.max(comparison.relative_error);
    }
    Ok(Ok(worst))
}
