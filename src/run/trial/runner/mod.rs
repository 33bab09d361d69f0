//! Runners: execute the variants that a script passes to `compare`, `measure`, `run` and `codegen`.
//! A session has one, and all measurements go through it.

mod check;
mod collect;
mod emit;
mod run;

pub use check::Check;
pub use collect::Collect;
pub use emit::Emit;
pub use run::Run;

use super::generate::no_code;
use super::results::is_own;
use super::{Comparison, Evaluator, Measured, Progress, Ranking, Settings, TrialError, Variant};
use crate::codegen::{self, Kernel, NoCode};
use crate::ir::{Nest, Tensor};
use crate::runtime::{Compiler, Control, Values};

/// Executes variants.
pub trait Runner: std::fmt::Debug + Send + Sync {
    /// Tries variants against each other, for `compare`. `None` if nothing is timed.
    ///
    /// # Errors
    /// The first failure.
    fn compare(
        &self,
        comparison: Comparison,
        context: &mut RunContext<'_>,
    ) -> Result<Option<Ranking>, TrialError>;

    /// Tries each variant by itself, for `measure`: failing ones are dropped, and the others go on.
    /// `None` if nothing is timed.
    ///
    /// # Errors
    /// All variants, or the system, are at fault.
    fn measure(
        &self,
        comparison: Comparison,
        context: &mut RunContext<'_>,
    ) -> Result<Option<Ranking>, TrialError>;

    /// The outputs of the one variant of `comparison`, for `run`. Tensors are empty if nothing
    /// runs.
    ///
    /// # Errors
    /// There is no code, it fails, or its results are wrong.
    fn run(
        &self,
        comparison: Comparison,
        context: &mut RunContext<'_>,
    ) -> Result<Vec<(Tensor, Values)>, TrialError> {
        context.kept.unwritten(&comparison)
    }

    /// The evaluator with which a tuner tries variants of the computation of `comparison`'s first
    /// variant. `None` if nothing is timed.
    ///
    /// # Errors
    /// There is no reference.
    fn evaluator<'a>(
        &'a self,
        _contest: &'a Comparison,
        _control: &'a Control,
        _progress: &'a (dyn Fn(Progress) + Sync),
    ) -> Result<Option<Box<dyn Evaluator + 'a>>, TrialError> {
        Ok(None)
    }

    /// The compiler, and its flags.
    ///
    /// # Errors
    /// There is no compiler.
    fn compiler(
        &self,
        settings: &Settings,
        control: &Control,
    ) -> Result<(String, String), TrialError> {
        let compiler = Compiler::find(control)?;
        let flags = settings.options.flags(compiler, false);
        let flags = compiler.command_line(&flags).join(" ");
        Ok((compiler.version().to_owned(), flags))
    }

    /// How many points of a space are visited if nothing is timed.
    fn sample(&self) -> usize {
        1
    }

    /// Receives each variant that `codegen` generates.
    fn generates(&self, _variant: &Variant, _settings: &Settings, _context: &mut RunContext<'_>) {}

    /// Whether anything reads the initial contents of tensors.
    fn needs_inputs(&self) -> bool {
        false
    }

    /// Whether kernels run, so that results can be written to files.
    fn runs(&self) -> bool {
        false
    }
}

/// The environment of a runner, and the receivers of its progress.
pub struct RunContext<'a> {
    /// Limits, threads, and where to stop.
    pub control: &'a Control,
    /// Is told the current step.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Gets each variant of a comparison as soon as its times are known.
    pub show: &'a mut dyn FnMut(&Measured),
    /// Prints a line.
    pub say: &'a mut dyn FnMut(&str),
    /// The output of the run.
    pub kept: &'a mut Kept,
}

/// The output of runners.
#[derive(Debug, Default)]
pub struct Kept {
    /// The C of the variants that [`Emit`] got, in order.
    pub compared: Vec<Kernel>,
    /// The nests of `compared`.
    pub nests: Vec<Nest>,
    /// The variants of `compared`.
    pub emitted: Vec<Variant>,
    /// The variants that [`Emit`] got from `codegen`, with each kernel's name.
    pub generated: Vec<Variant>,
    /// The comparisons that [`Collect`] got, in order.
    pub comparisons: Vec<Comparison>,
    /// How many variants [`Check`] got.
    pub checked: usize,
    /// How many of those are not known to be right.
    pub wrong: usize,
    /// How many of those have no definition to prove them by.
    pub unproved: usize,
}

impl Kept {
    /// Generates the C of a variant, under a unique name.
    fn emit(&mut self, variant: &Variant, settings: &Settings) -> Result<Kernel, NoCode> {
        let same = |v: &Variant| (&v.label, &v.nests) == (&variant.label, &variant.nests);
        if let Some(known) = self.emitted.iter().position(same) {
            return Ok(self.compared[known].clone());
        }
        let symbol = codegen::symbol::from_label(&variant.label);
        let symbol = free_symbol(symbol, &self.compared);
        let (reductions, target) = (settings.reductions, &settings.options.target);
        let is_own = is_own(variant, &[]);
        let kernel =
            codegen::generate_with_own(&variant.nests, &symbol, reductions, target, &is_own)?;
        self.compared.push(kernel.clone());
        let with_sizes = variant.nests.iter().map(Nest::with_sizes);
        self.nests.extend(with_sizes.cloned());
        self.emitted.push(variant.clone());
        Ok(kernel)
    }

    /// The outputs that a variant would write, as tensors without elements.
    fn unwritten(&mut self, comparison: &Comparison) -> Result<Vec<(Tensor, Values)>, TrialError> {
        let variant = comparison.variants.first().ok_or(TrialError::Nothing)?;
        let kernel = self.emit(variant, &comparison.settings);
        let kernel = kernel.map_err(|error| no_code(variant, error))?;
        let written = kernel
            .params
            .into_iter()
            .filter(|p| p.role != codegen::Role::In);
        let none = |tensor: Tensor| (tensor.clone(), Values::none(tensor.elem()));
        Ok(written.map(|param| none(param.tensor)).collect())
    }
}

/// `symbol`, with a number appended if a kernel has that name: all of them may end up in one file.
pub fn free_symbol(symbol: String, kernels: &[Kernel]) -> String {
    let taken = |name: &str| kernels.iter().any(|k| k.symbol == name);
    let numbered = (2..).map(|number| format!("{symbol}_{number}"));
    let mut names = std::iter::once(symbol.clone()).chain(numbered);
    names.find(|name| !taken(name)).unwrap_or(symbol)
}
