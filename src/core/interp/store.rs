//! Numbers, and the tensors that contain them.

use super::Fault;
use super::erf::erf;
use crate::ir::{BinaryOp, Constant, Elem, Function, Name, Tensor};
use std::borrow::Cow;
use std::collections::HashMap;

/// The elements of a tensor, row-major. Borrowed if another owner has them.
#[derive(Clone, Debug, PartialEq)]
pub enum Data<'a> {
    F64(Cow<'a, [f64]>),
    F32(Cow<'a, [f32]>),
    I32(Cow<'a, [i32]>),
    I64(Cow<'a, [i64]>),
}

impl<'a> Data<'a> {
    /// Computes elements from their flat index. Values are converted to the element type.
    pub fn generate(tensor: &Tensor, value: impl Fn(u64) -> f64) -> Data<'a> {
        let indices = 0..tensor.shape().elements();
        match tensor.elem() {
            Elem::F64 => Data::F64(indices.map(value).collect()),
            Elem::F32 => Data::F32(indices.map(|x| value(x) as f32).collect()),
            Elem::I32 => Data::I32(indices.map(|x| value(x) as i32).collect()),
            Elem::I64 => Data::I64(indices.map(|x| value(x) as i64).collect()),
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Data::F64(d) => d.len(),
            Data::F32(d) => d.len(),
            Data::I32(d) => d.len(),
            Data::I64(d) => d.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The tensors of a program and their elements.
pub type Store<'a> = HashMap<Name, Data<'a>>;

/// A number of any element type.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    F64(f64),
    F32(f32),
    I32(i32),
    I64(i64),
}

/// The arithmetic of an element type: IEEE 754 for floating point, wrapping for integers.
pub trait Number: Copy + Default + PartialOrd + Send + Sync + 'static {
    /// The elements, if they are of this type.
    fn slice<'d>(data: &'d Data<'_>) -> Option<&'d [Self]>;
    /// The elements for writing, if they are of this type.
    fn slice_mut<'d>(data: &'d mut Data<'_>) -> Option<&'d mut [Self]>;
    /// Wraps elements as data.
    fn data<'a>(elements: Vec<Self>) -> Data<'a>;
    /// The constant, if it is of this type.
    fn constant(constant: Constant) -> Option<Self>;
    /// The number with its type as a tag.
    fn scalar(self) -> Scalar;
    /// Converts a number to this type, as the header of [`Function`]'s module defines.
    fn converted(from: Scalar) -> Self;
    /// `self op other`.
    ///
    /// # Errors
    /// Division of an integer by zero, a power of integers, or a remainder of floating-point
    /// numbers.
    fn apply(self, op: BinaryOp, other: Self) -> Result<Self, Fault>;
    /// Applies a function of one argument of this type. `None` if this type lacks the function, or
    /// its arguments may have other types.
    fn call(function: Function, arg: Self) -> Option<Self>;
}

/// The lesser number. A NaN only if both are.
fn lesser<T: PartialOrd>(a: T, b: T) -> T {
    let is_number = b.partial_cmp(&b).is_some();
    if a < b || !is_number { a } else { b }
}

/// The greater number. A NaN only if both are.
fn greater<T: PartialOrd>(a: T, b: T) -> T {
    let is_number = b.partial_cmp(&b).is_some();
    if a > b || !is_number { a } else { b }
}

macro_rules! number {
    ($type:ty, $variant:ident, $apply:expr, $call:expr) => {
        impl Number for $type {
            fn slice<'d>(data: &'d Data<'_>) -> Option<&'d [Self]> {
                match data {
                    Data::$variant(d) => Some(d),
                    _ => None,
                }
            }
            fn slice_mut<'d>(data: &'d mut Data<'_>) -> Option<&'d mut [Self]> {
                match data {
                    Data::$variant(d) => Some(d.to_mut()),
                    _ => None,
                }
            }
            fn data<'a>(elements: Vec<Self>) -> Data<'a> {
                Data::$variant(elements.into())
            }
            fn constant(constant: Constant) -> Option<Self> {
                match constant {
                    Constant::$variant(value) => Some(value),
                    _ => None,
                }
            }
            fn scalar(self) -> Scalar {
                Scalar::$variant(self)
            }
            fn converted(from: Scalar) -> Self {
                match from {
                    Scalar::F64(x) => x as $type,
                    Scalar::F32(x) => x as $type,
                    Scalar::I32(x) => x as $type,
                    Scalar::I64(x) => x as $type,
                }
            }
            fn apply(self, op: BinaryOp, other: Self) -> Result<Self, Fault> {
                $apply(op, self, other)
            }
            fn call(function: Function, arg: Self) -> Option<Self> {
                $call(function, arg)
            }
        }
    };
}

macro_rules! ieee {
    ($type:ty) => {
        |op, a: $type, b: $type| {
            Ok(match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                BinaryOp::Div => a / b,
                BinaryOp::Min => lesser(a, b),
                BinaryOp::Max => greater(a, b),
                BinaryOp::Pow => a.powf(b),
                BinaryOp::Mod => return Err(Fault::Meaningless("mod".to_owned())),
            })
        }
    };
}

macro_rules! real {
    ($type:ty) => {
        |function, x: $type| match function {
            Function::Neg => Some(-x),
            Function::Abs => Some(x.abs()),
            Function::Sqrt => Some(x.sqrt()),
            Function::Exp => Some(x.exp()),
            Function::Log => Some(x.ln()),
            Function::Tanh => Some(x.tanh()),
            Function::Sin => Some(x.sin()),
            Function::Cos => Some(x.cos()),
            Function::Floor => Some(x.floor()),
            Function::Ceil => Some(x.ceil()),
            Function::Round => Some(x.round_ties_even()),
            Function::Erf => Some(erf(f64::from(x)) as $type),
            Function::Select(_) | Function::Cast(_) => None,
        }
    };
}

macro_rules! wrapping {
    ($type:ty) => {
        |op, a: $type, b: $type| {
            Ok(match op {
                BinaryOp::Add => a.wrapping_add(b),
                BinaryOp::Sub => a.wrapping_sub(b),
                BinaryOp::Mul => a.wrapping_mul(b),
                BinaryOp::Div | BinaryOp::Mod if b == 0 => return Err(Fault::DivisionByZero),
                BinaryOp::Div => a.wrapping_div(b),
                BinaryOp::Min => lesser(a, b),
                BinaryOp::Max => greater(a, b),
                BinaryOp::Mod => a.wrapping_rem_euclid(b),
                BinaryOp::Pow => return Err(Fault::Meaningless("pow".to_owned())),
            })
        }
    };
}

macro_rules! integral {
    ($type:ty) => {
        |function, x: $type| match function {
            Function::Neg => Some(x.wrapping_neg()),
            Function::Abs => Some(x.wrapping_abs()),
            _ => None,
        }
    };
}

number!(f64, F64, ieee!(f64), real!(f64));
number!(f32, F32, ieee!(f32), real!(f32));
number!(i32, I32, wrapping!(i32), integral!(i32));
number!(i64, I64, wrapping!(i64), integral!(i64));

/// The elements of `tensor`, if their type is `T` and their number fits its shape.
pub(super) fn entries(store: &Store<'_>, tensor: &Tensor) -> Result<Vec<i64>, Fault> {
    match tensor.elem() {
        Elem::I32 => {
            let entries = elements::<i32>(store, tensor)?.iter();
            Ok(entries.map(|entry| i64::from(*entry)).collect())
        }
        _ => Ok(elements::<i64>(store, tensor)?.to_vec()),
    }
}

pub(super) fn elements<'s, T: Number>(
    store: &'s Store<'_>,
    tensor: &Tensor,
) -> Result<&'s [T], Fault> {
    let data = tensor.name().and_then(|name| store.get(name));
    let slice = data.and_then(T::slice);
    let fits = |s: &&[T]| s.len() as u64 == tensor.shape().elements();
    slice.filter(fits).ok_or_else(|| Fault::NoData {
        tensor: tensor.label().to_owned(),
    })
}
