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
//! `vcast(operand, type, iterators?)` has the elements of the operand, as values of the type
//! `"f64"`, `"f32"`, `"i32"` or `"i64"`; `cast(operand, type, I0 -> I1)` assigns them. The
//! iterators are left out if the operand has some. If it has none and gets none, `vcast` converts
//! entry by entry, as `-A` does, and `cast(operand, type)` keeps the dimensions in their order.
//!
//! A sum is as wide as its operands: here, products and sums of `f32` are computed in `f64`.
//!
//! Conversions to floating point round to the nearest number, ties to even; a number that is too
//! large becomes infinite. Conversions to integers truncate: 2.9 becomes 2 and -2.9 becomes -2.
//! Beyond the range of the type they give its least or greatest integer, and 0 for a NaN, where C
//! and NumPy define nothing. `i64` to `i32` wraps, as arithmetic does. A conversion is not an
//! operation in `flops`.
//!
//! Refuses: what `vexp` and `eq` refuse.
//!
//! Source: beyond the paper, in the form of TeML eqs. 15 and 16.

use super::entries::each_entry;
use super::eq::{arrow_or_all, assign, both_sides, only_list, places, with_arrow};
use super::infer::apply;
use super::operand::{carried, indexed, rank};
use super::unfit::Unfit;
use crate::args::Iterators;
use crate::ir::{Affine, Elem, Expr, Function};
use crate::{Arrow, Error, Iters, Op, Param, Returns, Value};

const OPERAND: Param<Expr> = Param::new("operand");
const TYPE: Param<Elem> = Param::new("type");
const ITERATORS: Param<Option<Iterators>> = Param::new("iterators");
const ARROW: Param<Option<Arrow>> = Param::new("iterators");

/// `vcast(operand, type, iterators?)`.
pub static VCAST: Op = Op {
    name: "vcast",
    params: &[OPERAND.any(), TYPE.any(), ITERATORS.any()],
    returns: Returns::Expr,
    file: include_str!("cast.rs"),
    call: |args| {
        let given = args.get(&ITERATORS)?.map(<[Affine]>::to_vec);
        vcast(args.get(&OPERAND)?, args.get(&TYPE)?, &given).map(Value::Expr)
    },
};

/// `cast(operand, type, iterators?)`.
pub static CAST: Op = Op {
    name: "cast",
    params: &[OPERAND.any(), TYPE.any(), ARROW.any()],
    returns: Returns::Expr,
    file: include_str!("cast.rs"),
    call: |args| {
        let operand = args.get(&OPERAND)?;
        let elem = args.get(&TYPE)?;
        let made = match args.get(&ARROW)? {
            None if !carried(operand).is_empty() => vcast(operand, elem, &None),
            given => cast(operand, elem, &arrow_or_all(given, operand)),
        };
        made.map(Value::Expr)
    },
};

/// The virtual expression with the elements of `operand` as values of another type.
///
/// # Errors
/// As the header says.
pub fn vcast(operand: &Expr, elem: Elem, given: &Iters) -> Result<Expr, Error> {
    let convert = |entry: Expr| apply(Function::Cast(elem), &[entry]);
    if given.is_none() && carried(operand).is_empty() && rank(operand) > 0 {
        return each_entry(operand, convert);
    }
    let entry = indexed(operand, given).map_err(|error| error.at(&OPERAND))?;
    convert(entry).map_err(|unfit| match unfit {
        Unfit::Shape(_) if given.is_some() => Error::from(unfit).at(&ITERATORS),
        unfit => unfit.into(),
    })
}

/// The assignment of the elements of `operand` as values of another type to a tensor named □.
///
/// # Errors
/// As the header says.
pub fn cast(operand: &Expr, elem: Elem, arrow: &Arrow) -> Result<Expr, Error> {
    let arrow = &both_sides(operand, arrow);
    let given = only_list(arrow, &ARROW)?;
    let entry = indexed(operand, &given);
    let entry = entry.map_err(|error| with_arrow(error.at(&OPERAND), operand, arrow))?;
    let to = places(operand, &entry, &given, &arrow.to);
    assign(apply(Function::Cast(elem), &[entry])?, &to, &ARROW)
}
