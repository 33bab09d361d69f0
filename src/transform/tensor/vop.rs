//! `vadd`, `vsub`, `vmul`, `vdiv` combine two tensor expressions without storing the result.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let x = tensor([5]);
//! print(vadd(A, x, [[i, j], [j]]));
//! ```
//!
//! ```text
//! f64 A[4][5], x[5]
//! A[i][j] + x[j]
//! ```
//!
//! `vop(left, right, [I0, I1])`: a list of iterators for each operand that has none yet. An
//! operand that carries iterators, being virtual itself, is given none: `[[i, j], ]`, or `()` in
//! its place. The result's shape is the list of its iterators' extents, in order of first
//! appearance. Indices are affine: `[i + kh, 2*j - 1]`.
//!
//! Refuses: lists of the wrong length; lists where iterators are set, and none where they are
//! not; extents that disagree; indices that leave their dimension; different element types.
//!
//! Source: TeML eq. 15.

use super::infer::binary;
use super::operand::{indexed, of_operand};
use crate::analysis::shape::Mismatch;
use crate::ir::{BinaryOp, Expr};
use crate::transform::{Arg, Error, ErrorKind, Iters, Kind, Op, Param, Returns, Value};

const PARAMS: &[Param] = &[
    Param::new("left", Kind::Expr),
    Param::new("right", Kind::Expr),
    Param::optional("iterators", Kind::IterLists),
];

macro_rules! vop {
    ($name:literal, $op:expr) => {
        Op {
            name: $name,
            params: PARAMS,
            returns: Returns::Expr,
            file: include_str!("vop.rs"),
            call: |args| call($op, args),
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

fn call(op: BinaryOp, args: &[Arg]) -> Result<Value, Error> {
    let (left, right, lists) = match args {
        [Arg::Expr(left), Arg::Expr(right)] => (left, right, &[] as &[Iters]),
        [Arg::Expr(left), Arg::Expr(right), Arg::IterLists(lists)] => {
            (left, right, lists.as_slice())
        }
        _ => return Err(ErrorKind::Misdeclared.into()),
    };
    vop(op, left, right, lists).map(Value::Expr)
}

/// The virtual expression `left op right`.
///
/// # Errors
/// As the header says.
pub fn vop(op: BinaryOp, left: &Expr, right: &Expr, lists: &[Iters]) -> Result<Expr, Error> {
    if lists.len() > 2 {
        let kind = ErrorKind::TooManyLists {
            given: lists.len(),
            operands: 2,
        };
        return Err(Error::from(kind).at_argument(2));
    }
    let list = |k: usize| lists.get(k).cloned().flatten();
    let left = of_operand(indexed(left, &list(0)), 0)?;
    let right = of_operand(indexed(right, &list(1)), 1)?;
    binary(op, left, right).map_err(|kind| {
        // Iterators decide what fits, but for element types.
        let argument = match kind {
            ErrorKind::Shape(Mismatch::Elems { .. }) => Some(1),
            ErrorKind::Shape(_) => (!lists.is_empty()).then_some(2),
            _ => None,
        };
        let error = Error::from(kind);
        argument.into_iter().fold(error, Error::at_argument)
    })
}
