//! `vindex` takes the value of an index expression as a number.
//!
//! ```rhai
//! let A = eq(vindex(2*i + j), [i, j], [4, 5]);
//! print(build(A));
//! let B = eq(vcast(vindex(i), "f64") / 10, [i], #{i: 0..10});
//! print(B);
//! ```
//!
//! ```text
//! i64 A[4][5]
//! for i in 0..4
//!   for j in 0..5
//!     A[i][j] = index(2*i + j)
//! f64 B[10]
//! B[i] = f64(index(i)) / 10 where i in 0..10
//! ```
//!
//! The value is an `i64`, and no other element type is guessed: `vcast(vindex(i), "f64")` converts
//! it. It is an operand like any other. `vselect(vindex(j), "<=", vindex(i), S, 0, …)` keeps the
//! lower triangle of a matrix, and `(vindex(i) + vindex(j)) % 2` colors a checkerboard.
//!
//! An entry that is read from a tensor is a number as well: `vindex(ptr[i + 1] - ptr[i])` is how
//! many entries row i has.
//!
//! An index value limits no iterator. The range of one that indexes no tensor of the value comes
//! from the target's extents, or is given: `#{i: 0..n}`. The value is that of the iterator in the
//! definition, however its loop is cut, shifted or reordered afterwards. It reads no memory, and is
//! not an operation in `flops`.
//!
//! Refuses: variables that read as iterators and hold a number; coefficients beyond 2^40.
//!
//! Source: beyond the paper.

use super::gather;
use crate::analysis::verify::Invalid;
use crate::args::AnIndex;
use crate::ir::{Affine, Expr, Node};
use crate::{Error, Op, Param, Returns, Value};

const INDEX: Param<AnIndex> = Param::new("index");

/// `vindex(index)`.
pub static VINDEX: Op = Op {
    name: "vindex",
    params: &[INDEX.any()],
    returns: Returns::Expr,
    file: include_str!("vindex.rs"),
    call: |args| vindex(args.get(&INDEX)?).map(Value::Expr),
};

/// The virtual expression with the value of `index`.
///
/// # Errors
/// Coefficients that are too large to compute with.
pub fn vindex(index: &Affine) -> Result<Expr, Error> {
    if !index.is_in_limits() {
        let index = index.clone();
        return Err(Error::from(Invalid::IndexTooLarge { index }).at(&INDEX));
    }
    let list = std::slice::from_ref(index);
    if !gather::reads(list) {
        return Ok(Expr::new(Node::Index(index.clone())));
    }
    let gathered = gather::gathered(list, &[]).map_err(|error| error.at(&INDEX))?;
    let value = gathered.index.first().cloned().unwrap_or_default();
    gathered.sum(Expr::new(Node::Index(value)))
}
