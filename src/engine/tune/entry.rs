//! Converts trials to records, and records to results.

use super::outcome::Trial;
use super::plan::Plan;
use super::record::{Key, Kind, Record, variant};
use crate::transform::trace;
use crate::trial::Screened;
use std::time::Duration;

/// The record of a trial, which is number `number` of its run, counted from 0.
pub(super) fn entry(trial: &Trial, number: usize, kind: Kind, plan: &Plan, key: &Key) -> Record {
    let (outcome, why, screened) = match &trial.outcome {
        Ok(screened) => ("ok".to_owned(), None, Some(screened)),
        Err((word, why)) => (word.clone(), Some(why.clone()), None),
    };
    let seconds = |s: &Screened| s.runs.iter().map(Duration::as_secs_f64).collect();
    let nests = trial.nests.iter().map(trace::to_json);
    let nests = match screened {
        Some(_) => nests.collect::<Result<Vec<_>, _>>().unwrap_or_default(),
        None => Vec::new(),
    };
    Record {
        teml: env!("CARGO_PKG_VERSION").to_owned(),
        kind,
        key: key.clone(),
        search: plan.strategy.name().to_owned(),
        seed: plan.seed,
        number: number + 1,
        parameters: trial.point.by_name(),
        variant: variant(&trial.nests),
        outcome,
        why,
        runs: screened.map(seconds).unwrap_or_default(),
        at_best: screened.map(|s| s.at_best.as_secs_f64()),
        error: screened.map_or(0.0, |s| s.error),
        nests,
        ties: Vec::new(),
    }
}

/// The times of a record, or its error.
pub(super) fn recorded(record: &Record) -> Result<Screened, (String, String)> {
    let seconds = |s: &f64| Duration::from_secs_f64(s.max(0.0));
    let runs: Vec<Duration> = record.runs.iter().map(seconds).collect();
    let least = runs.iter().min().copied().unwrap_or_default();
    match record.outcome.as_str() {
        "ok" => Ok(Screened {
            runs,
            at_best: record.at_best.as_ref().map_or(least, seconds),
            error: record.error,
        }),
        word => Err((word.to_owned(), record.why.clone().unwrap_or_default())),
    }
}
