//! `aligned` promises that a tensor begins at a multiple of some bytes.
//!
//! ```rhai
//! let A = aligned(tensor([4, 8]), 64);
//! let B = eq(2 * A, [i, j] -> [i, j]);
//! print(`${codegen(build(B))}`.contains("__builtin_assume_aligned(A, 64)"));
//! ```
//!
//! ```text
//! true
//! ```
//!
//! Kernels accept any address of an element, unless a tensor has this promise. The C then says so to
//! the compiler, and does not test the address before it stores past the caches. Functions that check
//! their arguments, in C and in Python, refuse an array that breaks the promise.
//!
//! Only the value that `aligned` returns has this property: `A = aligned(A, 64)`. An assignment takes
//! it from the tensor that it assigns. Buffers of `run` and `compare` are aligned to 64 bytes.
//!
//! Refuses: an expression; a number of bytes other than 8, 16, 32 and 64.
//!
//! Source: TeML, §7.

use super::operand::declared;
use crate::ir::Expr;
use crate::{Error, Op, Param, Returns, Value, mistake};

const TENSOR: Param<Expr> = Param::new("tensor");
const BYTES: Param<i64> = Param::new("bytes");

/// `aligned(tensor, bytes)`.
pub static ALIGNED: Op = Op {
    name: "aligned",
    params: &[TENSOR.any(), BYTES.any()],
    returns: Returns::Expr,
    file: include_str!("aligned.rs"),
    call: |args| aligned(args.get(&TENSOR)?, args.get(&BYTES)?).map(Value::Expr),
};

/// The tensor, which begins at a multiple of `bytes`.
///
/// # Errors
/// As the header says.
pub fn aligned(tensor: &Expr, bytes: i64) -> Result<Expr, Error> {
    let declare = "declare it: `let A = aligned(tensor([9, 9]), 64)`";
    let tensor = declared(tensor).map_err(|error| error.help(declare).at(&TENSOR))?;
    match u32::try_from(bytes) {
        Ok(bytes @ (8 | 16 | 32 | 64)) => Ok(Expr::of_tensor(tensor.aligned(bytes))),
        _ => {
            let text = format!("an alignment is 8, 16, 32 or 64 bytes, not {bytes}");
            Err(mistake(text).at(&BYTES))
        }
    }
}
