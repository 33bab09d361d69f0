//! Entries of tensors of integers, of which facts are declared: their default, and the check that
//! given ones are as the facts say.

use super::elements::{Scalar, to_i64};
use super::random::Random;
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
    /// No entries are as the facts say.
    Impossible,
}

/// The bounds, as numbers.
fn bounds(entries: &Entries) -> Option<(i64, i64)> {
    Some((entries.low.likely()?, entries.high.likely()?))
}

/// The number of elements.
fn count(tensor: &Tensor) -> u64 {
    tensor.shape().elements()
}

/// Whether a tensor has entries that are as the facts say.
pub fn are_possible(tensor: &Tensor, entries: &Entries) -> bool {
    let Some((low, high)) = bounds(entries) else {
        return false;
    };
    let values = high.saturating_sub(low).max(0).unsigned_abs();
    match (count(tensor), entries.order) {
        (0, _) => true,
        (count, Order::Distinct) => count <= values,
        _ => values > 0,
    }
}

/// Entries that are as the facts say, numbered like other inputs. Increasing ones begin with the
/// least value and end with the greatest, with steps of 0, of 1 and of many.
pub fn usual(tensor: &Tensor, entries: &Entries, number: u64) -> Vec<Scalar> {
    let (low, high) = bounds(entries).unwrap_or((0, 0));
    let values = high.saturating_sub(low).max(1).unsigned_abs();
    let any = Random::new(
        number,
        Some((Scalar::Integer(0), Scalar::Integer(i64::MAX - 1))),
    );
    let random = |x: u64| to_i64(any.value(tensor.elem(), x)).unsigned_abs();
    let count = count(tensor);
    let all: Vec<u64> = match entries.order {
        Order::Any => (0..count).map(|x| random(x) % values).collect(),
        Order::Distinct => {
            let step = (values / 2 + 1..).find(|step| gcd(*step, values) == 1);
            let step = u128::from(step.unwrap_or(1));
            let value = |x: u64| (u128::from(x) * step + u128::from(number)) % u128::from(values);
            (0..count).map(|x| value(x) as u64).collect()
        }
        Order::Increasing => {
            let weight = |x: u64| match random(x) % 8 {
                0 | 1 => 0,
                7 => 9,
                few => few - 1,
            };
            let steps = (1..count).scan(0u64, |sum, x| {
                *sum += weight(x);
                Some(*sum)
            });
            let sums: Vec<u64> = [0].into_iter().chain(steps).take(count as usize).collect();
            let last = u128::from(sums.last().copied().unwrap_or(0).max(1));
            let scaled = |sum: &u64| (u128::from(*sum) * u128::from(values - 1) / last) as u64;
            let mut scaled: Vec<u64> = sums.iter().map(scaled).collect();
            if let (Some(end), true) = (scaled.last_mut(), count > 1) {
                *end = values - 1;
            }
            scaled
        }
    };
    let value = |x: u64| Scalar::Integer(low.saturating_add_unsigned(x));
    all.into_iter().map(value).collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
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
