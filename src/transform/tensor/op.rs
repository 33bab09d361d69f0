//! `add`, `sub`, `mul`, `div` combine two tensor expressions and assign the result.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let x = tensor([5]);
//! let B = add(A, x, [[i, j], [j]] -> [i, j]);
//! print(B);
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5], x[5]
//! B[i][j] = A[i][j] + x[j]
//! ```
//!
//! `op(left, right, [I0, I1] -> I2)` is `vop(left, right, [I0, I1])` followed by
//! `eq(…, () -> I2)`. An iterator that is missing in `I2` accumulates where the target is an
//! operand: `C = add(C, t, [[i, j], ] -> [i, j])` adds every value of `t` onto the old `C`.
//!
//! Refuses: as `vadd` and `eq` do.
//!
//! Source: TeML eq. 16; accumulation: eq. 33.

use super::eq::assign;
use super::vop::vop;
use crate::ir::{BinaryOp, Expr};
use crate::transform::{Arg, Arrow, Error, ErrorKind, Kind, Op, Param, Returns, Value};

const PARAMS: &[Param] = &[
    Param::new("left", Kind::Expr),
    Param::new("right", Kind::Expr),
    Param::new("iterators", Kind::ListsArrow),
];

macro_rules! op {
    ($name:literal, $op:expr) => {
        Op {
            name: $name,
            params: PARAMS,
            returns: Returns::Expr,
            file: include_str!("op.rs"),
            call: |args| match args {
                [Arg::Expr(left), Arg::Expr(right), Arg::Arrow(arrow)] => {
                    op($op, left, right, arrow).map(Value::Expr)
                }
                _ => Err(ErrorKind::Misdeclared.into()),
            },
        }
    };
}

/// `add(left, right, iterators)`.
pub static ADD: Op = op!("add", BinaryOp::Add);
/// `sub(left, right, iterators)`.
pub static SUB: Op = op!("sub", BinaryOp::Sub);
/// `mul(left, right, iterators)`.
pub static MUL: Op = op!("mul", BinaryOp::Mul);
/// `div(left, right, iterators)`.
pub static DIV: Op = op!("div", BinaryOp::Div);

/// The assignment of `left op right` to a tensor named □.
///
/// # Errors
/// As the header says.
pub fn op(op: BinaryOp, left: &Expr, right: &Expr, arrow: &Arrow) -> Result<Expr, Error> {
    let value = vop(op, left, right, &arrow.from)?;
    assign(value, &arrow.to, 2)
}
