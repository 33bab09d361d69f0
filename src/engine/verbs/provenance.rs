//! Where the operands of nests come from: reads of undefined elements are refused, and a note names
//! the assignments of the script that nests leave out.

use super::definitions::LeftOut;
use super::refusal::Refusal;
use super::workbench::Bench;
use crate::ir::{Expr, Name, Nest, Site};
use crate::legality::{self, Violation};
use crate::transform::nest::build::BUILD;
use crate::transform::nest::localize::localize;
use crate::transform::{self, Arg, Error, mistake};
use crate::trial::Variant;

/// Checks variants before they run, are emitted or exported, and notes the assignments that they
/// leave out.
///
/// # Errors
/// A variant reads an undefined element.
pub fn examine(bench: &Bench, variants: &[Variant]) -> Result<(), Refusal> {
    for variant in variants {
        if let Some(violation) = unset(bench, &variant.nests) {
            let reductions = bench.lock().reductions();
            let what = violation.summary();
            return Err(Refusal::illegal(
                what,
                &violation,
                &variant.nests,
                reductions,
            ));
        }
    }
    let mut left_out: Vec<LeftOut> = Vec::new();
    let mut bench = bench.lock();
    for variant in variants {
        for found in bench.definitions.left_out(&variant.nests) {
            if !left_out.iter().any(|known| known.tensor == found.tensor) {
                left_out.push(found);
            }
        }
    }
    if left_out.is_empty() {
        return Ok(());
    }
    let last = variants.first().and_then(|v| v.nests.last());
    let target = last.and_then(|nest| nest.definition().last()?.tensor().cloned());
    let line = line(&left_out, target.as_ref().map_or("Y", |t| t.label()));
    bench.print_note(line);
    Ok(())
}

/// The first element that nests read and nothing sets.
pub(super) fn unset(bench: &Bench, nests: &[Nest]) -> Option<Violation> {
    let inputs = bench.lock().inputs.clone();
    legality::unset(nests, &|name| inputs.get(name).is_some())
}

/// A nest for each assignment that a tensor needs, in order. `site` is the place of the script that
/// requests them.
///
/// # Errors
/// As `build`.
pub fn nests(bench: &Bench, assignment: &Expr, site: Option<&Site>) -> Result<Vec<Nest>, Error> {
    let needed = bench.lock().definitions.needed(assignment);
    needed
        .iter()
        .map(|assignment| built(assignment, site))
        .collect()
}

/// The nest of one assignment.
///
/// # Errors
/// As `build`.
pub fn built(assignment: &Expr, site: Option<&Site>) -> Result<Nest, Error> {
    transform::apply(&BUILD, &[Arg::Expr(assignment.clone())], site.cloned())?.nest()
}

/// The nest of one assignment. Operands that no variable names are computed in the same nest, and
/// are local to it.
///
/// # Errors
/// As `build`. Such an operand has elements that nothing sets.
pub fn built_with_operands(
    bench: &Bench,
    assignment: &Expr,
    site: Option<&Site>,
) -> Result<Nest, Error> {
    let operands = bench.lock().definitions.brought_along(assignment);
    let names = operands
        .iter()
        .filter_map(|operand| operand.tensor()?.name());
    let names: Vec<Name> = names.cloned().collect();
    let all = operands.iter().chain([assignment]);
    let nests: Result<Vec<Nest>, Error> = all.map(|one| built(one, site)).collect();
    joined(nests?, &names)
}

/// One nest for nests that run in order. The tensors of these names are local to it.
///
/// # Errors
/// There is no nest. A local tensor has elements that nothing sets.
pub fn joined(nests: Vec<Nest>, locals: &[Name]) -> Result<Nest, Error> {
    let both = |before: Nest, next: Nest| before.followed_by(&next).without_path();
    let whole = nests.into_iter().reduce(both);
    let mut whole = whole.ok_or_else(|| mistake("no assignment is given"))?;
    for name in locals {
        whole = localize(&whole, name.as_str())?.without_path();
    }
    Ok(whole)
}

/// A note that lists the assignments left out and says how to have them computed.
fn line(left_out: &[LeftOut], target: &str) -> String {
    let names = left_out
        .iter()
        .map(|found| format!("`{}`", found.tensor.label()));
    let sites: Vec<&Site> = left_out.iter().flat_map(|found| &found.sites).collect();
    let mut lines: Vec<u32> = sites.iter().map(|site| site.line).collect();
    lines.sort_unstable();
    lines.dedup();
    let one_file = sites
        .windows(2)
        .all(|pair| pair[0].source == pair[1].source);
    let places = match one_file {
        true if lines.len() == 1 => format!(" at line {}", lines[0]),
        true if lines.is_empty() => String::new(),
        true => format!(" at lines {}", listed(lines.iter().map(u32::to_string))),
        false => format!(" at {}", listed(sites.iter().map(|site| site.to_string()))),
    };
    let times: usize = left_out.iter().map(|found| found.times).sum();
    let times = match left_out {
        [one] if one.times > one.sites.len() => format!(" {times} times"),
        _ => String::new(),
    };
    let (are, them, hold) = match left_out.len() {
        1 => ("is", "it", "its contents are an input"),
        _ => ("are", "them", "their contents are inputs"),
    };
    format!(
        "note: {} {are} assigned{times}{places} and {are} not computed here: {hold}. \
         `compare({target})` computes {them} as well, and `nests({target})` gives all nests",
        listed(names)
    )
}

fn listed(items: impl Iterator<Item = String>) -> String {
    let mut items: Vec<String> = items.collect();
    match (items.pop(), items.is_empty()) {
        (None, _) => String::new(),
        (Some(last), true) => last,
        (Some(last), false) => format!("{} and {last}", items.join(", ")),
    }
}
