//! Recorded winners, for `best`, `recorded`, `tune`, and what `teml apply` adds to a comparison.

use super::refusal::Refusal;
use super::workbench::Bench;
use crate::ir::{Name, Nest};
use crate::machine::Machine;
use crate::transform::trace;
use crate::trial::Variant;
use crate::tune::{self, Key, Record};
use std::path::Path;

/// The fastest record of `teml tune` for the computation of nests. `None` if steps changed the
/// nests, since the winner would lose those steps.
pub fn recorded(bench: &Bench, nests: &[Nest]) -> Option<Record> {
    let plain: Vec<Nest> = nests.iter().flat_map(Nest::untransformed).collect();
    (plain == nests).then(|| winner(bench, nests)).flatten()
}

/// The key of the records of nests in this session; `None` without a compiler.
pub fn key(bench: &Bench, nests: &[Nest]) -> Option<Key> {
    let (runner, control, settings) = {
        let bench = bench.lock();
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

/// The best record for the computation of nests in a file.
///
/// # Errors
/// The reason why there is none.
pub fn find(bench: &Bench, path: &Path, nests: &[Nest]) -> Result<Record, String> {
    let cannot = |error| format!("{} cannot be read: {error}", path.display());
    let records = tune::read(path).map_err(cannot)?;
    let key = key(bench, nests).ok_or("there is no C compiler")?;
    let best = tune::best(&records, &key).cloned();
    best.ok_or_else(|| tune::why_not(&records, &key))
}

/// The winner of `teml tune` for the computation of nests.
pub fn winner(bench: &Bench, nests: &[Nest]) -> Option<Record> {
    let path = bench.lock().winners.clone()?;
    find(bench, &path, nests).ok()
}

/// The nests of a record, replayed.
///
/// # Errors
/// They do not replay.
pub fn replay(record: &Record) -> Result<Vec<Nest>, Refusal> {
    let nests = record.nests.iter().map(|text| trace::from_json(text));
    let nests = nests.collect::<Result<Vec<Nest>, _>>();
    let nests = nests.map_err(|error| Refusal::new(format!("a record does not replay: {error}")));
    Ok(named(nests?))
}

/// Under `teml apply`, the variants of a script that tunes nothing, and the recorded winner of what
/// they compute.
///
/// # Errors
/// There is none.
pub(super) fn applied(bench: &Bench, mut variants: Vec<Variant>) -> Result<Vec<Variant>, Refusal> {
    let tuning = bench.lock().tuning.clone();
    let (true, Some(path)) = (tuning.applies && tuning.calls == 0, tuning.records) else {
        return Ok(variants);
    };
    let Some(first) = variants.first() else {
        return Ok(variants);
    };
    let record = find(bench, &path, &first.nests).map_err(Refusal::new)?;
    variants.push(Variant {
        label: TUNED.to_owned(),
        nests: replay(&record)?,
    });
    bench.lock().tuning.applied += 1;
    Ok(variants)
}

/// The label of a winner in tables.
const TUNED: &str = "tuned";

/// The nests under the name that tables show.
pub fn named(mut nests: Vec<Nest>) -> Vec<Nest> {
    if let (Some(last), Ok(name)) = (nests.pop(), Name::new(TUNED)) {
        nests.push(last.labelled(name));
    }
    nests
}
