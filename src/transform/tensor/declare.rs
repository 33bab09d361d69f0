//! `tensor(extents, elem?, name?)` and `scalar(elem?, name?)` introduce tensors that are backed by
//! memory.
//!
//! ```rhai
//! let A = tensor([2, 3]);
//! let s = scalar("f32");
//! print(A); print(s);
//! for k in 1..=2 {
//!     let layer = tensor([4], "f64", `h_${k}`);
//!     print(layer);
//! }
//! ```
//!
//! ```text
//! f64 A[2][3]
//! f32 s
//! f64 h_1[4]
//! f64 h_2[4]
//! ```
//!
//! A tensor has the extents given, is stored row-major, and holds elements of type `f64`
//! unless `elem` says `"f32"`, `"i32"` or `"i64"`. `tensor([])` has rank 0 and takes the empty
//! list of iterators; a scalar takes none. Both take the name of the variable that they are
//! bound to, or the name given, which an assignment to the variable then keeps.
//!
//! The paper's form, with C's name of the element type first, means the same:
//! `tensor(double, [2, 3])`.
//!
//! Refuses: extents below 1; a size beyond the address space; a name that C does not allow.
//!
//! Source: TeML eqs. 12 and 13, §5.3.

use crate::ir::{Elem, Expr, Name, Shape, Tensor};
use crate::transform::{Arg, Error, ErrorKind, Kind, Op, Param, Returns, Value};

/// `tensor(extents, elem?, name?)`.
pub static TENSOR: Op = Op {
    name: "tensor",
    params: &[
        Param::new("extents", Kind::Extents),
        Param::optional("elem", Kind::Elem),
        Param::optional("name", Kind::Text),
    ],
    returns: Returns::Expr,
    file: include_str!("declare.rs"),
    call: |args| match args {
        [Arg::Extents(extents)] => tensor(extents, Elem::F64).map(Value::Expr),
        [Arg::Extents(extents), Arg::Elem(elem)] => tensor(extents, *elem).map(Value::Expr),
        [Arg::Extents(extents), Arg::Elem(elem), Arg::Word(name)] => {
            named(&tensor(extents, *elem)?, name, 2).map(Value::Expr)
        }
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// `scalar(elem?, name?)`.
pub static SCALAR: Op = Op {
    name: "scalar",
    params: &[
        Param::optional("elem", Kind::Elem),
        Param::optional("name", Kind::Text),
    ],
    returns: Returns::Expr,
    file: include_str!("declare.rs"),
    call: |args| match args {
        [] => Ok(Value::Expr(scalar(Elem::F64))),
        [Arg::Elem(elem)] => Ok(Value::Expr(scalar(*elem))),
        [Arg::Elem(elem), Arg::Word(name)] => named(&scalar(*elem), name, 1).map(Value::Expr),
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

/// The tensor under a name, which is the parameter at `argument`.
fn named(tensor: &Expr, name: &str, argument: usize) -> Result<Expr, Error> {
    let name = Name::new(name).map_err(|error| Error::from(error).at_argument(argument))?;
    Ok(tensor.fill_placeholder(&name))
}
