//! Integer arithmetic that the standard library lacks.

/// The greatest common divisor, not negative. `gcd(0, 0)` is 0.
pub fn gcd(a: i64, b: i64) -> i64 {
    match b {
        0 => a.saturating_abs(),
        _ => gcd(b, a % b),
    }
}

/// `a / positive`, rounded up.
pub fn ceil_div(a: i64, positive: i64) -> i64 {
    a.div_euclid(positive) + i64::from(a.rem_euclid(positive) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_and_zeros() {
        assert_eq!(
            [gcd(12, 18), gcd(-12, 18), gcd(0, -5), gcd(0, 0)],
            [6, 6, 5, 0]
        );
        assert_eq!(
            [
                ceil_div(7, 4),
                ceil_div(8, 4),
                ceil_div(-7, 4),
                ceil_div(0, 4)
            ],
            [2, 2, -1, 0]
        );
    }
}
