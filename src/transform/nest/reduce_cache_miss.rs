//! `reduce_cache_miss` stores new values over a tensor at its last use.
//!
//! ```rhai
//! let A = tensor([6, 7]);
//! let w = tensor([7]);
//! let x = sum(A, [2]);
//! let y = eq(x * 3, [i] -> [i]);
//! let v = eq(vmul(y, w, [[i], [j]]), [i, j]);
//! let program = fuse_outer(fuse_outer(build(x), build(y), 0), build(v), 0).localize(x);
//! print(program.reduce_cache_miss(y));
//! ```
//!
//! ```text
//! f64 A[6][7], v[6][7], w[7]
//! local f64 x[6]
//! fill x[0..6] = 0
//! for i1 in 0..6
//!   for i2 in 0..7
//!     x[i1] += A[i1][i2]
//! for i in 0..6
//!   x[i] = x[i] * 3
//! for i_2 in 0..6
//!   for j in 0..7
//!     v[i_2][j] = x[i_2] * w[j]
//! ```
//!
//! `reduce_cache_miss(nest, tensor, other?)`: the loops that compute `tensor` read `other` for the
//! last time. They now store their values over it, and `other` replaces the tensor from there on.
//! The nest works on less memory, and on lines that are in a cache. Without `other`, the first
//! suitable tensor is taken, local ones first. The tensor is no longer an argument of the nest.
//!
//! Legal when no element is overwritten before its last use, as in `build`. `check` proves it.
//!
//! Refuses: a tensor that is a result or an input; an `other` of other extents or another element
//! type; an `other` that is not read there, or that is used later while the values are needed; an
//! `other` that may be needed after the nest (`donate` declares inputs dead).
//!
//! Source: reduce-cache-miss; Ullrich, Detection and Exploitation of Data-Parallelism in
//! Assignments of Multi-Dimensional Tensors, 2018, §6.2.1.

use super::reuse::{Free, Temporary};
use crate::args::{NEST, TENSOR, TensorName};
use crate::ir::Nest;
use crate::{Error, Op, Param, Returns, Value};

const OTHER: Param<Option<TensorName>> = Param::new("other");

/// `reduce_cache_miss(nest, tensor, other?)`.
pub static REDUCE_CACHE_MISS: Op = Op {
    name: "reduce_cache_miss",
    params: &[NEST.any(), TENSOR.any(), OTHER.any()],
    returns: Returns::Nest,
    file: include_str!("reduce_cache_miss.rs"),
    call: |args| {
        reduce_cache_miss(args.get(&NEST)?, args.get(&TENSOR)?, args.get(&OTHER)?).map(Value::Nest)
    },
};

/// The nest that computes `tensor` in the memory of another tensor.
///
/// # Errors
/// As the header says.
pub fn reduce_cache_miss(nest: &Nest, tensor: &str, other: Option<&str>) -> Result<Nest, Error> {
    Temporary::find(nest, tensor, &TENSOR)?.kept_in(other, Free::Meanwhile, &OTHER)
}
