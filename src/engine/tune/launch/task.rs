//! Tasks of the search for workers, and their answers.

use crate::ir::{Name, Nest};
use crate::transform::trace::{self, NoTrace};
use crate::trial::Variant;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A serialized variant: how it is built, and its path.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Written {
    label: String,
    nests: Vec<String>,
}

impl Written {
    /// # Errors
    /// A nest does not know the steps that made it.
    pub(super) fn new(variant: &Variant) -> Result<Written, NoTrace> {
        let nests = variant.nests.iter().map(trace::to_json);
        Ok(Written {
            label: variant.label.clone(),
            nests: nests.collect::<Result<_, _>>()?,
        })
    }

    /// Replays the variant.
    ///
    /// # Errors
    /// A step does not apply.
    pub(super) fn variant(&self) -> Result<Variant, NoTrace> {
        let nests = self.nests.iter().map(|text| trace::from_json(text));
        let mut nests = nests.collect::<Result<Vec<Nest>, _>>()?;
        if let (Some(last), Ok(name)) = (nests.pop(), Name::new(&self.label)) {
            nests.push(last.labelled(name));
        }
        Ok(Variant {
            label: self.label.clone(),
            nests,
        })
    }
}

/// Tasks for workers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Task {
    /// Compile, check and time a variant; with the best time so far, in nanoseconds.
    Screen(Written, Option<u64>),
    /// Time variants against each other: one round of the finals.
    Finals(Vec<Written>),
}

/// Answers of workers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// Times and the estimated time on an idle machine, in nanoseconds, and the bits of the largest
    /// relative error.
    Screened(Vec<u64>, u64, u64),
    /// For each variant: its times, and the estimated time on an idle machine.
    Finals(Vec<(Vec<u64>, u64)>),
    /// A defect of a variant: its class, and the message.
    Defect(String, String),
}

/// A time in whole nanoseconds, so that both sides see the same value.
pub(super) fn nanoseconds(time: &Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Times of a file.
pub(super) fn durations(times: &[u64]) -> Vec<Duration> {
    times.iter().copied().map(Duration::from_nanos).collect()
}
