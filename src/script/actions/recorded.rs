//! Recorded winners: `best` and `recorded`.

use crate::binding::call::Call;
use crate::binding::function::{Effect, Function};
use crate::binding::param::Param;
use crate::ir::Nest;
use crate::messages::fail::Failure;
use crate::tune::{self, Record};
use crate::verbs;
use rhai::{Array, Dynamic};
use std::path::PathBuf;

const NEST: Param<Vec<Nest>> = Param::new("nest");
const RECORDS: Param<String> = Param::new("records");

pub(super) static BEST: Function = Function {
    name: "best",
    topic: "results",
    effect: Effect::None,
    params: &[NEST.any(), RECORDS.any()],
    returns: "nest",
    doc: "\
The fastest variant that a file of records holds for what `nest` computes, on this machine:
`best(build(C), \"records.jsonl\")`.

It is replayed from its path, without tuning. The records must be of the same processor, threads,
compiler, flags, policy of `reductions`, definition and version of teml. The result is a list if the
variant is one, and `()` if nothing is recorded. `recorded(nest)` looks into the winners of `teml
tune`.",
    call: |call| {
        let nests = call.arg(&NEST)?;
        let path = PathBuf::from(call.arg(&RECORDS)?);
        let records = tune::read(&path);
        let records = records.map_err(|error| {
            call.fail(
                &RECORDS,
                &format!("cannot be read: {}: {error}", path.display()),
            )
        })?;
        let key = verbs::key(call.bench(), &nests);
        given(call, key.and_then(|key| tune::best(&records, &key)))
    },
};

pub(super) static RECORDED: Function = Function {
    name: "recorded",
    topic: "queries",
    effect: Effect::None,
    params: &[NEST.any()],
    returns: "nest",
    doc: "\
The fastest variant that `teml tune` has found by `autotune` for what `nest` computes, on this
machine: `recorded(build(C))`.

The result is a list if the variant is one, and `()` if there is none: `best` says what must be the
same. Nests that steps have changed have none, since the winner would lose those steps. The winners
are in `winners.jsonl` in the cache directory. `schedules::optimize` looks there first.",
    call: |call| {
        let nests = call.arg(&NEST)?;
        given(call, verbs::recorded(call.bench(), &nests).as_ref())
    },
};

/// The nests of a record, or `()`.
fn given(call: &Call, record: Option<&Record>) -> Result<Dynamic, Failure> {
    match record {
        Some(record) => {
            let nests = verbs::replay(record).map_err(|refusal| call.refused(refusal))?;
            Ok(as_given(nests))
        }
        None => Ok(Dynamic::UNIT),
    }
}

/// Nests as a variant of a script: a nest, or a list of several.
pub fn as_given(mut nests: Vec<Nest>) -> Dynamic {
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
