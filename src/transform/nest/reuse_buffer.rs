//! `reuse_buffer` keeps values in another tensor while the value of that tensor is dead.
//!
//! ```rhai
//! let A = tensor([4, 4]);
//! let B = tensor([4, 4]);
//! let C = tensor([4, 4]);
//! let u = tensor([4, 4, 4]);
//! let tmp1 = contract(C, u, [2, 3]);
//! let tmp2 = contract(B, tmp1, [2, 3]);
//! let v = contract(A, tmp2, [2, 3]);
//! let program = fuse_outer(fuse_outer(build(tmp1), build(tmp2), 0), build(v), 0).donate(u);
//! print(program.reuse_buffer(tmp1).reuse_buffer(tmp2));
//! ```
//!
//! ```text
//! f64 C[4][4], u[4][4][4], B[4][4], v[4][4][4], A[4][4]
//! fill v[0..4][0..4][0..4] = 0
//! for i1 in 0..4
//!   for i2 in 0..4
//!     for i3 in 0..4
//!       for i4 in 0..4
//!         v[i1][i2][i3] += C[i1][i4] * u[i2][i3][i4]
//! fill u[0..4][0..4][0..4] = 0
//! for i1_2 in 0..4
//!   for i2_2 in 0..4
//!     for i3_2 in 0..4
//!       for i4_2 in 0..4
//!         u[i1_2][i2_2][i3_2] += B[i1_2][i4_2] * v[i2_2][i3_2][i4_2]
//! fill v[0..4][0..4][0..4] = 0
//! for i1_3 in 0..4
//!   for i2_3 in 0..4
//!     for i3_3 in 0..4
//!       for i4_3 in 0..4
//!         v[i1_3][i2_3][i3_3] += A[i1_3][i4_3] * u[i2_3][i3_3][i4_3]
//! ```
//!
//! `reuse_buffer(nest, tensor, other?)`: `other` replaces the tensor from the loops that compute it
//! to its last use. Without `other`, the first suitable tensor is taken, local ones first. The
//! tensor is no longer an argument of the nest. Assignments to `other` may overwrite the element of
//! the tensor that they read, if nothing else needs it.
//!
//! Legal when nobody reads afterwards what `other` held before. `check` proves it.
//!
//! Refuses: a tensor that is a result or an input; an `other` of other extents or another element
//! type; an `other` that is used otherwise while the values are needed; an `other` that may be
//! needed after the nest (`donate` declares inputs dead).
//!
//! Source: memory reuse; Ullrich, Detection and Exploitation of Data-Parallelism in Assignments of
//! Multi-Dimensional Tensors, 2018, §6.3.

use super::reuse::{Free, Temporary};
use crate::args::{NEST, TENSOR, TensorName};
use crate::ir::Nest;
use crate::{Error, Op, Param, Returns, Value};

const OTHER: Param<Option<TensorName>> = Param::new("other");

/// `reuse_buffer(nest, tensor, other?)`.
pub static REUSE_BUFFER: Op = Op {
    name: "reuse_buffer",
    params: &[NEST.any(), TENSOR.any(), OTHER.any()],
    returns: Returns::Nest,
    file: include_str!("reuse_buffer.rs"),
    call: |args| {
        reuse_buffer(args.get(&NEST)?, args.get(&TENSOR)?, args.get(&OTHER)?).map(Value::Nest)
    },
};

/// The nest that keeps `tensor` in the memory of another tensor.
///
/// # Errors
/// As the header says.
pub fn reuse_buffer(nest: &Nest, tensor: &str, other: Option<&str>) -> Result<Nest, Error> {
    Temporary::find(nest, tensor, &TENSOR)?.kept_in(other, Free::Before, &OTHER)
}
