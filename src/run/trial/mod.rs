//! Trials: each variant of one computation is checked, then all are timed in one run.
//!
//! The first variant's definition is the reference. Its untransformed nests are compiled without
//! the optimizations that variants get, so that they do not share a miscompilation. Their results
//! are compared with the definition: in full if that is cheap, otherwise at samples. Every element
//! of every variant's results is compared with them. Only then is anything timed.
//!
//! A session has one [`Runner`], which takes a [`Comparison`] and runs, checks, emits or collects
//! its variants.

mod check;
mod comparison;
mod definitions;
mod evaluator;
mod export;
mod inputs;
mod reference;
mod runner;
mod ship;
mod sweep;

pub use check::{Cure, Progress, run};
pub use comparison::{Comparison, Peer, Ranking, Work};
pub use definitions::{Equality, equality};
pub use evaluator::{Defect, Evaluator, LocalEvaluator, Prepared, Ready, Screened};
pub use export::{ExportedFile, export, rehearse};
pub use inputs::Inputs;
pub use reference::Evidence;
pub use runner::{Check, Collect, Emit, Kept, Run, RunContext, Runner, free_symbol};
pub use ship::{Cargo, Shipped};

use crate::analysis::work;
use crate::codegen::{self, Kernel, NoCode};
use crate::interp::Fault;
use crate::ir::{Expr, Nest, Node, Part, Tensor, Tree};
use crate::legality::Reductions;
use crate::runtime::{self, Agreement, Budget, Options, Outputs, RuntimeError, Timing};
use reference::Reference;
use sweep::sweep;

/// One way to compute something: nests that run in order.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name in tables.
    pub label: String,
    /// The nests, at least one.
    pub nests: Vec<Nest>,
}

/// How trials are run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How often each variant runs.
    pub budget: Budget,
    /// How the C is compiled.
    pub options: Options,
    /// Whether reductions may be reordered.
    pub reductions: Reductions,
    /// How many tensor elements the reference may read before it samples.
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

/// Why a trial ended without times.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// There is nothing to compare.
    #[error("there is nothing to compare")]
    Nothing,
    /// There is no C for a variant.
    #[error("`{label}` has no code: {error}")]
    Code {
        label: String,
        /// Its nest at fault.
        nest: Option<Nest>,
        error: NoCode,
    },
    /// The definition has no value.
    #[error("`{label}` has no reference: {fault}")]
    Fault { label: String, fault: Fault },
    /// Variants compute different results.
    #[error("`{first}` computes {first_results}, but `{second}` computes {second_results}")]
    ResultsDiffer {
        /// The first variant.
        first: String,
        /// Its results.
        first_results: String,
        /// The other one.
        second: String,
        /// Its results.
        second_results: String,
    },
    /// A result is wrong.
    #[error("{}: {comparison}; nothing was timed", wrong(label, tensor, blame))]
    Wrong {
        label: String,
        tensor: String,
        /// The first difference, and its size.
        comparison: String,
        /// The cause.
        blame: Blame,
    },
    /// A process on another machine failed.
    #[error("{why}")]
    Elsewhere {
        /// The defect that it found in a variant; `None` if the process itself failed.
        defect: Option<Defect>,
        why: String,
    },
    /// Compiling, running or measuring failed.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

/// The cause of a wrong result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blame {
    /// A step of the path, which was not proved.
    Path,
    /// The variant has another definition than the first one.
    Definition {
        first: String,
        /// Whether a text is its definition.
        is_text: bool,
        /// The relation of both definitions.
        equality: Equality,
    },
    /// The C compiler, of this version: without its optimizations the result is right.
    Compiler(String),
    /// teml, which proved the nest.
    Teml,
}

/// The message for a wrong result.
fn wrong(label: &str, tensor: &str, blame: &Blame) -> String {
    match blame {
        Blame::Definition { first, .. } => format!(
            "`{label}` and `{first}` have different definitions, and {tensor} is not the same"
        ),
        _ => format!("`{label}` computes a wrong {tensor}"),
    }
}

