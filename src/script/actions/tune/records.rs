//! Recorded winners: `best`, and what `tune` takes where nothing runs.

use super::result::{as_given, named, result};
use crate::ir::Nest;
use crate::machine::Machine;
use crate::script::actions::compare::{contest, staged};
use crate::script::call::{Call, Function, Parameter};
use crate::script::fail::Failure;
use crate::transform::trace;
use crate::trial::Variant;
use crate::tune::{self, Ended, Point, Record};
use rhai::Dynamic;
use std::path::PathBuf;

pub(in crate::script::actions) static BEST: Function = Function {
    name: "best",
    params: &[Parameter::new("nest"), Parameter::new("records")],
    returns: "nest",
    doc: "\
The fastest variant that a file of records holds for what `nest` computes, on this machine:
`best(build(C), \"records.jsonl\")`.

It is replayed from its path, without tuning. Records of other machines and other definitions are
passed over. The result is a list if the variant is one, and `()` if nothing is recorded.",
    call: |call| {
        let nests = call.nests(0)?;
        let path = PathBuf::from(call.text(1)?);
        let records = tune::read(&path);
        let records = records.map_err(|error| {
            call.fail(1, &format!("cannot be read: {}: {error}", path.display()))
        })?;
        let machine = Machine::known(&call.state().workbench.control);
        match tune::best(&records, &machine, &tune::definition(&nests)) {
            Some(record) => Ok(as_given(recorded(call, record)?)),
            None => Ok(Dynamic::UNIT),
        }
    },
};

/// The nests of a record, replayed.
pub(super) fn recorded(call: &Call, record: &Record) -> Result<Vec<Nest>, Failure> {
    let nests = record.nests.iter().map(|text| trace::from_json(text));
    let nests = nests.collect::<Result<Vec<Nest>, _>>();
    let nests = nests.map_err(|error| call.refuse(&format!("a record does not replay: {error}")));
    Ok(named(nests?))
}

/// What a script gets of a winner that was recorded.
pub(super) fn replayed(call: &Call, record: &Record, nests: Vec<Nest>) -> Result<Dynamic, Ended> {
    let variant = Variant {
        label: "tuned".to_owned(),
        nests: nests.clone(),
    };
    let contest = contest(call, vec![variant]);
    let point = record.parameters.iter();
    let point = point.fold(Point::default(), |p, (name, value)| {
        p.with(name, value.clone())
    });
    call.state().print(&format!("recorded: {point}"));
    staged(call, &mut |_| Vec::new(), |runner, stage| {
        match runner.runs() {
            true => Ok(()),
            false => runner.measure(contest, stage).map(|_| ()),
        }
    })?;
    Ok(result(&point, as_given(nests), record.median()))
}
