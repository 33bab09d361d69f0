//! Entries of tensors of integers with declared facts: their default.

use super::elements::{Scalar, to_i64};
use super::facts::{bounds, count};
use super::random::Random;
use crate::ir::{Entries, Order, Tensor};

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

/// Entries that increase in rows, which begin at `begins`. A row with more entries than there are values
/// cannot increase.
pub fn usual_in_rows(
    tensor: &Tensor,
    entries: &Entries,
    number: u64,
    begins: &[i64],
) -> Vec<Scalar> {
    let mut all = usual(tensor, entries, number);
    let (low, high) = bounds(entries).unwrap_or((0, 0));
    let values = i128::from(high.saturating_sub(low).max(1));
    for row in begins.windows(2) {
        let [begin, end] = [row[0], row[1]].map(|x| usize::try_from(x).unwrap_or(0));
        let Some(row) = all.get_mut(begin..end) else {
            continue;
        };
        if entries.order != Order::Any {
            row.sort_unstable_by_key(|entry| to_i64(*entry));
            continue;
        }
        let length = row.len() as i128;
        for (k, entry) in (0i128..).zip(row) {
            let free = (values / length).max(1);
            let more = i128::from(to_i64(*entry)).rem_euclid(free);
            let value = (k * values / length + more).min(values - 1);
            *entry = Scalar::Integer(low.saturating_add(i64::try_from(value).unwrap_or(0)));
        }
    }
    all
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
