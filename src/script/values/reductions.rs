//! Arrays of numbers, reduced to one: `sum`, `mean`, `min` and `max`, beside those of tensors, and
//! norms.

use super::numbers::Numbers;
use crate::messages::fail::Failure;
use crate::runtime::{Scalar, View};
use rhai::{Dynamic, Engine, EvalAltResult, NativeCallContext};

impl Numbers {
    /// The elements in row-major order; none if nothing ran.
    pub fn floats(&self) -> Vec<f64> {
        let values = self.values();
        let view = values.view();
        let all = (0..view.len()).filter_map(|x| view.get(x));
        all.map(Scalar::as_f64).collect()
    }

    /// The elements, if they are integers.
    fn integers(&self) -> Option<Vec<i64>> {
        match self.values().view() {
            View::I64(all) => Some(all.to_vec()),
            View::I32(all) => Some(all.iter().map(|x| i64::from(*x)).collect()),
            View::F64(_) | View::F32(_) => None,
        }
    }

    /// The largest magnitude; 0 if there are no elements.
    pub fn largest(&self) -> f64 {
        self.floats().into_iter().map(f64::abs).fold(0.0, greater)
    }

    /// The root of the sum of the squares, which may overflow.
    pub fn norm(&self) -> f64 {
        let largest = self.largest();
        if largest == 0.0 || !largest.is_finite() {
            return largest;
        }
        let squares = self.floats().into_iter().map(|x| (x / largest).powi(2));
        largest * squares.sum::<f64>().sqrt()
    }

    /// The sum; an error if all elements are integers and it does not fit in an i64.
    fn sum(&self) -> Result<Dynamic, Failure> {
        let Some(integers) = self.integers() else {
            return Ok(self.floats().into_iter().sum::<f64>().into());
        };
        let sum: i128 = integers.into_iter().map(i128::from).sum();
        let too_large = |_| Failure::new(format!("the sum of {self} does not fit in an integer"));
        i64::try_from(sum).map(Dynamic::from_int).map_err(too_large)
    }

    /// The least or the greatest element; 0 if nothing ran.
    fn extreme(
        &self,
        of_integers: fn(i64, i64) -> i64,
        of_floats: fn(f64, f64) -> f64,
    ) -> Result<Dynamic, Failure> {
        self.check_elements()?;
        Ok(match self.integers() {
            Some(all) => all.into_iter().reduce(of_integers).unwrap_or(0).into(),
            None => {
                let all = self.floats().into_iter();
                all.reduce(of_floats).unwrap_or(0.0).into()
            }
        })
    }

    fn mean(&self) -> Result<Dynamic, Failure> {
        self.check_elements()?;
        let all = self.floats();
        Ok((all.iter().sum::<f64>() / all.len().max(1) as f64).into())
    }

    fn check_elements(&self) -> Result<(), Failure> {
        match self.count() {
            0 => Err(Failure::new(format!("{self} has no elements"))),
            _ => Ok(()),
        }
    }
}

/// The greater number; NaN if one is.
fn greater(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

/// The lesser number; NaN if one is.
fn lesser(a: f64, b: f64) -> f64 {
    if a < b || a.is_nan() { a } else { b }
}

/// The reductions as functions of scripts.
pub fn register(engine: &mut Engine) {
    type Fallible = Result<Dynamic, Box<EvalAltResult>>;
    type Context<'a> = NativeCallContext<'a>;
    fn raised(context: &Context, found: Result<Dynamic, Failure>) -> Fallible {
        found.map_err(|failure| failure.raise(context.call_position()))
    }
    engine
        .register_fn("sum", |context: Context, n: &mut Numbers| {
            raised(&context, n.sum())
        })
        .register_fn("mean", |context: Context, n: &mut Numbers| {
            raised(&context, n.mean())
        })
        .register_fn("min", |context: Context, n: &mut Numbers| {
            raised(&context, n.extreme(i64::min, lesser))
        })
        .register_fn("max", |context: Context, n: &mut Numbers| {
            raised(&context, n.extreme(i64::max, greater))
        });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Values;

    fn of(values: &[f64]) -> Numbers {
        Numbers::listed(vec![values.len() as u64], Values::F64(values.to_vec()))
    }

    #[test]
    fn nan_is_never_lost() {
        for values in [
            [f64::NAN, 1.0, 2.0],
            [1.0, f64::NAN, 2.0],
            [1.0, 2.0, f64::NAN],
        ] {
            let numbers = of(&values);
            assert!(numbers.norm().is_nan() && numbers.largest().is_nan());
            for found in [
                numbers.extreme(i64::min, lesser),
                numbers.extreme(i64::max, greater),
                numbers.sum(),
            ] {
                assert!(found.unwrap().as_float().unwrap().is_nan());
            }
        }
    }

    #[test]
    fn norms_do_not_overflow() {
        assert!((of(&[3e200, -4e200]).norm() / 5e200 - 1.0).abs() < 1e-15);
        assert!((of(&[3e-200, 4e-200]).norm() / 5e-200 - 1.0).abs() < 1e-15);
        assert_eq!(of(&[0.0, 0.0]).norm(), 0.0);
        assert_eq!(of(&[f64::INFINITY, 1.0]).norm(), f64::INFINITY);
    }
}
