//! Elements of tensors: one of them, or all of them in memory.

use crate::ir::Elem;
use std::fmt;

/// The elements of a tensor, borrowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum View<'a> {
    /// C `double`.
    F64(&'a [f64]),
    /// C `float`.
    F32(&'a [f32]),
    /// C `int32_t`.
    I32(&'a [i32]),
    /// C `int64_t`.
    I64(&'a [i64]),
}

/// The elements of a tensor, borrowed for writing.
pub(super) enum Contents<'a> {
    F64(&'a mut [f64]),
    F32(&'a mut [f32]),
    I32(&'a mut [i32]),
    I64(&'a mut [i64]),
}

/// One element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// An f64, or an f32 without loss.
    Float(f64),
    /// An i64, or an i32.
    Integer(i64),
}

impl Scalar {
    /// The nearest f64.
    pub fn as_f64(self) -> f64 {
        to_f64(self)
    }

    /// Whether both are the same number of the same kind, to the last bit.
    pub(super) fn same(self, other: Scalar) -> bool {
        match (self, other) {
            (Scalar::Float(a), Scalar::Float(b)) => a.to_bits() == b.to_bits(),
            (a, b) => a == b,
        }
    }
}

impl From<f64> for Scalar {
    fn from(value: f64) -> Scalar {
        Scalar::Float(value)
    }
}

impl From<i64> for Scalar {
    fn from(value: i64) -> Scalar {
        Scalar::Integer(value)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Float(value) => write!(f, "{value:?}"),
            Scalar::Integer(value) => write!(f, "{value}"),
        }
    }
}

impl View<'_> {
    pub fn len(&self) -> usize {
        match self {
            View::F64(s) => s.len(),
            View::F32(s) => s.len(),
            View::I32(s) => s.len(),
            View::I64(s) => s.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element type.
    pub fn elem(&self) -> Elem {
        match self {
            View::F64(_) => Elem::F64,
            View::F32(_) => Elem::F32,
            View::I32(_) => Elem::I32,
            View::I64(_) => Elem::I64,
        }
    }

    /// The element at flat index `x`, counted from 0.
    pub fn get(&self, x: usize) -> Option<Scalar> {
        Some(match self {
            View::F64(s) => Scalar::Float(*s.get(x)?),
            View::F32(s) => Scalar::Float(f64::from(*s.get(x)?)),
            View::I32(s) => Scalar::Integer(i64::from(*s.get(x)?)),
            View::I64(s) => Scalar::Integer(*s.get(x)?),
        })
    }
}

/// Whether `value` can be an element of this type.
pub(super) fn is_element(elem: Elem, value: Scalar) -> bool {
    match (elem, value) {
        (Elem::F64 | Elem::F32, _) | (Elem::I64, Scalar::Integer(_)) => true,
        (Elem::I32, Scalar::Integer(value)) => i32::try_from(value).is_ok(),
        (Elem::I32, Scalar::Float(value)) => is_whole(value, 31),
        (Elem::I64, Scalar::Float(value)) => is_whole(value, 63),
    }
}

/// Whether `value` is a whole number from `-2^bits` to below `2^bits`.
fn is_whole(value: f64, bits: i32) -> bool {
    let limit = 2f64.powi(bits);
    value.fract() == 0.0 && (-limit..limit).contains(&value)
}

pub(super) fn to_f64(value: Scalar) -> f64 {
    match value {
        Scalar::Float(value) => value,
        Scalar::Integer(value) => value as f64,
    }
}

pub(super) fn to_f32(value: Scalar) -> f32 {
    match value {
        Scalar::Float(value) => value as f32,
        Scalar::Integer(value) => value as f32,
    }
}

pub(super) fn to_i32(value: Scalar) -> i32 {
    to_i64(value) as i32
}

pub(super) fn to_i64(value: Scalar) -> i64 {
    match value {
        Scalar::Float(value) => value as i64,
        Scalar::Integer(value) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_in_range_are_integers() {
        use Scalar::{Float, Integer};
        assert!(is_element(Elem::I32, Float(-2_147_483_648.0)));
        assert!(!is_element(Elem::I32, Float(2_147_483_648.0)));
        assert!(!is_element(Elem::I32, Integer(2_147_483_648)));
        assert!(is_element(Elem::I64, Integer(i64::MAX)));
        assert!(!is_element(Elem::I64, Float(i64::MAX as f64)));
        assert!(!is_element(Elem::I64, Float(0.5)));
        assert!(!is_element(Elem::I64, Float(f64::NAN)));
        assert!(is_element(Elem::F32, Float(f64::NAN)));
    }
}
