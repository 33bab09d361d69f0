//! The contents of a tensor before a kernel runs.

use super::buffer::{Buffer, Contents};
use super::error::RuntimeError;
use crate::ir::{Elem, Tensor};
use rayon::prelude::*;
use std::sync::Arc;

/// Where the elements of a tensor come from.
#[derive(Clone, Debug)]
pub enum Data {
    /// The default input: tensor number `k` holds, at flat index x,
    /// `((x*7 + k*13) % 101) / 101.0 - 0.5`, and `((x*7 + k*13) % 101) - 50` where its elements
    /// are integers.
    Pattern(u64),
    /// The same value everywhere.
    Constant(f64),
    /// One value per element, in row-major order.
    Values(Arc<Vec<f64>>),
    /// Nothing: every element is a NaN, or a large negative number where elements are integers,
    /// so that reading it before writing it shows.
    Unset,
}

/// [`Data::Values`] are equal when they are the same list in memory.
impl PartialEq for Data {
    fn eq(&self, other: &Data) -> bool {
        match (self, other) {
            (Data::Pattern(a), Data::Pattern(b)) => a == b,
            (Data::Constant(a), Data::Constant(b)) => a.to_bits() == b.to_bits(),
            (Data::Values(a), Data::Values(b)) => Arc::ptr_eq(a, b),
            (Data::Unset, Data::Unset) => true,
            _ => false,
        }
    }
}

/// The pattern repeats after this many elements.
const PERIOD: u64 = 101;

/// Elements that one thread fills at a time; a multiple of the pattern's period.
const CHUNK: usize = PERIOD as usize * 512;

impl Data {
    /// The value at flat index `x` of a tensor with elements of type `elem`; `None` for
    /// [`Data::Unset`] and behind the end of [`Data::Values`].
    pub fn value(&self, elem: Elem, x: u64) -> Option<f64> {
        match self {
            Data::Pattern(k) => {
                let step = ((x % PERIOD) * 7 + (k % PERIOD) * 13) % PERIOD;
                Some(if elem.is_float() {
                    step as f64 / 101.0 - 0.5
                } else {
                    step as f64 - 50.0
                })
            }
            Data::Constant(value) => Some(*value),
            Data::Values(values) => values.get(usize::try_from(x).ok()?).copied(),
            Data::Unset => None,
        }
    }

    /// Writes the data into `buffer`, which holds `tensor`.
    pub(super) fn fill(&self, tensor: &Tensor, buffer: &mut Buffer) -> Result<(), RuntimeError> {
        self.check(tensor)?;
        let elem = tensor.elem();
        match buffer.contents() {
            Contents::F64(out) => self.write(elem, out, |v| v),
            Contents::F32(out) => self.write(elem, out, |v| v as f32),
            Contents::I32(out) => self.write(elem, out, |v| v as i32),
            Contents::I64(out) => self.write(elem, out, |v| v as i64),
        }
        Ok(())
    }

    fn check(&self, tensor: &Tensor) -> Result<(), RuntimeError> {
        let elem = tensor.elem();
        let values: &[f64] = match self {
            Data::Constant(value) => std::slice::from_ref(value),
            Data::Values(values) => values,
            Data::Pattern(_) | Data::Unset => return Ok(()),
        };
        let (expected, given) = (tensor.shape().elements(), values.len() as u64);
        if expected != given && matches!(self, Data::Values(_)) {
            let tensor = tensor.label().to_owned();
            return Err(RuntimeError::DataLength {
                tensor,
                expected,
                given,
            });
        }
        match values.iter().find(|v| !is_element(elem, **v)) {
            None => Ok(()),
            Some(&value) => Err(RuntimeError::NotAnElement {
                tensor: tensor.label().to_owned(),
                elem,
                value,
            }),
        }
    }

    fn write<T: Copy + Send + Sync>(&self, elem: Elem, out: &mut [T], cast: fn(f64) -> T) {
        match self {
            Data::Unset => {}
            Data::Values(values) => {
                let chunks = out.par_chunks_mut(CHUNK).zip(values.par_chunks(CHUNK));
                chunks.for_each(|(out, values)| {
                    for (x, v) in out.iter_mut().zip(values) {
                        *x = cast(*v);
                    }
                });
            }
            Data::Pattern(_) | Data::Constant(_) => {
                let period: Vec<T> = (0..PERIOD)
                    .filter_map(|x| self.value(elem, x))
                    .map(cast)
                    .collect();
                out.par_chunks_mut(CHUNK).for_each(|out| {
                    for piece in out.chunks_mut(period.len()) {
                        piece.copy_from_slice(&period[..piece.len()]);
                    }
                });
            }
        }
    }
}

fn is_element(elem: Elem, value: f64) -> bool {
    let (low, high) = match elem {
        Elem::F64 | Elem::F32 => return true,
        Elem::I32 => (-2f64.powi(31), 2f64.powi(31)),
        Elem::I64 => (-2f64.powi(63), 2f64.powi(63)),
    };
    value.fract() == 0.0 && (low..high).contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_is_the_documented_one() {
        for (k, x) in [(0u64, 0u64), (2, 3), (7, 1000), (1, 123_456_789)] {
            let step = (x * 7 + k * 13) % 101;
            let pattern = Data::Pattern(k);
            let float = step as f64 / 101.0 - 0.5;
            assert_eq!(pattern.value(Elem::F64, x), Some(float));
            assert_eq!(pattern.value(Elem::I32, x), Some(step as f64 - 50.0));
        }
    }

    #[test]
    fn only_whole_numbers_in_range_are_integers() {
        assert!(is_element(Elem::I32, -2_147_483_648.0));
        assert!(!is_element(Elem::I32, 2_147_483_648.0));
        assert!(!is_element(Elem::I64, 0.5));
        assert!(!is_element(Elem::I64, f64::NAN));
        assert!(is_element(Elem::F32, f64::NAN));
    }
}
