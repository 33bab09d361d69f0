//! What the search asks of workers, and what they answer.

use crate::ir::{Name, Nest};
use crate::transform::trace::{self, NoTrace};
use crate::trial::Variant;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A variant: how it is built and its path.
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

    /// The variant, replayed.
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

/// What there is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Task {
    /// Compile, check and time a variant; the best time so far in nanoseconds.
    Screen(Written, Option<u64>),
    /// Time variants against each other: one round of the finals.
    Finals(Vec<Written>),
}

/// What came of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// Times in nanoseconds, what it takes at best, and the bits of the largest relative error.
    Screened(Vec<u64>, u64, u64),
    /// The times of each variant, and what it takes at best.
    Finals(Vec<(Vec<u64>, u64)>),
    /// What is wrong with a variant: the word for it, and why.
    Defect(String, String),
}

/// A time as files have it: whole, so that it is the same on both sides.
pub(super) fn nanoseconds(time: &Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The times of a file.
pub(super) fn durations(times: &[u64]) -> Vec<Duration> {
    times.iter().copied().map(Duration::from_nanos).collect()
}
