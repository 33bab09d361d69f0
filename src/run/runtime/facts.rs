//! Facts about the entries of a tensor of integers, and entries that are not as they say.

use crate::ir::{Entries, Order, Tensor};
use std::collections::HashMap;
use std::fmt;

/// Entries that are not as the facts say.
#[derive(Clone, Debug, PartialEq)]
pub enum WrongEntry {
    /// An entry is outside of the bounds.
    Outside { at: Vec<u64>, value: i64 },
    /// An entry is less than the one before it.
    Decreases { at: [Vec<u64>; 2], values: [i64; 2] },
    /// Two entries are equal.
    Equal { at: [Vec<u64>; 2], value: i64 },
    /// An entry of a row is not greater than the one before it.
    Unsorted { row: u64, at: u64, values: [i64; 2] },
    /// No entries are as the facts say.
    Impossible,
}

/// The bounds, as numbers.
pub(super) fn bounds(entries: &Entries) -> Option<(i64, i64)> {
    Some((entries.low.likely()?, entries.high.likely()?))
}

/// The number of elements.
pub(super) fn count(tensor: &Tensor) -> u64 {
    tensor.shape().elements()
}

/// The first entry, in the order of the elements, that is not as the facts say.
pub fn wrong(
    tensor: &Tensor,
    entries: &Entries,
    value: &dyn Fn(u64) -> Option<i64>,
) -> Option<WrongEntry> {
    let Some((low, high)) = bounds(entries) else {
        return Some(WrongEntry::Impossible);
    };
    let at = |x: u64| tensor.shape().index_of(x);
    let mut before: Option<i64> = None;
    let mut seen: HashMap<i64, u64> = HashMap::new();
    for x in 0..count(tensor) {
        let value = value(x)?;
        if !(low..high).contains(&value) {
            return Some(WrongEntry::Outside { at: at(x), value });
        }
        match (entries.order, before) {
            (Order::Increasing, Some(before)) if value < before => {
                return Some(WrongEntry::Decreases {
                    at: [at(x - 1), at(x)],
                    values: [before, value],
                });
            }
            (Order::Distinct, _) => {
                if let Some(other) = seen.insert(value, x) {
                    let at = [at(other), at(x)];
                    return Some(WrongEntry::Equal { at, value });
                }
            }
            _ => {}
        }
        before = Some(value);
    }
    None
}

/// The first entry of a row that is not greater than the one before it. `begins` has where rows begin.
pub fn unsorted(
    count: u64,
    value: &dyn Fn(u64) -> Option<i64>,
    rows: u64,
    begins: &dyn Fn(u64) -> Option<i64>,
) -> Option<WrongEntry> {
    for row in 0..rows.saturating_sub(1) {
        let ends = [begins(row)?, begins(row + 1)?].map(|x| u64::try_from(x).unwrap_or(0));
        for at in ends[0] + 1..ends[1].min(count) {
            let values = [value(at - 1)?, value(at)?];
            if values[1] <= values[0] {
                return Some(WrongEntry::Unsorted { row, at, values });
            }
        }
    }
    None
}

impl WrongEntry {
    /// The sentence about entries of `tensor`, after the facts.
    fn about(&self, tensor: &str) -> String {
        let place = |index: &[u64]| {
            let index: String = index.iter().map(|i| format!("[{i}]")).collect();
            format!("{tensor}{index}")
        };
        match self {
            WrongEntry::Outside { at, value } => format!("{} is {value}", place(at)),
            WrongEntry::Decreases { at, values } => format!(
                "{} is {}, and {} is {}",
                place(&at[0]),
                values[0],
                place(&at[1]),
                values[1]
            ),
            WrongEntry::Equal { at, value } => {
                format!("{} and {} are both {value}", place(&at[0]), place(&at[1]))
            }
            WrongEntry::Unsorted { row, at, values } => format!(
                "row {row} has {} and {}",
                format_args!("{tensor}[{}] = {}", at - 1, values[0]),
                format_args!("{tensor}[{at}] = {}", values[1])
            ),
            WrongEntry::Impossible => "no entries are like this".to_owned(),
        }
    }
}

/// The facts about a tensor, and the entry that is not as they say.
#[derive(Clone, Debug, PartialEq)]
pub struct FalseFact {
    pub tensor: Tensor,
    pub wrong: WrongEntry,
}

impl fmt::Display for FalseFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = self.tensor.label();
        let facts = self.tensor.entries().map(Entries::to_string);
        let (facts, wrong) = (facts.unwrap_or_default(), self.wrong.about(label));
        write!(
            f,
            "the entries of {label} are declared {facts}, and {wrong}"
        )
    }
}