impl TrialError {
    /// Whether the compiler got a kernel wrong.
    pub fn is_of_compiler(&self) -> bool {
        let TrialError::Wrong { blame, .. } = self else {
            return false;
        };
        matches!(blame, Blame::Compiler(_))
    }
}

/// Arithmetic operations of the computation of `variant` by its definition.
pub fn flops(variant: &Variant) -> f64 {
    naive(variant).nests.iter().filter_map(work::flops).sum()
}

/// The least work of the computation of nests that run in order.
pub fn work(nests: &[Nest]) -> Work {
    let variant = Variant {
        label: String::new(),
        nests: nests.to_vec(),
    };
    let plain = naive(&variant);
    comparison::work_of(std::slice::from_ref(&variant), &plain)
}

fn generate(variant: &Variant, settings: &Settings) -> Result<Kernel, TrialError> {
    let symbol = codegen::symbol::from_label(&variant.label);
    generate_as(&symbol, variant, settings)
}

/// The C of a variant, as a function named `symbol`.
fn generate_as(symbol: &str, variant: &Variant, settings: &Settings) -> Result<Kernel, TrialError> {
    let (reductions, target) = (settings.reductions, &settings.options.target);
    let kernel = codegen::generate_for(&variant.nests, symbol, reductions, target);
    kernel.map_err(|error| no_code(variant, error))
}

/// The error that a variant has no code, with the nest at fault.
fn no_code(variant: &Variant, error: NoCode) -> TrialError {
    let nest = match &error {
        NoCode::Race { nest, .. } => variant.nests.get(*nest).cloned(),
        NoCode::Illegal(violation) => {
            let nest = violation.nest();
            nest.and_then(|k| variant.nests.get(k)).cloned()
        }
        NoCode::Undecided(why) => why.nest().and_then(|k| variant.nests.get(k)).cloned(),
        _ => None,
    };
    TrialError::Code {
        label: variant.label.clone(),
        nest,
        error,
    }
}

/// The untransformed nests of a variant's definition.
fn naive(variant: &Variant) -> Variant {
    let nests = variant.nests.iter().flat_map(Nest::untransformed);
    Variant {
        label: variant.label.clone(),
        nests: nests.collect(),
    }
}

fn definition(variant: &Variant) -> impl Iterator<Item = &Expr> {
    variant.nests.iter().flat_map(|n| n.definition().iter())
}

/// The tensors of a variant that are compared: its results, and all that programs assign.
fn compared(variant: &Variant) -> Vec<String> {
    let mut names = results(variant);
    for nest in &variant.nests {
        let programs = nest.originals().iter().filter(|part| part.is_program);
        let assigned = programs.flat_map(Part::assigned);
        let kept = assigned.filter(|t| !nest.donated().iter().any(|n| t.name() == Some(n)));
        names.extend(kept.map(|t| t.label().to_owned()));
    }
    names.sort();
    names.dedup();
    names
}

/// The tensors that a variant assigns and nothing reads afterwards. The last statement's target is
/// always among them, so that there is always something to compare.
pub fn results(variant: &Variant) -> Vec<String> {
    let statements: Vec<&Expr> = definition(variant).collect();
    let reads = |statement: &Expr, name: &str| {
        let mut found = false;
        if let Node::Assign { value, .. } = statement.node() {
            value.for_each_access(&mut |t, _| found |= t.label() == name);
        }
        found
    };
    let locals = variant.nests.iter().flat_map(Nest::originals);
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
        // A statement that updates the tensor reads it and assigns it anew.
        if !statements[k + 1..].iter().any(|later| reads(later, name)) {
            results.push(name.to_owned());
        }
    }
    results.sort();
    results.dedup();
    results
}

fn check_results(first: &Variant, second: &Variant) -> Result<(), TrialError> {
    let (a, b) = (results(first), results(second));
    if a == b {
        Ok(())
    } else {
        Err(TrialError::ResultsDiffer {
            first: first.label.clone(),
            first_results: a.join(", "),
            second: second.label.clone(),
            second_results: b.join(", "),
        })
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
        let comparison: Agreement =
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
