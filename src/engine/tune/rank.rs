//! How well two lists of numbers agree on an order: rank correlation, and the share of pairs in the same
//! order.
//!
//! Source: Spearman, The Proof and Measurement of Association between Two Things, 1904; Kendall, A New
//! Measure of Rank Correlation, 1938.

use super::tolerances::SLOWER_RATIO;
use std::fmt;

/// How well predictions agree with measured times.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// How many variants have both.
    pub variants: usize,
    /// The rank correlation; `None` if there are too few.
    pub correlation: Option<f64>,
    /// The share of pairs with different times that are in the same order, and how many there are.
    pub ordered: Option<(f64, usize)>,
}

impl Order {
    /// The agreement of pairs of a prediction and a time.
    pub fn of(variants: &[(f64, f64)]) -> Order {
        Order {
            variants: variants.len(),
            correlation: correlation(variants),
            ordered: ordered(variants),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(rank) = self.correlation else {
            return write!(f, "too few variants ({})", self.variants);
        };
        write!(
            f,
            "rank correlation {rank:.2} over {} variants",
            self.variants
        )?;
        let percent = 100.0 * (SLOWER_RATIO - 1.0);
        match self.ordered {
            Some((share, pairs)) => write!(
                f,
                ", and {:.0} % of the {pairs} pairs whose times differ by {percent:.0} % or more are in order",
                100.0 * share
            ),
            None => write!(f, ", but no two times differ by {percent:.0} % or more"),
        }
    }
}

/// Spearman's coefficient of pairs: 1 if both orders are the same, -1 if they are reversed. `None`
/// for fewer than three pairs, or if one side is constant.
fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 3 {
        return None;
    }
    let first = ranks(pairs.iter().map(|(a, _)| *a).collect());
    let second = ranks(pairs.iter().map(|(_, b)| *b).collect());
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let sum = |of: &dyn Fn(usize) -> f64| (0..pairs.len()).map(of).sum::<f64>();
    let together = sum(&|k| (first[k] - mean) * (second[k] - mean));
    let of = |ranks: &[f64]| ranks.iter().map(|r| (r - mean).powi(2)).sum::<f64>();
    let scale = (of(&first) * of(&second)).sqrt();
    (scale > 0.0).then(|| together / scale)
}

/// The share of pairs of variants that a prediction orders as their times do, and how many pairs there are.
/// Each item has a prediction and a time. The share leaves out pairs whose times are within
/// [`SLOWER_RATIO`] of each other, since another measurement may order them the other way. `None` if
/// there are no other pairs.
fn ordered(variants: &[(f64, f64)]) -> Option<(f64, usize)> {
    let (mut right, mut all) = (0.0, 0);
    for (k, (expected, time)) in variants.iter().enumerate() {
        for (other_expected, other) in &variants[..k] {
            if time.max(*other) <= SLOWER_RATIO * time.min(*other) {
                continue;
            }
            all += 1;
            let order = expected.total_cmp(other_expected);
            right += if order == time.total_cmp(other) {
                1.0
            } else if order.is_eq() {
                0.5
            } else {
                0.0
            };
        }
    }
    (all > 0).then(|| (right / all as f64, all))
}

/// The rank of each number, counted from 0; equal numbers share the mean of their ranks.
fn ranks(numbers: Vec<f64>) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
    let mut ranks = vec![0.0; numbers.len()];
    for group in order.chunk_by(|a, b| numbers[*a] == numbers[*b]) {
        let start = order.iter().position(|k| *k == group[0]).unwrap_or(0);
        let mean = start as f64 + (group.len() as f64 - 1.0) / 2.0;
        group.iter().for_each(|k| ranks[*k] = mean);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_are_as_fast_do_not_count() {
        assert_eq!(ordered(&[(1.0, 1.0), (3.0, 1.05)]), None);
        // The first two are alike. Of the other two pairs, one is in order.
        assert_eq!(
            ordered(&[(1.0, 1.0), (3.0, 1.05), (2.0, 2.0)]),
            Some((0.5, 2))
        );
        assert_eq!(ordered(&[(1.0, 1.0), (1.0, 2.0)]), Some((0.5, 1)));
        assert_eq!(
            ordered(&[(2.0, 1.0), (1.0, 2.0), (0.0, 4.0)]),
            Some((0.0, 3))
        );
    }

    #[test]
    fn orders_agree_or_not() {
        let of = |second: [f64; 4]| {
            let pairs: Vec<(f64, f64)> = [1.0, 2.0, 3.0, 4.0].into_iter().zip(second).collect();
            correlation(&pairs)
        };
        assert_eq!(of([1.0, 10.0, 100.0, 1000.0]), Some(1.0));
        assert_eq!(of([4.0, 3.0, 2.0, 1.0]), Some(-1.0));
        assert_eq!(of([5.0; 4]), None);
        // Ranks 0, 1.5, 1.5, 3: covariance 4.5, variances 5 and 4.5.
        let tied = of([1.0, 2.0, 2.0, 3.0]).unwrap();
        assert!((tied - 4.5 / (5.0f64 * 4.5).sqrt()).abs() < 1e-12, "{tied}");
        assert_eq!(correlation(&[(1.0, 1.0), (2.0, 2.0)]), None);
    }
}
