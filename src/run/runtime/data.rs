//! The contents of a tensor before a kernel runs.

use super::elements::{Contents, Scalar, View, is_element, to_f32, to_f64, to_i32, to_i64};
use super::error::RuntimeError;
use super::facts::{FalseFact, count, unsorted, wrong};
use super::indices;
use super::random::Random;
use crate::ir::{Elem, Name, Tensor};
use rayon::prelude::*;
use std::sync::Arc;

/// Where the elements of a tensor come from.
#[derive(Clone, Debug)]
pub enum Data {
    /// The default input: tensor number `k` holds, at flat index x,
    /// `((x*7 + k*13) % 101) / 101.0 - 0.5`, and `((x*7 + k*13) % 101) - 50` where its elements
    /// are integers.
    Pattern(u64),
    /// Pseudorandom numbers from a seed.
    Random(Random),
    /// The same value everywhere.
    Constant(Scalar),
    /// One value per element, in row-major order.
    Values(Arc<Values>),
    /// Nothing: every element is a NaN, or a large negative number for integers, so that reading it
    /// before writing it shows.
    Unset,
}

/// The elements of a tensor, owned.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// C `double`.
    F64(Vec<f64>),
    /// C `float`.
    F32(Vec<f32>),
    /// C `int32_t`.
    I32(Vec<i32>),
    /// C `int64_t`.
    I64(Vec<i64>),
}

impl Values {
    /// `numbers` as elements of `tensor`.
    ///
    /// # Errors
    /// [`RuntimeError::NotAnElement`] when the elements are integers and a number is not an integer
    /// in their range.
    pub fn new(tensor: &Tensor, numbers: &[Scalar]) -> Result<Values, RuntimeError> {
        numbers.iter().try_for_each(|n| check(tensor, *n))?;
        let numbers = numbers.iter().copied();
        Ok(match tensor.elem() {
            Elem::F64 => Values::F64(numbers.map(to_f64).collect()),
            Elem::F32 => Values::F32(numbers.map(to_f32).collect()),
            Elem::I32 => Values::I32(numbers.map(to_i32).collect()),
            Elem::I64 => Values::I64(numbers.map(to_i64).collect()),
        })
    }

    /// No elements.
    pub fn none(elem: Elem) -> Values {
        match elem {
            Elem::F64 => Values::F64(Vec::new()),
            Elem::F32 => Values::F32(Vec::new()),
            Elem::I32 => Values::I32(Vec::new()),
            Elem::I64 => Values::I64(Vec::new()),
        }
    }

    /// The elements, borrowed.
    pub fn view(&self) -> View<'_> {
        match self {
            Values::F64(v) => View::F64(v),
            Values::F32(v) => View::F32(v),
            Values::I32(v) => View::I32(v),
            Values::I64(v) => View::I64(v),
        }
    }
}

impl From<View<'_>> for Values {
    fn from(view: View<'_>) -> Values {
        match view {
            View::F64(v) => Values::F64(v.to_vec()),
            View::F32(v) => Values::F32(v.to_vec()),
            View::I32(v) => Values::I32(v.to_vec()),
            View::I64(v) => Values::I64(v.to_vec()),
        }
    }
}

