//! `vat` gives a tensor its iterators.
//!
//! ```rhai
//! let A = tensor([4, 4]);
//! let B = tensor([4, 5]);
//! print(vat(A, [i, i]));
//! print(vmul(vat(A, [i, k]), vat(B, [k, j])));
//! ```
//!
//! ```text
//! f64 A[4][4]
//! A[i][i]
//! f64 A[4][4], B[4][5]
//! A[i][k] * B[k][j]
//! ```
//!
//! `vat(value, [i, j])` takes one index for each dimension of a tensor, or of a virtual tensor that
//! has no iterators yet. Nothing is stored. `vat` does what the lists of
//! `vmul(A, B, [[i, k], [k, j]])` do, for operations that take no lists.
//!
//! Refuses: lists of the wrong length; values that have iterators; numbers as indices that leave
//! their dimension. Which values iterators take is inferred where the expression is assigned.
//!
//! Source: TeML §3.1, the iterators of a node; the where-clauses of eqs. 14 and 15.

use super::operand::indexed;
use crate::analysis::shape;
use crate::args::Iterators;
use crate::ir::{Affine, Expr};
use crate::{Error, Op, Param, Returns, Value};

const VALUE: Param<Expr> = Param::new("value");
const ITERATORS: Param<Iterators> = Param::new("iterators");

/// `vat(value, iterators)`.
pub static VAT: Op = Op {
    name: "vat",
    params: &[VALUE.any(), ITERATORS.any()],
    returns: Returns::Expr,
    file: include_str!("vat.rs"),
    call: |args| vat(args.get(&VALUE)?, args.get(&ITERATORS)?).map(Value::Expr),
};

/// The element of `value` at `iterators`.
///
/// # Errors
/// As the header says.
pub fn vat(value: &Expr, iterators: &[Affine]) -> Result<Expr, Error> {
    let given = Some(iterators.to_vec());
    let placed = indexed(value, &given).map_err(|error| error.at(&VALUE))?;
    shape::ranges_so_far(&placed).map_err(|mismatch| Error::from(mismatch).at(&ITERATORS))?;
    Ok(placed)
}
