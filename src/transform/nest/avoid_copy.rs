//! `avoid_copy` computes values where they are copied to.
//!
//! ```rhai
//! let x = tensor([8]);
//! let s = scalar();
//! let y = eq(x * s, [i] -> [i]);
//! x = eq(y, [i] -> [i]);
//! print(fuse_outer(build(y), build(x), 0).avoid_copy(y));
//! ```
//!
//! ```text
//! f64 x[8], s
//! for i in 0..8
//!   x[i] = x[i] * s
//! ```
//!
//! The last loops that use the tensor copy it to another one of its shape; they disappear, and
//! that one stands for the tensor everywhere else. The tensor is no argument of the nest any more.
//!
//! Legal when what the values are computed of is not overwritten too early, as in `build`: where
//! only the element itself is read, any order will do. `check` proves it.
//!
//! Refuses: a tensor that is a result or that comes from outside; one that is not copied last.
//!
//! Source: avoid-copy; Ullrich, Detection and Exploitation of Data-Parallelism in Assignments of
//! Multi-Dimensional Tensors, 2018, §6.1.

use super::resolve::tensor_name;
use super::reuse::{NoReuse, Temporary};
use crate::ir::Nest;
use crate::transform::{Arg, Error, ErrorKind, Kind, Op, Param, Returns, Value};

/// `avoid_copy(nest, tensor)`.
pub static AVOID_COPY: Op = Op {
    name: "avoid_copy",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("tensor", Kind::Tensor),
    ],
    returns: Returns::Nest,
    file: include_str!("avoid_copy.rs"),
    call: |args| match args {
        [Arg::Nest(nest), tensor] => avoid_copy(nest, tensor_name(tensor, 1)?).map(Value::Nest),
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The nest that computes `tensor` where it is copied to.
///
/// # Errors
/// As the header says.
pub fn avoid_copy(nest: &Nest, tensor: &str) -> Result<Nest, Error> {
    let temporary = Temporary::find(nest, tensor)?;
    match temporary.copy() {
        Some(target) => Ok(temporary.computed_in(&target)),
        None => {
            let tensor = tensor.to_owned();
            let kind = NoReuse::NotCopied { tensor };
            Err(Error::from(kind).at_argument(1).on(nest, []))
        }
    }
}
