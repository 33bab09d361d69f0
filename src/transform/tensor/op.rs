//! `add`, `sub`, `mul`, `div`, `minimum`, `maximum`, `pow` combine two tensor expressions and
//! assign the result.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let x = tensor([5]);
//! let B = add(A, x, [[i, j], [j]] -> [i, j]);
//! let C = mul(B, 0.5, [[i, j], ] -> [j, i]);
//! print(B); print(C);
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5], x[5]
//! B[i][j] = A[i][j] + x[j]
//! f64 C[5][4], B[4][5]
//! C[j][i] = B[i][j] * 0.5
//! ```
//!
//! `op(left, right, [I0, I1] -> I2)` is `vop(left, right, [I0, I1])` followed by `eq(…, () -> I2)`.
//! Without lists, `op(left, right)` broadcasts its operands as `A + B` does. Operands that carry
//! iterators keep them, and nothing is stored.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let low = tensor([5]);
//! let B = maximum(A, low);
//! print(B);
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5], low[5]
//! B[_1][_2] = max(A[_1][_2], low[_2])
//! ```
//!
//! If the target is an operand, an iterator that is missing in `I2` accumulates:
//! `C = add(C, t, [[i, j], ] -> [i, j])` adds every value of `t` onto the old `C`.
//!
//! Refuses: what `vadd` and `eq` refuse.
//!
//! Source: TeML eq. 16; accumulation: eq. 33.

use super::eq::{assign, stored_or_carried};
use super::infer::binary;
use super::operand::Operand;
use super::vop::{operands, vop};
use crate::args::ListsArrow;
use crate::ir::{BinaryOp, Expr};
use crate::{Arrow, Error, Op, Param, Returns, Value};

const LEFT: Param<Operand> = Param::new("left");
const RIGHT: Param<Operand> = Param::new("right");
const ITERATORS: Param<Option<ListsArrow>> = Param::new("iterators");

macro_rules! op {
    ($name:literal, $op:expr) => {
        Op {
            name: $name,
            params: &[LEFT.any(), RIGHT.any(), ITERATORS.any()],
            returns: Returns::Expr,
            file: include_str!("op.rs"),
            call: |args| {
                let (left, right) = (args.get(&LEFT)?, args.get(&RIGHT)?);
                let value = match args.get(&ITERATORS)? {
                    Some(arrow) => op($op, left, right, arrow),
                    None => vop($op, left, right, &[])
                        .and_then(|value| stored_or_carried(value, &ITERATORS)),
                };
                value.map(Value::Expr)
            },
        }
    };
}

/// `add(left, right, iterators?)`.
pub static ADD: Op = op!("add", BinaryOp::Add);
/// `sub(left, right, iterators?)`.
pub static SUB: Op = op!("sub", BinaryOp::Sub);
/// `mul(left, right, iterators?)`.
pub static MUL: Op = op!("mul", BinaryOp::Mul);
/// `div(left, right, iterators?)`.
pub static DIV: Op = op!("div", BinaryOp::Div);
/// `minimum(left, right, iterators?)`.
pub static MINIMUM: Op = op!("minimum", BinaryOp::Min);
/// `maximum(left, right, iterators?)`.
pub static MAXIMUM: Op = op!("maximum", BinaryOp::Max);
/// `pow(left, right, iterators?)`.
pub static POW: Op = op!("pow", BinaryOp::Pow);
/// `mod(left, right, iterators?)`.
pub static MOD: Op = op!("mod", BinaryOp::Mod);

/// The assignment of `left op right` to a tensor named □.
///
/// # Errors
/// As the header says.
pub fn op<'a>(
    op: BinaryOp,
    left: impl Into<Operand<'a>>,
    right: impl Into<Operand<'a>>,
    arrow: &'a Arrow,
) -> Result<Expr, Error> {
    let operands = operands(left.into(), right.into(), &arrow.from);
    let value = operands.combined(|[left, right]| binary(op, left, right))?;
    assign(value, &arrow.to, &ITERATORS)
}
