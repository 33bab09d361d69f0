//! `compare`, `measure` and `run`: variants checked, then timed.

use super::order;
use super::provenance::examine;
use super::records::applied;
use super::refusal::Refusal;
use super::workbench::Bench;
use crate::codegen;
use crate::ir::{Name, Nest, Size, Tensor};
use crate::report::{self, Growing};
use crate::runtime::Values;
use crate::target::Target;
use crate::trial::{
    self, Comparison, Equality, Measured, Ranking, RunContext, Runner, TrialError, Variant, sizes,
};

/// Checks variants of a computation, times them interleaved in one run, and prints a table row by
/// row. Sizes have the values in `at`, or else their likely ones. The first variant's definition is
/// the reference. Under `teml apply`, the recorded winner becomes one of the variants. Returns the variants and their ranking; `None` if the runner runs
/// nothing.
///
/// # Errors
/// A variant is illegal, reads undefined elements, or computes something else than the reference; no
/// size of the variants has a value in `at`.
pub fn compare(
    bench: &Bench,
    variants: Vec<Variant>,
    at: &[(Name, i64)],
) -> Result<(Vec<Variant>, Option<Ranking>), Refusal> {
    let variants = applied(bench, variants)?;
    let mut values = sizes::likely(&variants);
    for (name, value) in at {
        let known = values.iter_mut().find(|(known, _)| known == name);
        let has = |size: &Size| size.has(*value);
        match known {
            Some((name, own)) if name.size().is_some_and(has) => *own = *value,
            Some(_) => return Err(Refusal::new(format!("`{name}` is never {value}"))),
            None => return Err(Refusal::new(format!("no variant has the size `{name}`"))),
        }
    }
    check_awkward(bench, &variants)?;
    let variants = sizes::at(&variants, &values);
    let labels = variants.iter().map(|v| v.label.as_str());
    let flops = variants.first().map_or(0.0, trial::flops);
    let mut table = Growing::new(labels, flops, bench.lock().columns);
    let mut show = |row: &Measured| table.add(row);
    let ranking = examined(bench, variants.clone(), &mut show, Runner::compare)?;
    if let Some(ranking) = &ranking {
        bench.lock().print_notes(&report::footer(ranking));
        note_outer_vectors(bench, &variants);
        compare_definitions(bench, &variants);
        order::hint(bench, &variants, ranking);
    }
    Ok((variants, ranking))
}

/// Checks and times many variants, each by itself and for a shorter time, without a table. A
/// variant that cannot be timed is reported in a line, and the others go on. `None` where the
/// runner runs nothing.
///
/// # Errors
/// The reference cannot be computed.
pub fn measure(bench: &Bench, variants: Vec<Variant>) -> Result<Option<Ranking>, Refusal> {
    let variants = sizes::at(&variants, &sizes::likely(&variants));
    let ranking = examined(bench, variants, &mut |_| Vec::new(), Runner::measure)?;
    let failed = ranking.iter().flat_map(|ranking| &ranking.tried);
    for failed in failed.filter_map(|tried| tried.as_ref().err()) {
        let why = failed.error.to_string();
        let first = why.lines().next().unwrap_or_default();
        bench
            .lock()
            .print(&format!("skipped {}: {first}", failed.label));
    }
    Ok(ranking)
}

/// Runs nests in order, compares their results with the reference, and returns what they wrote. The
/// tensors are empty if the runner runs nothing.
///
/// # Errors
/// As [`compare`].
pub fn run(bench: &Bench, nests: &[Nest]) -> Result<Vec<(Tensor, Values)>, Refusal> {
    let label = label(nests).unwrap_or_else(|| "nest".to_owned());
    let nests = nests.to_vec();
    let variants = vec![Variant { label, nests }];
    check_awkward(bench, &variants)?;
    let variants = sizes::at(&variants, &sizes::likely(&variants));
    note_outer_vectors(bench, &variants);
    examined(bench, variants, &mut |_| Vec::new(), Runner::run)
}

/// Runs variants with sizes at awkward ones, and compares all elements with the reference.
fn check_awkward(bench: &Bench, variants: &[Variant]) -> Result<(), Refusal> {
    let runs = bench.lock().runner.runs();
    if !runs || !sizes::are_awkward(variants) {
        return Ok(());
    }
    for point in sizes::awkward(variants) {
        for variant in sizes::at(variants, &point) {
            with_gap(bench, variant, &point)?;
        }
    }
    Ok(())
}

/// Runs a variant whose strided tensors have gaps between their rows, at these scalars.
fn with_gap(bench: &Bench, variant: Variant, point: &[(Name, i64)]) -> Result<(), Refusal> {
    let variants = vec![variant];
    examine(bench, &variants)?;
    let mut comparison = bench.lock().comparison(variants);
    comparison.inputs = sizes::inputs_at(&comparison.inputs, &comparison.variants, point);
    comparison.settings.gap = sizes::GAP;
    let reductions = comparison.settings.reductions;
    let ran = bench.act(&mut |_| Vec::new(), |runner, context| {
        runner.run(comparison, context)
    });
    let ran = ran.map_err(|error| Refusal::of_trial(error, reductions));
    ran.map(|_| ())
}

/// Examines variants and hands them to the runner.
fn examined<T>(
    bench: &Bench,
    variants: Vec<Variant>,
    show: &mut dyn FnMut(&Measured) -> Vec<String>,
    act: impl FnOnce(&(dyn Runner + 'static), Comparison, &mut RunContext<'_>) -> Result<T, TrialError>,
) -> Result<T, Refusal> {
    examine(bench, &variants)?;
    let comparison = bench.lock().comparison(variants);
    let reductions = comparison.settings.reductions;
    let made = bench.act(show, |runner, context| act(runner, comparison, context));
    made.map_err(|error| Refusal::of_trial(error, reductions))
}

/// The name of nests that run in order is that of the last one that has a name.
pub fn label(nests: &[Nest]) -> Option<String> {
    let labels = nests.iter().rev().find_map(Nest::label);
    labels.map(Name::to_string)
}

/// Prints a line for each vector loop of the variants that is left to the compiler.
fn note_outer_vectors(bench: &Bench, variants: &[Variant]) {
    for Variant { label, nests } in variants {
        for (name, why) in codegen::outer_vectors(nests, &Target::native()) {
            bench.lock().print_notes(&format!(
                "{label}: loop `{name}` is marked vector, and is left to the compiler: {why}"
            ));
        }
    }
}

/// Says of texts whether they are equal to the definition of the first variant: numbers that agree
/// prove nothing for others.
fn compare_definitions(bench: &Bench, variants: &[Variant]) {
    let [first, others @ ..] = variants else {
        return;
    };
    let (reductions, control) = {
        let bench = bench.lock();
        (bench.reductions(), bench.control.clone())
    };
    for other in others {
        if !(other.is_text() || first.is_text()) || other.is_defined_as(first) {
            continue;
        }
        let (label, of) = (&other.label, &first.label);
        let text = match trial::equality(&other.nests, &first.nests, reductions, &control) {
            Equality::Proved(elements) => {
                format!("proved equal to `{of}`, in each of {elements} elements")
            }
            Equality::Refuted(_) => format!(
                "the results agree with those of `{of}`, but are not the same operations in the \
                 same order (`check({label}, {of})`)"
            ),
            Equality::Open(why) => {
                format!("the results agree with those of `{of}`; nothing is proved, since {why}")
            }
        };
        bench
            .lock()
            .print(&format!("{label}: a definition of its own; {text}"));
    }
}
