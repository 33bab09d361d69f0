//! Rank correlation: how well two lists of numbers agree on an order.
//!
//! Source: Spearman, The Proof and Measurement of Association between Two Things, 1904.

/// Spearman's coefficient of pairs: 1 if both orders are the same, -1 if they are reversed. `None`
/// for fewer than three pairs, or if one side is constant.
pub fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
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
