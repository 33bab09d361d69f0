//! The interface for programs in Rust: nests from texts, steps, runs and comparisons. Scripts have
//! the same functions under their own names.

use crate::ir::{Arg, Nest};
use crate::legality::Reductions;
use crate::runtime::{Control, Outputs};
use crate::transform::{Error, apply, mistake, operation};
use crate::trial::{self, Comparison, Inputs, Ranking, Settings, TrialError, Variant};
use std::sync::Arc;

/// The loop nest that a text describes: tensors, loops and statements. The text is its definition.
///
/// # Errors
/// All errors in the text, with their lines.
///
/// Source: the canonical text of nests, which `print` writes.
pub fn nest(text: &str) -> Result<Nest, Error> {
    call("nest", &[Arg::Word(text.to_owned())])
}

/// The nest after a step: any operation that takes a nest first and returns one, by the name that
/// scripts use. The step becomes part of the nest's path.
///
/// # Errors
/// There is no such operation, an argument does not fit, or the operation refuses the nest.
pub fn step(nest: &Nest, name: &str, args: &[Arg]) -> Result<Nest, Error> {
    let nest = Arg::Nest(nest.clone());
    let args: Vec<Arg> = [nest].into_iter().chain(args.iter().cloned()).collect();
    call(name, &args)
}

fn call(name: &str, args: &[Arg]) -> Result<Nest, Error> {
    let known = operation(name);
    let op = known.ok_or_else(|| mistake(format!("there is no operation `{name}`")))?;
    apply(op, args, None)?.nest()
}

/// The outputs of nests that run in order, after they were compared with the reference. Tensors
/// without `inputs` hold a pattern of numbers.
///
/// # Errors
/// The nests are not proved, there is no C compiler, or a result is wrong.
pub fn run(
    nests: &[Nest],
    inputs: &Inputs,
    reductions: Reductions,
    control: &Control,
) -> Result<Arc<Outputs>, TrialError> {
    let variant = Variant {
        label: "kernel".to_owned(),
        nests: nests.to_vec(),
    };
    let (settings, silent) = (settings(reductions), |_| {});
    let (outputs, _) = trial::run(&variant, inputs, &settings, control, &silent)?;
    Ok(outputs)
}

/// Times variants of one computation, interleaved in one run. Before that, all their results are
/// compared with the reference, which the first variant defines.
///
/// # Errors
/// As [`run`]; an error of one variant alone is in its row.
pub fn compare(
    variants: &[Variant],
    inputs: &Inputs,
    reductions: Reductions,
    control: &Control,
) -> Result<Ranking, TrialError> {
    let comparison = Comparison {
        variants: variants.to_vec(),
        inputs: inputs.clone(),
        settings: settings(reductions),
    };
    comparison.run(&[], &[], control, &|_| {})
}

fn settings(reductions: Reductions) -> Settings {
    Settings {
        reductions,
        ..Settings::default()
    }
}
