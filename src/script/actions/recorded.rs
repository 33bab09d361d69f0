//! Recorded winners: `best` and `recorded`, and what `teml apply` adds to a comparison.

use crate::call::{Call, Function, Parameter};
use crate::fail::Failure;
use crate::ir::{Name, Nest};
use crate::machine::Machine;
use crate::transform::trace;
use crate::trial::Variant;
use crate::tune::{self, Key, Record};
use rhai::{Array, Dynamic};
use std::path::{Path, PathBuf};

pub(super) static BEST: Function = Function {
    name: "best",
    params: &[Parameter::new("nest"), Parameter::new("records")],
    returns: "nest",
    doc: "\
The fastest variant that a file of records holds for what `nest` computes, on this machine:
`best(build(C), \"records.jsonl\")`.

It is replayed from its path, without tuning. The records must be of the same processor, threads,
compiler, flags, policy of `reductions`, definition and version of teml. The result is a list if the
variant is one, and `()` if nothing is recorded. `recorded(nest)` looks into the winners of `teml
tune`.",
    call: |call| {
        let nests = call.nests(0)?;
        let path = PathBuf::from(call.text(1)?);
        let records = tune::read(&path);
        let records = records.map_err(|error| {
            call.fail(1, &format!("cannot be read: {}: {error}", path.display()))
        })?;
        given(
            call,
            key(call, &nests).and_then(|key| tune::best(&records, &key)),
        )
    },
};

pub(super) static RECORDED: Function = Function {
    name: "recorded",
    params: &[Parameter::new("nest")],
    returns: "nest",
    doc: "\
The fastest variant that `teml tune` has found by `autotune` for what `nest` computes, on this
machine: `recorded(build(C))`.

The result is a list if the variant is one, and `()` if there is none: `best` says what must be the
same. Nests that steps have changed have none, since the winner would lose those steps. The winners
are in `winners.jsonl` in the cache directory. `schedules::optimize` looks there first.",
    call: |call| {
        let nests = call.nests(0)?;
        let winner = is_fresh(&nests).then(|| winner(call, &nests)).flatten();
        given(call, winner.as_ref())
    },
};

/// Whether nests are as they were before any step.
fn is_fresh(nests: &[Nest]) -> bool {
    let plain: Vec<Nest> = nests.iter().flat_map(Nest::untransformed).collect();
    plain == nests
}

/// The nests of a record, or `()`.
fn given(call: &Call, record: Option<&Record>) -> Result<Dynamic, Failure> {
    match record {
        Some(record) => Ok(as_given(replay(call, record)?)),
        None => Ok(Dynamic::UNIT),
    }
}

/// What times of nests depend on in this session; `None` where there is no compiler.
fn key(call: &Call, nests: &[Nest]) -> Option<Key> {
    let (runner, control, settings) = {
        let state = call.state();
        let bench = &state.workbench;
        (
            bench.runner.clone(),
            bench.control.clone(),
            bench.settings.clone(),
        )
    };
    let compiler = runner.compiler(&settings, &control).ok()?;
    let (machine, reductions) = (Machine::known(&control), settings.reductions);
    Some(Key::new(
        &machine,
        control.threads,
        compiler,
        reductions,
        nests,
    ))
}

/// The best record of what nests compute, in a file.
///
/// # Errors
/// Why there is none, in words.
pub(super) fn find(call: &Call, path: &Path, nests: &[Nest]) -> Result<Record, String> {
    let cannot = |error| format!("{} cannot be read: {error}", path.display());
    let records = tune::read(path).map_err(cannot)?;
    let key = key(call, nests).ok_or("there is no C compiler")?;
    let best = tune::best(&records, &key).cloned();
    best.ok_or_else(|| tune::why_not(&records, &key))
}

/// The winner that `teml tune` has recorded of what nests compute.
pub(super) fn winner(call: &Call, nests: &[Nest]) -> Option<Record> {
    let path = call.state().workbench.winners.clone()?;
    find(call, &path, nests).ok()
}

/// The nests of a record, replayed.
pub(super) fn replay(call: &Call, record: &Record) -> Result<Vec<Nest>, Failure> {
    let nests = record.nests.iter().map(|text| trace::from_json(text));
    let nests = nests.collect::<Result<Vec<Nest>, _>>();
    let nests = nests.map_err(|error| call.refuse(&format!("a record does not replay: {error}")));
    Ok(named(nests?))
}

/// Under `teml apply`, the variants of a script that tunes nothing, and the recorded winner of what
/// they compute.
///
/// # Errors
/// There is none.
pub(super) fn applied(call: &Call, mut variants: Vec<Variant>) -> Result<Vec<Variant>, Failure> {
    let tuning = call.state().workbench.tuning.clone();
    let (true, Some(path)) = (tuning.applies && tuning.calls == 0, tuning.records) else {
        return Ok(variants);
    };
    let Some(first) = variants.first() else {
        return Ok(variants);
    };
    let record = find(call, &path, &first.nests).map_err(|why| call.refuse(&why))?;
    variants.push(Variant {
        label: TUNED.to_owned(),
        nests: replay(call, &record)?,
    });
    call.state().workbench.tuning.applied += 1;
    Ok(variants)
}

/// What tables call a winner.
const TUNED: &str = "tuned";

/// The nests under the name that tables show.
pub(super) fn named(mut nests: Vec<Nest>) -> Vec<Nest> {
    if let (Some(last), Ok(name)) = (nests.pop(), Name::new(TUNED)) {
        nests.push(last.labelled(name));
    }
    nests
}

/// Nests as a variant of a script: a nest, or a list of several.
pub(super) fn as_given(mut nests: Vec<Nest>) -> Dynamic {
    match (nests.len(), nests.pop()) {
        (1, Some(nest)) => Dynamic::from(nest),
        (_, last) => nests
            .into_iter()
            .chain(last)
            .map(Dynamic::from)
            .collect::<Array>()
            .into(),
    }
}
