//! Rewrites statements that combine their element with another value into updates.

use crate::ir::{BinaryOp, Expr, Index, Node, Shape, Stmt};

/// `v = e + v` as `v += e`, and likewise for other operations. Other statements stay as they are.
/// The value has the same bits: only exact operations are regrouped, as in `n = n + a - b` of
/// integers.
pub(super) fn as_update(s: &Stmt) -> Stmt {
    let split = match s.update {
        None => split(&s.value, s),
        Some(_) => None,
    };
    match split {
        None => s.clone(),
        Some((op, rest)) => Stmt {
            update: Some(op),
            value: rest,
            ..s.clone()
        },
    }
}

/// The update operation, and the value that it combines with the old element.
fn split(value: &Expr, s: &Stmt) -> Option<(BinaryOp, Expr)> {
    use BinaryOp::{Add, Div, Max, Min, Mul, Sub};
    let Node::Binary {
        op, left, right, ..
    } = value.node()
    else {
        return None;
    };
    if !matches!(op, Add | Sub | Mul | Div | Min | Max) {
        return None;
    }
    if is_target(left, s) {
        return Some((*op, right.clone()));
    }
    if op.commutes() && is_target(right, s) {
        return Some((*op, left.clone()));
    }
    let is_exact = !s.target.elem().is_float() || matches!(op, Min | Max);
    if !is_exact {
        return None;
    }
    let joined = |op, left: &Expr, right: &Expr| {
        Expr::new(Node::Binary {
            op,
            shape: Shape::of_extents([]),
            left: left.clone(),
            right: right.clone(),
        })
    };
    if let Some((inner, rest)) = split(left, s) {
        // `(v - a) + b` is `v - (a - b)`.
        let outer = match (inner, op) {
            (Add, Add | Sub) => *op,
            (Sub, Add) => Sub,
            (Sub, Sub) => Add,
            (Mul, Mul) | (Min, Min) | (Max, Max) => *op,
            _ => return None,
        };
        return Some((inner, joined(outer, &rest, right)));
    }
    match split(right, s) {
        Some((inner, rest)) if inner == *op && op.commutes() => {
            Some((inner, joined(*op, left, &rest)))
        }
        _ => None,
    }
}

/// Whether an expression is the assigned element of a statement.
fn is_target(e: &Expr, s: &Stmt) -> bool {
    match e.node() {
        Node::Access {
            tensor,
            index: Index::At(index),
        } => *tensor == s.target && *index == s.index,
        Node::Access {
            tensor,
            index: Index::Forbidden,
        } => *tensor == s.target,
        _ => false,
    }
}
