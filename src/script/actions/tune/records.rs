//! What `tune` takes of records where it searches nothing.

use super::options::Options;
use super::result::result;
use crate::actions::compare::{comparison, staged};
use crate::actions::recorded::{as_given, find, replay, winner};
use crate::call::Call;
use crate::fail::Failure;
use crate::ir::Nest;
use crate::trial::Variant;
use crate::tune::{Ended, Point, Record};
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
    let runner = call.state().workbench.runner.clone();
    let wants_more = runner.runs() || runner.sample() > 1;
    if wants_more && !options.applies {
        return Ok(None);
    }
    let of_file = options.records.as_deref();
    let of_file = of_file.map(|path| find(call, path, reference));
    let record = match (of_file, options.applies) {
        (Some(Err(why)), true) => return Err(call.refuse(&why)),
        (Some(Ok(record)), _) => Some(record),
        (_, _) => winner(call, reference),
    };
    match record {
        Some(record) => replay(call, &record).map(|nests| Some((record, nests))),
        None => Ok(None),
    }
}

/// What a script gets of a winner that was recorded.
pub(super) fn replayed(call: &Call, record: &Record, nests: Vec<Nest>) -> Result<Dynamic, Ended> {
    let variant = Variant {
        label: "tuned".to_owned(),
        nests: nests.clone(),
    };
    let comparison = comparison(call, vec![variant]);
    let point = record.parameters.iter();
    let point = point.fold(Point::default(), |p, (name, value)| {
        p.with(name, value.clone())
    });
    call.state().print(&format!("recorded: {point}"));
    staged(call, &mut |_| Vec::new(), |runner, context| {
        if runner.runs() {
            Ok(())
        } else {
            runner.measure(comparison, context).map(|_| ())
        }
    })?;
    Ok(result(&point, as_given(nests), record.median()))
}