/// [`Data::Values`] are equal when they are the same list in memory.
impl PartialEq for Data {
    fn eq(&self, other: &Data) -> bool {
        match (self, other) {
            (Data::Pattern(a), Data::Pattern(b)) => a == b,
            (Data::Random(a), Data::Random(b)) => a == b,
            (Data::Constant(a), Data::Constant(b)) => a.same(*b),
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
    /// [`Data::Unset`] and past the end of [`Data::Values`].
    pub fn value(&self, elem: Elem, x: u64) -> Option<Scalar> {
        match self {
            Data::Pattern(k) => {
                let step = ((x % PERIOD) * 7 + (k % PERIOD) * 13) % PERIOD;
                Some(if elem.is_float() {
                    Scalar::Float(step as f64 / 101.0 - 0.5)
                } else {
                    Scalar::Integer(step.cast_signed() - 50)
                })
            }
            Data::Random(random) => Some(random.value(elem, x)),
            Data::Constant(value) => Some(*value),
            Data::Values(values) => values.view().get(usize::try_from(x).ok()?),
            Data::Unset => None,
        }
    }

    /// Checks that the data can be the elements of `tensor`.
    ///
    /// # Errors
    /// [`RuntimeError::DataLength`], [`RuntimeError::DataType`], [`RuntimeError::NotAnElement`],
    /// [`RuntimeError::NoRange`], [`RuntimeError::NotZero`] or [`RuntimeError::FalseFact`].
    pub fn check(&self, tensor: &Tensor) -> Result<(), RuntimeError> {
        self.check_zeros(tensor)?;
        self.check_entries(tensor)?;
        let label = || tensor.label().to_owned();
        match self {
            Data::Pattern(_) | Data::Unset => Ok(()),
            Data::Random(random) => random.check(tensor),
            Data::Constant(value) => check(tensor, *value),
            Data::Values(values) => {
                let (elem, given) = (values.view().elem(), values.view().len() as u64);
                let expected = tensor.shape().elements();
                if expected != given {
                    let tensor = label();
                    return Err(RuntimeError::DataLength {
                        tensor,
                        expected,
                        given,
                    });
                }
                if elem == tensor.elem() {
                    Ok(())
                } else {
                    Err(RuntimeError::DataType {
                        tensor: label(),
                        expected: tensor.elem(),
                        given: elem,
                    })
                }
            }
        }
    }

    /// Checks that the elements that a declaration says are 0 are 0.
    fn check_zeros(&self, tensor: &Tensor) -> Result<(), RuntimeError> {
        if !tensor.has_zeros() {
            return Ok(());
        }
        let wrong = (0..tensor.shape().elements())
            .into_par_iter()
            .filter(|x| !tensor.may_hold(*x))
            .find_map_first(|x| {
                let value = self.value(tensor.elem(), x);
                Some((x, value.filter(|value| to_f64(*value) != 0.0)?))
            });
        match wrong {
            None => Ok(()),
            Some((flat, value)) => Err(RuntimeError::NotZero {
                tensor: tensor.clone(),
                index: tensor.shape().index_of(flat),
                value,
            }),
        }
    }

    /// Checks that entries are as the facts about them say.
    fn check_entries(&self, tensor: &Tensor) -> Result<(), RuntimeError> {
        let Some(entries) = tensor.entries().filter(|_| *self != Data::Unset) else {
            return Ok(());
        };
        let value = |x: u64| self.value(tensor.elem(), x).map(to_i64);
        match wrong(tensor, entries, &value) {
            None => Ok(()),
            Some(wrong) => Err(RuntimeError::FalseFact(Box::new(FalseFact {
                tensor: tensor.clone(),
                wrong,
            }))),
        }
    }

    /// Checks that entries increase in rows. `of` gives the tensor and the data of a name, if they are
    /// known.
    ///
    /// # Errors
    /// [`RuntimeError::FalseFact`]
    pub fn check_rows<'d>(
        &self,
        tensor: &Tensor,
        of: &dyn Fn(&Name) -> Option<(&'d Tensor, &'d Data)>,
    ) -> Result<(), RuntimeError> {
        let rows = tensor.entries().and_then(|entries| entries.rows.as_ref());
        let Some((bounds, begins)) = rows.and_then(of) else {
            return Ok(());
        };
        let value = |x: u64| self.value(tensor.elem(), x).map(to_i64);
        let begins = |x: u64| begins.value(bounds.elem(), x).map(to_i64);
        match unsorted(count(tensor), &value, count(bounds), &begins) {
            None => Ok(()),
            Some(wrong) => Err(RuntimeError::FalseFact(Box::new(FalseFact {
                tensor: tensor.clone(),
                wrong,
            }))),
        }
    }

    /// The usual entries of a tensor with declared facts. `None` without facts. `of` is as for
    /// [`Data::check_rows`].
    pub fn entries<'d>(
        tensor: &Tensor,
        number: u64,
        of: &dyn Fn(&Name) -> Option<(&'d Tensor, &'d Data)>,
    ) -> Option<Data> {
        let entries = tensor.entries()?;
        let all = match entries.rows.as_ref().and_then(of) {
            Some((bounds, begins)) => {
                let begins = |x: u64| begins.value(bounds.elem(), x).map(to_i64);
                let begins = (0..count(bounds)).filter_map(begins).collect::<Vec<_>>();
                indices::usual_in_rows(tensor, entries, number, &begins)
            }
            None => indices::usual(tensor, entries, number),
        };
        Some(Data::Values(Arc::new(Values::new(tensor, &all).ok()?)))
    }

    /// The data where a declaration allows elements other than 0, and zeros elsewhere.
    #[must_use]
    pub fn between_zeros(self, tensor: &Tensor) -> Data {
        if !tensor.has_zeros() {
            return self;
        }
        let element = |x: u64| {
            let value = self.value(tensor.elem(), x);
            value
                .filter(|_| tensor.may_hold(x))
                .unwrap_or(Scalar::Integer(0))
        };
        let elements: Vec<Scalar> = (0..tensor.shape().elements()).map(element).collect();
        let values = Values::new(tensor, &elements);
        values.map_or(self, |values| Data::Values(Arc::new(values)))
    }

    /// Writes the data into `contents`, the elements of `tensor`.
    pub(super) fn fill(&self, tensor: &Tensor, contents: Contents<'_>) -> Result<(), RuntimeError> {
        self.check(tensor)?;
        let elem = tensor.elem();
        match (contents, self) {
            (_, Data::Unset) => {}
            (Contents::F64(out), data) => data.write(elem, out, to_f64),
            (Contents::F32(out), data) => data.write(elem, out, to_f32),
            (Contents::I32(out), data) => data.write(elem, out, to_i32),
            (Contents::I64(out), data) => data.write(elem, out, to_i64),
        }
        Ok(())
    }

    fn write<T: Copy + Send + Sync>(&self, elem: Elem, out: &mut [T], cast: fn(Scalar) -> T) {
        let chunks = out.par_chunks_mut(CHUNK);
        if let Data::Pattern(_) | Data::Constant(_) = self {
            let period = (0..PERIOD).filter_map(|x| self.value(elem, x));
            let period: Vec<T> = period.map(cast).collect();
            chunks.for_each(|out| {
                for piece in out.chunks_mut(period.len()) {
                    piece.copy_from_slice(&period[..piece.len()]);
                }
            });
            return;
        }
        chunks.enumerate().for_each(|(k, out)| {
            for (x, element) in (k * CHUNK..).zip(out) {
                if let Some(value) = self.value(elem, x as u64) {
                    *element = cast(value);
                }
            }
        });
    }
}

fn check(tensor: &Tensor, value: Scalar) -> Result<(), RuntimeError> {
    let elem = tensor.elem();
    if is_element(elem, value) {
        Ok(())
    } else {
        Err(RuntimeError::NotAnElement {
            tensor: tensor.label().to_owned(),
            elem,
            value,
        })
    }
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
            let integer = step.cast_signed() - 50;
            assert_eq!(pattern.value(Elem::F64, x), Some(Scalar::Float(float)));
            assert_eq!(pattern.value(Elem::I32, x), Some(Scalar::Integer(integer)));
        }
    }
}
