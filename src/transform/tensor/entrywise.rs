//! `A + B`, `A - B`, `A * B`, `A / B`, `A % B`, `A ** 2` and `-A` compute entry by entry, without
//! storing the result.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = tensor([4, 5]);
//! let s = scalar();
//! print(2 * A + B / s);
//! let C = eq(-A, [i, j] -> [j, i]);
//! print(C);
//! print(1 - vat(A, [i, j]) * vat(C, [j, i]));
//! ```
//!
//! ```text
//! f64 A[4][5], B[4][5], s
//! [_1, _2] -> 2 * A[_1][_2] + B[_1][_2] / s
//! f64 C[5][4], A[4][5]
//! C[j][i] = neg(A[i][j])
//! f64 A[4][5], C[5][4]
//! 1 - A[i][j] * C[j][i]
//! ```
//!
//! Operands that carry iterators keep them, as in `vadd(vat(A, [i, j]), vat(A, [j, i]))`, and so
//! does the result: `vat(A, [i, j]) + vat(A, [j, i])` is a matrix and its transpose.
//!
//! Operands that carry none are broadcast as in NumPy: `A * B` is NumPy's `A * B`, and the product
//! of matrices is `matmul(A, B)`. Shapes are compared from their last dimension on. Two extents are
//! equal, or one of them is 1: its element is paired with all of the other operand. A shape with
//! fewer dimensions is continued with extents of 1 at its front. The same rule holds for functions
//! of several operands without iterators, such as `maximum(A, x)` and `where(A > 0, A, x)`.
//!
//! ```rhai
//! let X = tensor([100, 8]);
//! let b = tensor([8]);
//! let m = max(X, [2], #{keep: true});
//! print(X + b); print(X - m);
//! ```
//!
//! ```text
//! f64 X[100][8], b[8]
//! [_1, _2] -> X[_1][_2] + b[_2]
//! f64 X[100][8], m[100][1]
//! [_1, _2] -> X[_1][_2] - m[_1][0]
//! ```
//!
//! The result is virtual and carries no iterators yet; `build`, `compare`, `run` and `nests` store
//! it. Numbers and operands of rank 0 are paired with every entry of the other operand in both
//! cases. A size is never 1.
//!
//! `A % B` is `vmod(A, B)`, Euclid's remainder of integers, and `A ** B` is `vpow(A, B)`. The minus
//! of a script binds first: `-A ** 2` is `(-A) ** 2`.
//!
//! Refuses: extents that are neither equal nor 1; different element types; an operand that carries
//! iterators beside one that has dimensions but carries none; numbers that the element type cannot
//! hold.
//!
//! Source: TeML eq. 30 in operator form; broadcasting: NumPy; numbers and scalars: beyond the paper.

use super::entries::each_entry;
use super::infer::{apply, binary};
use super::operand::{
    Operand, carried, common_elem, constant, describe, indexed, positional, rank,
};
use super::vop::vop;
use crate::ir::{BinaryOp, Expr, Function, Name};
use crate::{Error, Op, Param, Returns, Value, mistake};

const LEFT: Param<Operand> = Param::new("left");
const RIGHT: Param<Operand> = Param::new("right");
const OPERAND: Param<Expr> = Param::new("operand");

macro_rules! operator {
    ($name:literal, $op:expr) => {
        Op {
            name: $name,
            params: &[LEFT.any(), RIGHT.any()],
            returns: Returns::Expr,
            file: include_str!("entrywise.rs"),
            call: |args| entrywise($op, args.get(&LEFT)?, args.get(&RIGHT)?).map(Value::Expr),
        }
    };
}

/// `left + right`.
pub static PLUS: Op = operator!("+", BinaryOp::Add);
/// `left - right`.
pub static MINUS: Op = operator!("-", BinaryOp::Sub);
/// `left * right`.
pub static TIMES: Op = operator!("*", BinaryOp::Mul);
/// `left / right`.
pub static OVER: Op = operator!("/", BinaryOp::Div);
/// `left % right`.
pub static MODULO: Op = operator!("%", BinaryOp::Mod);
/// `left ** right`.
pub static POWER: Op = operator!("**", BinaryOp::Pow);
/// `-operand`.
pub static OPPOSITE: Op = Op {
    name: "-",
    params: &[OPERAND.any()],
    returns: Returns::Expr,
    file: include_str!("entrywise.rs"),
    call: |args| opposite(args.get(&OPERAND)?).map(Value::Expr),
};

/// `left op right`, entry by entry.
///
/// # Errors
/// Shapes or element types that differ; numbers that the element type cannot hold.
pub fn entrywise<'a>(
    op: BinaryOp,
    left: impl Into<Operand<'a>>,
    right: impl Into<Operand<'a>>,
) -> Result<Expr, Error> {
    let (left, right) = (left.into(), right.into());
    let carries = |operand: Operand| operand.expr().is_some_and(|e| !carried(e).is_empty());
    if carries(left) || carries(right) {
        return by_iterators(op, left, right);
    }
    vop(op, left, right, &[])
}

/// Combines operands by their iterators; at least one operand carries some.
fn by_iterators(op: BinaryOp, left: Operand<'_>, right: Operand<'_>) -> Result<Expr, Error> {
    let elem = common_elem(&[left, right])?;
    let entry = |operand, other| match operand {
        Operand::Number(number) => constant(number, elem),
        Operand::Expr(expr) if rank(expr) == 0 => positional(expr, &[]),
        Operand::Expr(expr) if carried(expr).is_empty() => Err(without_iterators(expr, other)),
        Operand::Expr(expr) => indexed(expr, &None),
    };
    let entries = [
        entry(left, right).map_err(|error| error.at(&LEFT))?,
        entry(right, left).map_err(|error| error.at(&RIGHT))?,
    ];
    let [left, right] = entries;
    Ok(binary(op, left, right)?)
}

/// The error for an operand without iterators beside one that carries some.
fn without_iterators(expr: &Expr, other: Operand<'_>) -> Error {
    let without = describe(expr);
    let (with, has) = match other {
        Operand::Expr(other) => (describe(other), carried(other)),
        Operand::Number(number) => (number.to_string(), Vec::new()),
    };
    let has: Vec<&str> = has.iter().map(Name::as_str).collect();
    let own = if has.len() == rank(expr) {
        has.join(", ")
    } else {
        "…".to_owned()
    };
    let has = has.join(", ");
    let text = format!("{without} has no iterators yet, and {with} carries [{has}]");
    mistake(text).help(format!(
        "give it iterators as well: `vat({without}, [{own}])`"
    ))
}

/// `-operand`, entry by entry.
///
/// # Errors
/// A tensor without a name.
pub fn opposite(operand: &Expr) -> Result<Expr, Error> {
    if !carried(operand).is_empty() {
        return Ok(apply(Function::Neg, &[indexed(operand, &None)?])?);
    }
    let opposite = |entry| apply(Function::Neg, &[entry]);
    each_entry(operand, opposite)
}
