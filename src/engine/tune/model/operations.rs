//! The operations of a statement: how many there are, and how many of them wait for each read.
//!
//! A sum with a product is one fused multiply-add.

use crate::ir::{Affine, BinaryOp, Constant, Expr, Function, Index, Node, Stmt, Tensor};
use std::ops::Add;

/// Numbers of operations.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Operations {
    /// Additions, products and other cheap operations.
    pub simple: f64,
    pub divisions: f64,
    /// Calls of functions.
    pub functions: f64,
}

/// A read of an element.
pub(super) struct Read<'a> {
    pub tensor: &'a Tensor,
    pub index: &'a [Affine],
    /// The operations between it and the write, one after the other.
    pub after: Operations,
}

const NONE: Operations = Operations {
    simple: 0.0,
    divisions: 0.0,
    functions: 0.0,
};
const SIMPLE: Operations = Operations {
    simple: 1.0,
    ..NONE
};
const DIVISION: Operations = Operations {
    divisions: 1.0,
    ..NONE
};
const FUNCTION: Operations = Operations {
    functions: 1.0,
    ..NONE
};

impl Operations {
    /// All operations of a statement.
    pub fn of(stmt: &Stmt) -> Operations {
        update(stmt) + within(&stmt.value)
    }
}

impl Add for Operations {
    type Output = Operations;

    fn add(self, other: Operations) -> Operations {
        Operations {
            simple: self.simple + other.simple,
            divisions: self.divisions + other.divisions,
            functions: self.functions + other.functions,
        }
    }
}

/// The reads of a statement, from left to right.
pub(super) fn reads(stmt: &Stmt) -> Vec<Read<'_>> {
    let mut found = Vec::new();
    add_reads(&stmt.value, update(stmt), &mut found);
    found
}

/// Whether a statement takes a minimum or maximum.
pub(super) fn chooses(stmt: &Stmt) -> bool {
    fn within(expr: &Expr) -> bool {
        let is_choice = matches!(expr.node(), Node::Binary { op, .. } if is_choice(*op));
        is_choice || expr.children().into_iter().any(within)
    }
    stmt.update.is_some_and(is_choice) || within(&stmt.value)
}

fn is_choice(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Max | BinaryOp::Min)
}

fn add_reads<'a>(expr: &'a Expr, after: Operations, found: &mut Vec<Read<'a>>) {
    if let Node::Access { tensor, index } = expr.node() {
        let index: Option<&[Affine]> = match index {
            Index::At(index) => Some(index),
            Index::Forbidden => Some(&[]),
            Index::Unset => None,
        };
        found.extend(index.map(|index| Read {
            tensor,
            index,
            after,
        }));
    }
    for child in expr.children() {
        add_reads(child, after + through(expr, child), found);
    }
}

/// The operation by which a statement updates its target.
fn update(stmt: &Stmt) -> Operations {
    match stmt.update {
        Some(BinaryOp::Add | BinaryOp::Sub) if is_product(&stmt.value) => NONE,
        Some(BinaryOp::Div) => DIVISION,
        Some(_) => SIMPLE,
        None => NONE,
    }
}

fn within(expr: &Expr) -> Operations {
    let children = expr.children().into_iter();
    children.map(within).fold(own(expr), Add::add)
}

/// The outermost operation of an expression.
fn own(expr: &Expr) -> Operations {
    match expr.node() {
        Node::Binary {
            op, left, right, ..
        } => match op {
            // Compilers replace these by products.
            BinaryOp::Div if is_power_of_two(right) => SIMPLE,
            BinaryOp::Div | BinaryOp::Mod => DIVISION,
            BinaryOp::Pow => FUNCTION,
            BinaryOp::Add | BinaryOp::Sub if is_product(left) || is_product(right) => NONE,
            _ => SIMPLE,
        },
        Node::Apply { function, .. } => match function {
            Function::Cast(_) | Function::Select(_) | Function::Abs => SIMPLE,
            Function::Sqrt => DIVISION,
            _ => FUNCTION,
        },
        _ => NONE,
    }
}

/// The outermost operation of an expression, for a value of its operand `child`.
fn through(expr: &Expr, child: &Expr) -> Operations {
    match expr.node() {
        Node::Binary {
            op: BinaryOp::Add | BinaryOp::Sub,
            ..
        } if !is_product(child) => SIMPLE,
        _ => own(expr),
    }
}

fn is_product(expr: &Expr) -> bool {
    matches!(
        expr.node(),
        Node::Binary {
            op: BinaryOp::Mul,
            ..
        }
    )
}

fn is_power_of_two(expr: &Expr) -> bool {
    let is_power =
        |x: f64| x.is_normal() && x.to_bits().trailing_zeros() >= f64::MANTISSA_DIGITS - 1;
    match expr.node() {
        Node::Constant(Constant::F64(x)) => is_power(*x),
        Node::Constant(Constant::F32(x)) => is_power((*x).into()),
        _ => false,
    }
}
