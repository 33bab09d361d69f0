//! `vcast` and `cast` convert elements to another type.
//!
//! ```rhai
//! let x = tensor([8], "f32");
//! let y = tensor([8], "f32");
//! let s = eq(vsum(vcast(x, "f64") * vcast(y, "f64")), []);
//! let r = cast(s, "f32", () -> []);
//! print(build(s)); print(r);
//! print(vcast(x, "i32", [i]));
//! ```
//!
//! ```text
//! f64 s[]
//! f32 x[8], y[8]
//! fill s[] = 0
//! for i1 in 0..8
//!   s[] += f64(x[i1]) * f64(y[i1])
//! f64 s[]
//! f32 r[]
//! r[] = f32(s[])
//! f32 x[8]
//! i32(x[i])
//! ```
//!
//! `vcast(operand, type, iterators?)` has the elements of the operand, as values of the type `"f64"`,
//! `"f32"`, `"i32"` or `"i64"`; `cast(operand, type, I0 -> I1)` assigns them. The iterators are left
//! out if the operand has some. If it has none and gets none, `vcast` converts entry by entry, as
//! `-A` does.
//!
//! A sum is as wide as its operands: here, products and sums of `f32` are computed in `f64`.
//!
//! Conversions to floating point round to the nearest number, ties to even; a number that is too
//! large becomes infinite. Conversions to integers truncate: 2.9 becomes 2 and -2.9 becomes -2.
//! Beyond the range of the type they give its least or greatest integer, and 0 for a NaN, where C and
//! NumPy define nothing. `i64` to `i32` wraps, as arithmetic does. It is not an
//! operation in `flops`.
//!
//! Refuses: what `vexp` and `eq` refuse.
//!
//! Source: beyond the paper, in the form of TeML eqs. 15 and 16.

use super::entrywise::each_entry;
use super::eq::{assign, only_list};
use super::infer::apply;
use super::operand::{carried, indexed, rank};
use crate::ir::{Elem, Expr, Function};
use crate::transform::{Arg, Arrow, Error, ErrorKind, Iters, Kind, Op, Param, Returns, Value};

/// `vcast(operand, type, iterators?)`.
pub static VCAST: Op = Op {
    name: "vcast",
    params: &[
        Param::new("operand", Kind::Expr),
        Param::new("type", Kind::Elem),
        Param::optional("iterators", Kind::Iters),
    ],
    returns: Returns::Expr,
    file: include_str!("cast.rs"),
    call: |args| match args {
        [Arg::Expr(operand), Arg::Elem(elem)] => vcast(operand, *elem, &None).map(Value::Expr),
        [Arg::Expr(operand), Arg::Elem(elem), Arg::Iters(list)] => {
            vcast(operand, *elem, &Some(list.clone())).map(Value::Expr)
        }
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// `cast(operand, type, iterators)`.
pub static CAST: Op = Op {
    name: "cast",
    params: &[
        Param::new("operand", Kind::Expr),
        Param::new("type", Kind::Elem),
        Param::new("iterators", Kind::Arrow),
    ],
    returns: Returns::Expr,
    file: include_str!("cast.rs"),
    call: |args| match args {
        [Arg::Expr(operand), Arg::Elem(elem), Arg::Arrow(arrow)] => {
            cast(operand, *elem, arrow).map(Value::Expr)
        }
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The virtual expression with the elements of `operand` as values of another type.
///
/// # Errors
/// As the header says.
pub fn vcast(operand: &Expr, elem: Elem, given: &Iters) -> Result<Expr, Error> {
    let convert = |entry: Expr| apply(Function::Cast(elem), &[entry]);
    if given.is_none() && carried(operand).is_empty() && rank(operand) > 0 {
        return Ok(each_entry(operand, convert)?);
    }
    let entry = indexed(operand, given).map_err(|kind| Error::from(kind).at_argument(0))?;
    convert(entry).map_err(|kind| match kind {
        ErrorKind::Shape(_) if given.is_some() => Error::from(kind).at_argument(2),
        kind => kind.into(),
    })
}

/// The assignment of the elements of `operand` as values of another type to a tensor named □.
///
/// # Errors
/// As the header says.
pub fn cast(operand: &Expr, elem: Elem, arrow: &Arrow) -> Result<Expr, Error> {
    let given = only_list(arrow).map_err(|e| e.at_argument(2))?;
    let entry = indexed(operand, &given).map_err(|kind| Error::from(kind).at_argument(0))?;
    assign(apply(Function::Cast(elem), &[entry])?, &arrow.to, 2)
}
