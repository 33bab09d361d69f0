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

use crate::args::Extents;
use crate::ir::{Affine, Elem, Expr, Name, Shape, Tensor};
use crate::{Error, Op, Param, Returns, Value};

const EXTENTS: Param<Extents> = Param::new("extents");
const ELEM: Param<Option<Elem>> = Param::new("elem");
const NAME: Param<Option<Name>> = Param::new("name");

/// `tensor(extents, elem?, name?)`.
pub static TENSOR: Op = Op {
    name: "tensor",
    params: &[EXTENTS.any(), ELEM.any(), NAME.any()],
    returns: Returns::Expr,
    file: include_str!("declare.rs"),
    call: |args| {
        let elem = args.get(&ELEM)?.unwrap_or(Elem::F64);
        let tensor = sized_tensor(args.get(&EXTENTS)?, elem)?;
        Ok(Value::Expr(named(tensor, args.get(&NAME)?)))
    },
};

/// `scalar(elem?, name?)`.
pub static SCALAR: Op = Op {
    name: "scalar",
    params: &[ELEM.any(), NAME.any()],
    returns: Returns::Expr,
    file: include_str!("declare.rs"),
    call: |args| {
        let scalar = scalar(args.get(&ELEM)?.unwrap_or(Elem::F64));
        Ok(Value::Expr(named(scalar, args.get(&NAME)?)))
    },
};

/// A tensor named □ of the given extents: ⟨(□, S, ε), []⟩.
///
/// # Errors
/// Extents below 1, or too large a product.
pub fn tensor(extents: &[i64], elem: Elem) -> Result<Expr, Error> {
    let extents: Vec<Affine> = extents.iter().copied().map(Affine::constant).collect();
    sized_tensor(&extents, elem)
}

/// As [`tensor`], with extents that may have sizes.
///
/// # Errors
/// As [`tensor`].
pub fn sized_tensor(extents: &[Affine], elem: Elem) -> Result<Expr, Error> {
    let shape = Shape::of_dims(extents.to_vec(), elem);
    let shape = shape.map_err(|e| Error::from(e).at(&EXTENTS))?;
    Ok(Expr::of_tensor(Tensor::new(shape, elem)))
}

/// A scalar named □: ⟨(□, [], •), []⟩.
pub fn scalar(elem: Elem) -> Expr {
    Expr::of_tensor(Tensor::scalar(elem))
}

/// The tensor under the given name, if there is one.
fn named(tensor: Expr, name: Option<Name>) -> Expr {
    name.map_or(tensor.clone(), |name| tensor.fill_placeholder(&name))
}
