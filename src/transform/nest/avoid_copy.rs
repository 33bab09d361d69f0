//! `avoid_copy` computes values directly in the tensor that they are copied to.
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
//! The last loops that use the tensor copy it to another tensor of its shape. These loops
//! disappear, and the other tensor replaces the first one everywhere else. The first tensor is no
//! longer an argument of the nest.
//!
//! Legal when no operand is overwritten before its last use, as in `build`. If the values depend
//! only on the element itself, any order is right. `check` proves it.
//!
//! Refuses: a tensor that is a result or an input; one whose last use is not a copy.
//!
//! Source: avoid-copy; Ullrich, Detection and Exploitation of Data-Parallelism in Assignments of
//! Multi-Dimensional Tensors, 2018, §6.1.

use super::reuse::Temporary;
use crate::args::{NEST, TENSOR};
use crate::ir::Nest;
use crate::{Error, Op, Returns, Value, refusal};

/// `avoid_copy(nest, tensor)`.
pub static AVOID_COPY: Op = Op {
    name: "avoid_copy",
    params: &[NEST.any(), TENSOR.any()],
    returns: Returns::Nest,
    file: include_str!("avoid_copy.rs"),
    call: |args| avoid_copy(args.get(&NEST)?, args.get(&TENSOR)?).map(Value::Nest),
};

/// The nest that computes `tensor` directly in the tensor that it is copied to.
///
/// # Errors
/// As the header says.
pub fn avoid_copy(nest: &Nest, tensor: &str) -> Result<Nest, Error> {
    let temporary = Temporary::find(nest, tensor, &TENSOR)?;
    match temporary.copy() {
        Some(target) => Ok(temporary.computed_in(&target)),
        None => {
            let text = format!("{tensor} is not copied to a tensor like it");
            Err(refusal(text).at(&TENSOR).on(nest, []))
        }
    }
}
