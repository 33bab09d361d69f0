//! Pseudorandom numbers that are the same on every machine, for any number of threads.
//!
//! Source: SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA
//! 2014). Element x of a tensor is output number x of the generator that starts with the seed. That
//! output does not depend on the earlier ones.

use super::elements::{Scalar, is_element, to_f64, to_i64};
use super::error::RuntimeError;
use crate::ir::{Elem, Tensor};

/// Uniformly distributed numbers from a seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Random {
    seed: u64,
    /// `None` means -0.5 to 0.5, or -50 to 50 for integers.
    range: Option<(Scalar, Scalar)>,
}

impl Random {
    /// Numbers between the bounds `range`; integers may equal both bounds.
    pub fn new(seed: u64, range: Option<(Scalar, Scalar)>) -> Random {
        Random { seed, range }
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The bounds, if they were given.
    pub fn range(&self) -> Option<(Scalar, Scalar)> {
        self.range
    }

    /// The number at flat index `x` of a tensor with elements of type `elem`.
    pub fn value(&self, elem: Elem, x: u64) -> Scalar {
        let bits = splitmix64(self.seed, x);
        if elem.is_float() {
            let (low, width) = self.floats();
            // Rounded once, so that C computes the same.
            return Scalar::Float(((bits >> 11) as f64 * 2f64.powi(-53)).mul_add(width, low));
        }
        let (low, count) = self.integers();
        let offset = bits.checked_rem(count).unwrap_or(bits);
        Scalar::Integer(low.wrapping_add(offset.cast_signed()))
    }

    /// The lower bound and the width of the range of floating-point numbers.
    pub fn floats(&self) -> (f64, f64) {
        let (low, high) = self
            .range
            .map_or((-0.5, 0.5), |(a, b)| (to_f64(a), to_f64(b)));
        (low, high - low)
    }

    /// The least integer, and the number of integers; 0 for all of them.
    pub fn integers(&self) -> (i64, u64) {
        let (low, high) = self
            .range
            .map_or((-50, 50), |(a, b)| (to_i64(a), to_i64(b)));
        let span = high.wrapping_sub(low).cast_unsigned();
        (low, span.wrapping_add(1))
    }

    pub(super) fn check(&self, tensor: &Tensor) -> Result<(), RuntimeError> {
        let Some((low, high)) = self.range else {
            return Ok(());
        };
        let elem = tensor.elem();
        let fits = if elem.is_float() {
            to_f64(low) <= to_f64(high) && self.floats().1.is_finite()
        } else {
            [low, high].iter().all(|b| is_element(elem, *b)) && to_i64(low) <= to_i64(high)
        };
        if fits {
            Ok(())
        } else {
            Err(RuntimeError::NoRange {
                tensor: tensor.label().to_owned(),
                elem,
                low,
                high,
            })
        }
    }
}

/// Output number `x` of the generator that starts with `seed`.
fn splitmix64(seed: u64, x: u64) -> u64 {
    let z = seed.wrapping_add(x.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        for (x, expected) in (0..).zip(published) {
            assert_eq!(splitmix64(1_234_567, x), expected);
        }
    }

    #[test]
    fn numbers_stay_in_their_range() {
        let (low, high) = (Scalar::Integer(i64::MIN), Scalar::Integer(i64::MAX));
        let all = Random::new(1, Some((low, high)));
        assert_eq!(all.integers(), (i64::MIN, 0));
        let (mut least, mut greatest) = (0, 0);
        for x in 0..10_000 {
            let Scalar::Integer(v) = Random::new(7, None).value(Elem::I32, x) else {
                unreachable!()
            };
            (least, greatest) = (least.min(v), greatest.max(v));
            let Scalar::Float(v) = Random::new(7, None).value(Elem::F64, x) else {
                unreachable!()
            };
            assert!((-0.5..0.5).contains(&v));
        }
        assert_eq!((least, greatest), (-50, 50));
    }
}
