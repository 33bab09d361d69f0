//! `compare`: variants checked, then timed.

use super::code::{no_code, unused};
use crate::codegen::{self, NoCode};
use crate::ir::{Name, Nest};
use crate::report;
use crate::script::call::{Call, Function, Parameter};
use crate::script::fail::Failure;
use crate::script::workbench::Mode;
use crate::trial::{self, Candidate, TrialError};
use rhai::{Array, Dynamic};

pub(super) static COMPARE: Function = Function {
    name: "compare",
    params: &[Parameter::new("variants")],
    returns: "",
    doc: "\
Checks and times variants of a computation: `compare([naive, plan])`.

A variant is a nest, or a list of nests that run in order; its name is that of the variable that
holds its last nest. All variants must compute the same tensors. Every element of every result is
compared with the reference before anything is timed; a wrong one is shown with its indices, and
no times. Then all variants are timed in turn, in one run. Inputs are a pattern of numbers unless
`init` says otherwise. The table shows speed-ups over the first variant.",
    call: |call| {
        let candidates = candidates(call)?;
        let (mode, inputs, settings, control, shows_progress) = {
            let state = call.state();
            let bench = &state.workbench;
            (
                bench.mode,
                bench.inputs.clone(),
                bench.settings.clone(),
                bench.control.clone(),
                bench.shows_progress,
            )
        };
        if mode == Mode::Emit {
            for candidate in &candidates {
                let nests = &candidate.nests;
                let symbol = codegen::symbol::from_label(&candidate.label);
                let symbol = unused(symbol, &call.state().workbench.compared);
                let kernel = codegen::generate(nests, &symbol);
                let kernel = kernel.map_err(|e| no_code(call, e, nests))?;
                call.state().workbench.compared.push(kernel);
            }
            return Ok(Dynamic::UNIT);
        }
        let progress = |text: &str| {
            if shows_progress {
                // The line is overwritten by the next one.
                eprint!("\r\x1b[K{text} …");
            }
        };
        let outcome = trial::compare(&candidates, &inputs, &settings, &control, &progress);
        if shows_progress {
            eprint!("\r\x1b[K");
        }
        let outcome = outcome.map_err(|error| failed_trial(call, error))?;
        call.state().print(&report::table(&outcome));
        Ok(Dynamic::UNIT)
    },
};

pub(super) fn candidates(call: &Call) -> Result<Vec<Candidate>, Failure> {
    let expected = "a nest or a list of variants, each a nest or a list of nests";
    let single = call
        .get::<Nest>(0, expected)
        .map(|nest| vec![Dynamic::from(nest)]);
    let items: Array = single.or_else(|_| call.get(0, expected))?;
    let mut candidates: Vec<Candidate> = Vec::with_capacity(items.len());
    for item in &items {
        let nests: Vec<Nest> = match item.read_lock::<Array>() {
            Some(list) => list.iter().filter_map(nest_of).collect(),
            None => nest_of(item).into_iter().collect(),
        };
        let count = item.read_lock::<Array>().map_or(1, |list| list.len());
        if nests.is_empty() || nests.len() != count {
            return Err(call.expected_but(0, expected, item));
        }
        let label = nests
            .iter()
            .rev()
            .find_map(Nest::label)
            .map(Name::to_string);
        let mut label = label.unwrap_or_else(|| format!("variant_{}", candidates.len() + 1));
        if candidates.iter().any(|c| c.label == label) {
            label = format!("{label}_{}", candidates.len() + 1);
        }
        candidates.push(Candidate { label, nests });
    }
    match candidates.is_empty() {
        true => Err(call.expected(0, expected)),
        false => Ok(candidates),
    }
}

fn nest_of(value: &Dynamic) -> Option<Nest> {
    value.read_lock::<Nest>().map(|n| n.clone())
}

pub(super) fn failed_trial(call: &Call, error: TrialError) -> Failure {
    match error {
        TrialError::Code { label, nest, error } => {
            let nests: Vec<Nest> = nest.into_iter().collect();
            let error = match error {
                NoCode::Race { race, .. } => NoCode::Race { nest: 0, race },
                other => other,
            };
            no_code(call, error, &nests).note(format!("in the variant `{label}`"))
        }
        TrialError::Wrong { .. } => call
            .refuse(&error.to_string())
            .help("a step of this variant changes the meaning; compare shorter paths to find it"),
        other => call.refuse(&other.to_string()),
    }
}
