//! The error function, which Rust's library lacks: by its series near 0, elsewhere by the continued
//! fraction of the complement. Both have positive terms only, so nothing cancels.

use std::f64::consts::FRAC_2_SQRT_PI;

/// Where the complement is accurate and its fraction converges fast.
const FAR: f64 = 2.0;
/// Beyond this the result is 1 to the last bit.
const ONE: f64 = 6.0;
/// At 2, terms of the fraction beyond these change nothing.
const TERMS: i32 = 100;

/// The error function of `x`.
pub fn erf(x: f64) -> f64 {
    let size = x.abs();
    if size < FAR {
        near(x)
    } else if size < ONE {
        (1.0 - complement(size)).copysign(x)
    } else if x.is_nan() {
        x
    } else {
        1f64.copysign(x)
    }
}

/// `2/√π e^(-x²) (x + 2x³/3 + 4x⁵/15 + …)`.
fn near(x: f64) -> f64 {
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    loop {
        odd += 2.0;
        term *= 2.0 * x * x / odd;
        let more = sum + term;
        if more == sum {
            return FRAC_2_SQRT_PI * (-x * x).exp() * sum;
        }
        sum = more;
    }
}

/// `e^(-x²)/√π / (x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …))))`.
fn complement(x: f64) -> f64 {
    let below = (1..=TERMS)
        .rev()
        .fold(x, |below, k| x + f64::from(k) / 2.0 / below);
    FRAC_2_SQRT_PI / 2.0 * (-x * x).exp() / below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_tables() {
        for (x, expected) in [
            (0.0, 0.0),
            (1e-300, 1.128_379_167_095_512_6e-300),
            (0.1, 0.112_462_916_018_284_9),
            (0.5, 0.520_499_877_813_046_5),
            (1.0, 0.842_700_792_949_714_9),
            (1.99, 0.995_111_413_199_617),
            (2.0, 0.995_322_265_018_952_7),
            (3.0, 0.999_977_909_503_001_4),
            (f64::INFINITY, 1.0),
        ] {
            let error = (erf(x) - expected).abs();
            assert!(error <= 4.0 * f64::EPSILON * expected, "{x}: {}", erf(x));
            assert_eq!(erf(-x).to_bits(), (-erf(x)).to_bits());
        }
        assert!(erf(f64::NAN).is_nan());
    }
}
