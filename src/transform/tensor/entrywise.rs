//! `A + B`, `A - B`, `A * B`, `A / B` and `-A` compute entry by entry, without storing the result.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = tensor([4, 5]);
//! let s = scalar();
//! print(2 * A + B / s);
//! let C = eq(-A, [i, j] -> [j, i]);
//! print(C);
//! ```
//!
//! ```text
//! f64 A[4][5], B[4][5], s
//! [_1, _2] -> 2 * A[_1][_2] + B[_1][_2] / s
//! f64 C[5][4], A[4][5]
//! C[j][i] = neg(A[i][j])
//! ```
//!
//! Operands of equal rank have equal shapes, and entries at the same position meet: `A * B` is no
//! product of matrices. An operand of rank 0 and a number meet every entry of the other one. The
//! result is virtual and has no iterators yet, but for one of rank 0, which needs none. The
//! dimensions of an expression that has iterators are these, in order of first appearance.
//!
//! Refuses: different shapes or element types; numbers that are no value of the element type.
//!
//! Source: TeML eq. 30 in operator form; numbers and scalars: beyond the paper.

use super::infer::{abstraction, apply, binary};
use super::operand::{Operand, common_elem, constant, describe, positional, rank};
use crate::analysis::shape;
use crate::ir::{Affine, BinaryOp, Expr, Function, Index, Name, Node, Shape};
use crate::transform::{Arg, Error, ErrorKind, Kind, Op, Param, Returns, Value};

macro_rules! operator {
    ($op:expr) => {
        Op {
            name: $op.symbol(),
            params: &[
                Param::new("left", Kind::Operand),
                Param::new("right", Kind::Operand),
            ],
            returns: Returns::Expr,
            file: include_str!("entrywise.rs"),
            call: |args| match args {
                [left, right] => {
                    let (left, right) = (Operand::of(left)?, Operand::of(right)?);
                    entrywise($op, left, right).map(Value::Expr)
                }
                _ => Err(ErrorKind::Misdeclared.into()),
            },
        }
    };
}

/// `left + right`.
pub static PLUS: Op = operator!(BinaryOp::Add);
/// `left - right`.
pub static MINUS: Op = operator!(BinaryOp::Sub);
/// `left * right`.
pub static TIMES: Op = operator!(BinaryOp::Mul);
/// `left / right`.
pub static OVER: Op = operator!(BinaryOp::Div);
/// `-operand`.
pub static OPPOSITE: Op = Op {
    name: "-",
    params: &[Param::new("operand", Kind::Expr)],
    returns: Returns::Expr,
    file: include_str!("entrywise.rs"),
    call: |args| match args {
        [Arg::Expr(operand)] => opposite(operand).map(Value::Expr),
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// `left op right`, entry by entry.
///
/// # Errors
/// Shapes or element types that differ; numbers that are no value of the element type.
pub fn entrywise<'a>(
    op: BinaryOp,
    left: impl Into<Operand<'a>>,
    right: impl Into<Operand<'a>>,
) -> Result<Expr, Error> {
    let combine = |left, right| {
        let elem = common_elem(&[left, right])?;
        let dimensions = dimensions(left).max(dimensions(right));
        let formals = formals(dimensions);
        let at = iterators(&formals);
        let entry = |operand| match operand {
            Operand::Number(number) => constant(number, elem),
            Operand::Expr(expr) if rank(expr) == 0 => positional(expr, &[]),
            Operand::Expr(expr) if rank(expr) == at.len() => positional(expr, &at),
            Operand::Expr(_) => Err(differ(left, right)),
        };
        let entries = (entry(left)?, entry(right)?);
        let result = binary(op, entries.0, entries.1).map_err(|kind| match kind {
            ErrorKind::Shape(shape::Mismatch::Extents { .. }) => differ(left, right),
            kind => kind,
        })?;
        let pairs = |expr: &Expr| rank(expr) == 0 || has_extents(&result, &formals, expr);
        match [left, right].map(exprs).concat().into_iter().all(pairs) {
            true => closed(formals, result),
            false => Err(differ(left, right)),
        }
    };
    Ok(combine(left.into(), right.into())?)
}

/// `-operand`, entry by entry.
///
/// # Errors
/// A tensor without a name.
pub fn opposite(operand: &Expr) -> Result<Expr, Error> {
    let formals = formals(rank(operand));
    let entry = positional(operand, &iterators(&formals))?;
    Ok(closed(formals, apply(Function::Neg, &[entry])?)?)
}

/// Iterators for entries. Those that operands have or stand for are all replaced by them, so that
/// they need not differ.
fn formals(count: usize) -> Vec<Name> {
    (1..=count).map(Name::generated).collect()
}

fn iterators(names: &[Name]) -> Vec<Affine> {
    names.iter().cloned().map(Affine::iterator).collect()
}

fn closed(formals: Vec<Name>, entry: Expr) -> Result<Expr, ErrorKind> {
    match formals.is_empty() {
        true => Ok(entry),
        false => abstraction(formals, entry),
    }
}

fn exprs(operand: Operand<'_>) -> Vec<&Expr> {
    match operand {
        Operand::Expr(expr) => vec![expr],
        Operand::Number(_) => Vec::new(),
    }
}

fn dimensions(operand: Operand<'_>) -> usize {
    exprs(operand).first().map_or(0, |expr| rank(expr))
}

/// Whether the formals of `result` run over as many values as `operand` has entries.
fn has_extents(result: &Expr, formals: &[Name], operand: &Expr) -> bool {
    let ranges = shape::ranges(result).unwrap_or_default();
    let extents = formals.iter().map(|formal| {
        let range = ranges.iter().find(|r| r.name == *formal);
        range.map_or(1, shape::IteratorRange::extent)
    });
    extents.eq(shape_of(operand).extents().iter().copied())
}

/// The extents of the dimensions that [`rank`] counts.
fn shape_of(expr: &Expr) -> Shape {
    let shape = match expr.node() {
        Node::Assign { target, .. } => target.tensor().map(|tensor| tensor.shape().clone()),
        Node::Access {
            index: Index::At(_),
            ..
        } => shape::virtual_shape(expr).ok(),
        _ => expr.shape().cloned(),
    };
    shape.unwrap_or_else(|| Shape::of_extents([]))
}

fn differ(left: Operand<'_>, right: Operand<'_>) -> ErrorKind {
    let shown = |operand| match operand {
        Operand::Expr(expr) => (describe(expr), shape_of(expr)),
        Operand::Number(number) => (number.to_string(), Shape::of_extents([])),
    };
    let ((left, left_shape), (right, right_shape)) = (shown(left), shown(right));
    ErrorKind::ShapesDiffer {
        left,
        left_shape,
        right,
        right_shape,
    }
}
