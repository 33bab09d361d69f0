//! `strided` lets the rows of a tensor, or all indices, lie apart in memory.
//!
//! ```rhai
//! let A = strided(tensor([size("M"), size("N")]));
//! let x = strided(tensor([size("N")]), "all");
//! let B = eq(vmul(A, x, [[i, j], [j]]), [i, j]);
//! print(build(B));
//! print(`${codegen(build(B))}`.contains("A[i*ldA + j] * x[j*ldx]"));
//! ```
//!
//! ```text
//! size M, N
//! f64 B[M][N], strided A[M][N], strided(all) x[N]
//! for i in 0..M
//!   for j in 0..N
//!     B[i][j] = A[i][j] * x[j]
//! true
//! ```
//!
//! A kernel gets the distances, in elements, when it is called: `ldA` for the rows of a matrix, and
//! `ldA_1`, `ldA_2`, … for the dimensions of other tensors. So a part of a larger matrix is passed
//! without a copy. The elements of a row are adjacent, and rows do not overlap. Functions that check
//! their arguments, in C and in Python, take the distances from the strides of an array and refuse
//! others.
//!
//! With `"all"`, there is a distance for each dimension, and distances may also be negative or 0:
//! columns, every other element, reversed and transposed arrays, all without a copy. Only results
//! have to have a place for each element. Then no elements are known to be adjacent, so steps such as
//! `pack` copy what vectors read. See `export_kernel` for kernels that take adjacent elements where
//! they can.
//!
//! `compare`, `run` and `teml build` also run kernels on tensors with gaps, which stay as they are,
//! and with negative distances.
//!
//! Only the value that `strided` returns has this property: `A = strided(A)`. Buffers that steps
//! make do not have it.
//!
//! Refuses: an expression; a tensor without rows, or with `"all"` without dimensions; with `"all"`,
//! a tensor of entries that bounds read, and kernels on devices.
//!
//! Source: the leading dimensions and increments of BLAS, and the strides of NumPy.

use super::operand::declared;
use crate::ir::{Expr, Strides};
use crate::words::words;
use crate::{Error, Op, Param, Returns, Value, limitation};

const TENSOR: Param<Expr> = Param::new("tensor");
const DIMENSIONS: Param<Option<Dimensions>> = Param::new("dimensions");

/// `strided(tensor, dimensions?)`.
pub static STRIDED: Op = Op {
    name: "strided",
    params: &[TENSOR.any(), DIMENSIONS.any()],
    returns: Returns::Expr,
    file: include_str!("strided.rs"),
    call: |args| {
        let strides = match args.get(&DIMENSIONS)? {
            Some(Dimensions::All) => Strides::All,
            Some(Dimensions::Rows) | None => Strides::Rows,
        };
        strided(args.get(&TENSOR)?, strides).map(Value::Expr)
    },
};

words! {
    /// Which indices may lie apart.
    enum Dimensions {
        /// Rows.
        Rows = "rows",
        /// Those of each dimension.
        All = "all",
    }
}

/// The tensor, whose indices in these dimensions may lie apart.
///
/// # Errors
/// As the header says.
pub fn strided(tensor: &Expr, strides: Strides) -> Result<Expr, Error> {
    let declare = "declare it: `let A = strided(tensor([9, 9]))`";
    let tensor = declared(tensor).map_err(|error| error.help(declare).at(&TENSOR))?;
    let rank = tensor.shape().rank();
    let refused = match strides {
        Strides::Rows if rank < 2 => Some((
            "a tensor with fewer than two dimensions has no rows that could lie apart",
            "`strided(x, \"all\")` takes elements at any distance",
        )),
        Strides::All if rank == 0 => Some((
            "a tensor without dimensions has one element, which lies apart from nothing",
            "leave `strided` out",
        )),
        Strides::All if tensor.entries().is_some() => Some((
            "bounds read the entries of this tensor where they are adjacent",
            "leave `strided` out",
        )),
        Strides::Rows | Strides::All => None,
    };
    if let Some((text, help)) = refused {
        return Err(limitation(text).help(help).at(&TENSOR));
    }
    Ok(Expr::of_tensor(tensor.strided(strides)))
}
