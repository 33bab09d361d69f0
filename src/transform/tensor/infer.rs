//! Expressions with their shapes inferred, in one place for all operations.

use super::operand::describe;
use crate::analysis::shape::{self, Mismatch};
use crate::ir::{BinaryOp, Expr, Name, Node, Shape};
use crate::transform::ErrorKind;

/// `left op right`; operands have iterators.
pub(super) fn binary(op: BinaryOp, left: Expr, right: Expr) -> Result<Expr, ErrorKind> {
    if left.elem() != right.elem() {
        return Err(ErrorKind::Shape(Mismatch::Elems {
            left: describe(&left),
            left_elem: left.elem(),
            right: describe(&right),
            right_elem: right.elem(),
        }));
    }
    let of_shape = |shape: Shape| {
        let (left, right) = (left.clone(), right.clone());
        Expr::new(Node::Binary {
            op,
            shape,
            left,
            right,
        })
    };
    let shapeless = in_limits(of_shape(Shape::of_extents([])))?;
    Ok(of_shape(shape::virtual_shape(&shapeless)?))
}

/// The sum of `body` over the iterators `over`, which are free in it.
pub(super) fn sum(over: Vec<Name>, body: Expr) -> Result<Expr, ErrorKind> {
    let ranges = shape::ranges(&body)?;
    let free = ranges.iter().filter(|r| !over.contains(&r.name));
    let shape = Shape::of_extents(free.map(shape::IteratorRange::extent));
    in_limits(Expr::new(Node::Sum { over, shape, body }))
}

/// The virtual tensor with the element `body` at `formals`.
pub(super) fn abstraction(formals: Vec<Name>, body: Expr) -> Result<Expr, ErrorKind> {
    let ranges = shape::ranges(&body)?;
    let extent = |formal: &Name| {
        let range = ranges.iter().find(|r| r.name == *formal);
        range.map_or(1, shape::IteratorRange::extent)
    };
    let shape = Shape::of_extents(formals.iter().map(extent));
    in_limits(Expr::new(Node::Virtual {
        formals,
        shape,
        body,
    }))
}

fn in_limits(expr: Expr) -> Result<Expr, ErrorKind> {
    match expr.is_in_limits() {
        true => Ok(expr),
        false => Err(ErrorKind::TooComplex),
    }
}

/// An expression that was read from text, with the shapes of its operations inferred.
///
/// # Errors
/// Extents or element types that disagree, as the operations would say.
pub fn with_shapes(expr: &Expr) -> Result<Expr, ErrorKind> {
    match expr.node() {
        Node::Access { .. } => Ok(expr.clone()),
        Node::Binary {
            op, left, right, ..
        } => binary(*op, with_shapes(left)?, with_shapes(right)?),
        Node::Sum { over, body, .. } => sum(over.clone(), with_shapes(body)?),
        Node::Virtual { formals, body, .. } => abstraction(formals.clone(), with_shapes(body)?),
        Node::Assign { target, value } => {
            let (target, value) = (target.clone(), with_shapes(value)?);
            let assignment = Expr::new(Node::Assign { target, value });
            shape::ranges(&assignment)?;
            Ok(assignment)
        }
    }
}
