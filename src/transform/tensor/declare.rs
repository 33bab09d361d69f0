//! `tensor(extents, elem?)` and `scalar(elem?)` introduce tensors that are backed by memory.
//!
//! ```rhai
//! let A = tensor([2, 3]);
//! let s = scalar("f32");
//! print(A); print(s);
//! ```
//!
//! ```text
//! f64 A[2][3]
//! f32 s
//! ```
//!
//! A tensor has the extents given, is stored row-major, and holds elements of type `f64`
//! unless `elem` says `"f32"`, `"i32"` or `"i64"`. `tensor([])` has rank 0 and takes the empty
//! list of iterators; a scalar takes none. Both take the name of the variable that they are
//! bound to.
//!
//! The paper's form, with C's name of the element type first, means the same:
//! `tensor(double, [2, 3])`.
//!
//! Refuses: extents below 1; a size beyond the address space.
//!
//! Source: TeML eqs. 12 and 13, §5.3.

use crate::ir::{Elem, Expr, Shape, Tensor};
use crate::transform::{Arg, Error, ErrorKind, Kind, Op, Param, Returns, Value};

/// `tensor(extents, elem?)`.
pub static TENSOR: Op = Op {
    name: "tensor",
    params: &[
        Param::new("extents", Kind::Extents),
        Param::optional("elem", Kind::Elem),
    ],
    returns: Returns::Expr,
    file: include_str!("declare.rs"),
    call: |args| match args {
        [Arg::Extents(extents)] => tensor(extents, Elem::F64).map(Value::Expr),
        [Arg::Extents(extents), Arg::Elem(elem)] => tensor(extents, *elem).map(Value::Expr),
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// `scalar(elem?)`.
pub static SCALAR: Op = Op {
    name: "scalar",
    params: &[Param::optional("elem", Kind::Elem)],
    returns: Returns::Expr,
    file: include_str!("declare.rs"),
    call: |args| match args {
        [] => Ok(Value::Expr(scalar(Elem::F64))),
        [Arg::Elem(elem)] => Ok(Value::Expr(scalar(*elem))),
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// A tensor named □ of the given extents: ⟨(□, S, ε), []⟩.
///
/// # Errors
/// Extents below 1, or too large a product.
pub fn tensor(extents: &[i64], elem: Elem) -> Result<Expr, Error> {
    let shape = Shape::new(extents, elem).map_err(|e| Error::from(e).at_argument(0))?;
    Ok(Expr::of_tensor(Tensor::new(shape, elem)))
}

/// A scalar named □: ⟨(□, [], •), []⟩.
pub fn scalar(elem: Elem) -> Expr {
    Expr::of_tensor(Tensor::scalar(elem))
}
