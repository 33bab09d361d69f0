//! Recorded winners that `tune` takes in place of a search.

use super::options::Options;
use super::result::result;
use crate::actions::recorded::as_given;
use crate::binding::call::Call;
use crate::ir::Nest;
use crate::messages::fail::Failure;
use crate::trial::Variant;
use crate::tune::{Ended, Point, Record};
use crate::verbs::{find, replay, winner};
use rhai::Dynamic;

/// The recorded winner that `tune` takes instead of a search, if it is to take one: under `teml
/// apply`, and where one point is enough.
///
/// # Errors
/// It is to take one, and there is none.
pub(super) fn taken(
    call: &Call,
    reference: &[Nest],
    options: &Options,
) -> Result<Option<(Record, Vec<Nest>)>, Failure> {
    let runner = call.workbench().runner.clone();
    let wants_more = runner.runs() || runner.sample() > 1;
    if wants_more && !options.applies {
        return Ok(None);
    }
    let of_file = options.records.as_deref();
    let of_file = of_file.map(|path| find(call.bench(), path, reference));
    let record = match (of_file, options.applies) {
        (Some(Err(why)), true) => return Err(call.refuse(&why)),
        (Some(Ok(record)), _) => Some(record),
        (_, _) => winner(call.bench(), reference),
    };
    match record {
        Some(record) => {
            let nests = replay(&record).map_err(|refusal| call.refused(refusal))?;
            Ok(Some((record, nests)))
        }
        None => Ok(None),
    }
}

/// The result of `tune` for a recorded winner.
pub(super) fn replayed(call: &Call, record: &Record, nests: Vec<Nest>) -> Result<Dynamic, Ended> {
    let variant = Variant {
        label: "tuned".to_owned(),
        nests: nests.clone(),
    };
    let comparison = call.workbench().comparison(vec![variant]);
    let point = record.parameters.iter();
    let point = point.fold(Point::default(), |p, (name, value)| {
        p.with(name, value.clone())
    });
    call.workbench().print(&format!("recorded: {point}"));
    call.bench().act(&mut |_| Vec::new(), |runner, context| {
        if runner.runs() {
            Ok(())
        } else {
            runner.measure(comparison, context).map(|_| ())
        }
    })?;
    Ok(result(&point, as_given(nests), record.median()))
}
