//! `vadd`, `vsub`, `vmul`, `vdiv`, `vminimum`, `vmaximum`, `vpow`, `vmod` combine two tensor
//! expressions without storing the result.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let x = tensor([5]);
//! print(vadd(A, x, [[i, j], [j]]));
//! print(vmaximum(vdiv(1, A, [(), [i, j]]), 0.5));
//! ```
//!
//! ```text
//! f64 A[4][5], x[5]
//! A[i][j] + x[j]
//! f64 A[4][5]
//! max(1 / A[i][j], 0.5)
//! ```
//!
//! `vop(left, right, [I0, I1])` takes a list of iterators for each operand that has none yet. An
//! operand that has iterators, being virtual itself, gets none: `[[i, j], ]`, or `()` in its place.
//! Without lists, operands that have no iterators are combined entry by entry, and broadcast as by
//! `A + B`. `vrelu(vadd(A, 1))` needs no iterators.
//!
//! The result's shape is the list of its iterators' extents, in order of first appearance. Indices
//! are affine: `[i + kh, 2*j - 1]`.
//!
//! An iterator may also be read by quotient and remainder, `i / 5` and `i % 5`, rounded down. The
//! assignment or reduction over `i` then runs over both, and `5*i_q + i_r` replaces `i`. If 5 does
//! not divide the range of `i`, that of `i_r` depends on `i_q`.
//!
//! ```rhai
//! let A = tensor([3]);
//! let B = tensor([5]);
//! let K = eq(vmul(A, B, [[i / 5], [i % 5]]), [i]);
//! let x = tensor([14]);
//! let y = eq(vmul(A, x, [[i / 5], [i]]), [i]);
//! print(K); print(y);
//! ```
//!
//! ```text
//! f64 K[15], A[3], B[5]
//! K[5*i_q + i_r] = A[i_q] * B[i_r]
//! f64 y[14], A[3], x[14]
//! y[5*i_q + i_r] = A[i_q] * x[5*i_q + i_r] where i_r in 0..min(5, 14 - 5*i_q)
//! ```
//!
//! A number on either side takes the element type of the other operand, and no iterators. It must
//! be a value of that type; `f32` rounds decimals. Floating point follows IEEE 754. Integers wrap,
//! and their division truncates. `vminimum(a, b)` is `a` where `a < b`, and otherwise `b`; a number
//! wins against a NaN.
//!
//! `vmod(a, b)`, or `a % b`, is the remainder of integers that Euclid defines: the number from 0 to
//! before |b| that differs from `a` by a multiple of `b`, also where `a` is negative.
//!
//! Powers with a constant exponent become products and roots if few are needed: exponents 2 to 8,
//! -1 to -4, 0.5, 1.5, -0.5 and -1.5. Their error is less than 5 units in the last place. Other
//! powers are as accurate as `pow` of the C library.
//!
//! Refuses: lists of the wrong length; lists for operands that have iterators, and none for
//! operands that have none; extents that disagree; indices that leave their dimension; different
//! element types; numbers that the element type cannot hold; two numbers; powers of integers;
//! remainders of floating-point numbers.
//!
//! Source: TeML eq. 15; minimum, maximum, power, remainder and numbers: beyond the paper.

use super::infer::binary;
use super::operand::{Operand, Operands};
use crate::args::IterLists;
use crate::ir::{BinaryOp, Expr};
use crate::{Error, Iters, Op, Param, Returns, Value};

const LEFT: Param<Operand> = Param::new("left");
const RIGHT: Param<Operand> = Param::new("right");
const ITERATORS: Param<Option<IterLists>> = Param::new("iterators");

macro_rules! vop {
    ($name:literal, $op:expr) => {
        Op {
            name: $name,
            params: &[LEFT.any(), RIGHT.any(), ITERATORS.any()],
            returns: Returns::Expr,
            file: include_str!("vop.rs"),
            call: |args| {
                let lists = args.get(&ITERATORS)?.unwrap_or_default();
                vop($op, args.get(&LEFT)?, args.get(&RIGHT)?, lists).map(Value::Expr)
            },
        }
    };
}

/// `vadd(left, right, iterators?)`.
pub static VADD: Op = vop!("vadd", BinaryOp::Add);
/// `vsub(left, right, iterators?)`.
pub static VSUB: Op = vop!("vsub", BinaryOp::Sub);
/// `vmul(left, right, iterators?)`.
pub static VMUL: Op = vop!("vmul", BinaryOp::Mul);
/// `vdiv(left, right, iterators?)`.
pub static VDIV: Op = vop!("vdiv", BinaryOp::Div);
/// `vminimum(left, right, iterators?)`.
pub static VMINIMUM: Op = vop!("vminimum", BinaryOp::Min);
/// `vmaximum(left, right, iterators?)`.
pub static VMAXIMUM: Op = vop!("vmaximum", BinaryOp::Max);
/// `vpow(left, right, iterators?)`.
pub static VPOW: Op = vop!("vpow", BinaryOp::Pow);
/// `vmod(left, right, iterators?)`.
pub static VMOD: Op = vop!("vmod", BinaryOp::Mod);

/// The virtual expression `left op right`.
///
/// # Errors
/// As the header says.
pub fn vop<'a>(
    op: BinaryOp,
    left: impl Into<Operand<'a>>,
    right: impl Into<Operand<'a>>,
    lists: &'a [Iters],
) -> Result<Expr, Error> {
    let combine = |[left, right]: [Expr; 2]| binary(op, left, right);
    operands(left.into(), right.into(), lists).combined_or_by_entry(combine)
}

/// The operands of `left op right`.
pub(super) fn operands<'a>(
    left: Operand<'a>,
    right: Operand<'a>,
    lists: &'a [Iters],
) -> Operands<'a, 2> {
    Operands {
        operands: [left, right],
        at: [&LEFT, &RIGHT],
        lists,
        lists_at: &ITERATORS,
        compared: 0,
    }
}
