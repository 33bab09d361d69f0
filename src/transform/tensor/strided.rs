//! `strided` lets the rows of a tensor lie apart in memory.
//!
//! ```rhai
//! let A = strided(tensor([size("M"), size("N")]));
//! let B = eq(2 * A, [i, j] -> [i, j]);
//! print(build(B));
//! print(`${codegen(build(B))}`.contains("A[i*ldA + j]"));
//! ```
//!
//! ```text
//! size M, N
//! f64 B[M][N], strided A[M][N]
//! for i in 0..M
//!   for j in 0..N
//!     B[i][j] = 2 * A[i][j]
//! true
//! ```
//!
//! A kernel gets the distance between rows, in elements, when it is called: `ldA` for a matrix, and
//! `ldA_1`, `ldA_2`, … for the dimensions of other tensors. So a part of a larger matrix is passed
//! without a copy. The elements of a row are adjacent, and rows do not overlap. Functions that check
//! their arguments, in C and in Python, take the distances from the strides of an array and refuse
//! others. `compare`, `run` and `teml build` also run kernels on rows with gaps, which stay as they
//! are.
//!
//! Only the value that `strided` returns has this property: `A = strided(A)`. Buffers that steps
//! make do not have it.
//!
//! Refuses: an expression; a tensor without rows.
//!
//! Source: the leading dimensions of BLAS.

use super::operand::declared;
use crate::ir::Expr;
use crate::{Error, Op, Param, Returns, Value, limitation};

const TENSOR: Param<Expr> = Param::new("tensor");

/// `strided(tensor)`.
pub static STRIDED: Op = Op {
    name: "strided",
    params: &[TENSOR.any()],
    returns: Returns::Expr,
    file: include_str!("strided.rs"),
    call: |args| strided(args.get(&TENSOR)?).map(Value::Expr),
};

/// The tensor, whose rows may lie apart.
///
/// # Errors
/// As the header says.
pub fn strided(tensor: &Expr) -> Result<Expr, Error> {
    let declare = "declare it: `let A = strided(tensor([9, 9]))`";
    let tensor = declared(tensor).map_err(|error| error.help(declare).at(&TENSOR))?;
    if tensor.shape().rank() < 2 {
        let text = "a tensor with fewer than two dimensions has no rows that could lie apart";
        return Err(limitation(text)
            .help("a column of a matrix is a tensor with rows of one element: `tensor([n, 1])`")
            .at(&TENSOR));
    }
    Ok(Expr::of_tensor(tensor.strided()))
}
