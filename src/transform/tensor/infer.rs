//! Infers the shapes of expressions, in one place for all operations.

use super::operand::describe;
use super::split::{Definition, split};
use super::unfit::Unfit;
use crate::analysis::shape::{self, Mismatch};
use crate::ir::{Affine, BinaryOp, Domain, Elem, Expr, Function, Name, Node, Reduction, Shape};
use crate::refusals::too_complex;
use crate::{Error, bug, mistake};

/// `left op right`; operands have iterators.
pub(super) fn binary(op: BinaryOp, left: Expr, right: Expr) -> Result<Expr, Unfit> {
    let elem = common_elem(&[&left, &right])?;
    if !op.takes(elem) {
        let function = op.name();
        return Err(match op {
            BinaryOp::Mod => {
                let error = mistake(format!(
                    "`{function}` takes integers, and these elements are of type {elem}"
                ));
                Unfit::Other(error.help("convert the elements first: `vcast(x, \"i64\")`"))
            }
            BinaryOp::Pow => {
                let error = mistake(format!(
                    "`{function}` takes floating-point numbers, and these elements are of type {elem}"
                ));
                Unfit::Elem(
                    error.help(
                        "`square(x)` is the square of integers, and `x * x * x` another power",
                    ),
                )
            }
            _ => needs_float(function, elem),
        });
    }
    with_shape(&|shape| {
        let (left, right) = (left.clone(), right.clone());
        Node::Binary {
            op,
            shape,
            left,
            right,
        }
    })
}

/// `function(args)`; arguments have iterators, and their number fits the function.
pub(super) fn apply(function: Function, args: &[Expr]) -> Result<Expr, Unfit> {
    let (compared, values) = match (function, args) {
        (Function::Select(_), [left, right, yes, no]) => (vec![left, right], vec![yes, no]),
        _ => (Vec::new(), args.iter().collect()),
    };
    let elem = common_elem(&values)?;
    if !compared.is_empty() {
        common_elem(&compared)?;
    }
    if !function.takes(elem) {
        return Err(needs_float(function.name(), elem));
    }
    with_shape(&|shape| Node::Apply {
        function,
        shape,
        args: args.to_vec(),
    })
}

/// The error for a function that integers do not have.
fn needs_float(function: &str, elem: Elem) -> Unfit {
    let text =
        format!("`{function}` takes floating-point numbers, and these elements are of type {elem}");
    Unfit::Elem(mistake(text).help("declare the tensor with `\"f64\"` or `\"f32\"`"))
}

fn common_elem(operands: &[&Expr]) -> Result<Elem, Unfit> {
    let Some((first, rest)) = operands.split_first() else {
        return Err(Unfit::Other(bug("a function has no operands")));
    };
    match rest.iter().find(|e| e.elem() != first.elem()) {
        None => Ok(first.elem()),
        Some(other) => Err(Unfit::Shape(Mismatch::Elems {
            left: describe(first),
            left_elem: first.elem(),
            right: describe(other),
            right_elem: other.elem(),
        })),
    }
}

/// The node with the extents of its iterators.
fn with_shape(node: &dyn Fn(Shape) -> Node) -> Result<Expr, Unfit> {
    let shapeless = in_limits(Expr::new(node(Shape::of_extents([]))))?;
    Ok(Expr::new(node(shape::virtual_shape(&shapeless)?)))
}

/// The reduction of `body` over the iterators `over`, which are free in it.
pub(super) fn reduce(reduction: Reduction, over: Vec<Name>, body: Expr) -> Result<Expr, Unfit> {
    let terms = Definition {
        value: body,
        to: Vec::new(),
        over,
        within: Domain::default(),
    };
    let terms = match terms.over.as_slice() {
        [] => terms,
        _ => split(terms, None).map_err(Unfit::Other)?.0,
    };
    reduce_within(reduction, terms.over, terms.within, terms.value)
}

/// As [`reduce`], with given ranges of some iterators, none of which is read by digits.
pub(super) fn reduce_within(
    reduction: Reduction,
    over: Vec<Name>,
    within: Domain,
    body: Expr,
) -> Result<Expr, Unfit> {
    with_shape(&|shape| Node::Reduce {
        reduction,
        over: over.clone(),
        within: within.clone(),
        shape,
        body: body.clone(),
    })
}

/// The virtual tensor with the element `body` at `formals`.
pub(super) fn abstraction(formals: Vec<Name>, body: Expr) -> Result<Expr, Unfit> {
    let ranges = shape::ranges_so_far(&body)?;
    let extent = |formal: &Name| {
        let range = ranges.iter().find(|r| r.name == *formal);
        range.map_or(Affine::constant(1), shape::IteratorRange::dim)
    };
    let shape = Shape::of_virtual_dims(formals.iter().map(extent).collect());
    in_limits(Expr::new(Node::Virtual {
        formals,
        shape,
        body,
    }))
}

fn in_limits(expr: Expr) -> Result<Expr, Unfit> {
    if expr.is_in_limits() {
        Ok(expr)
    } else {
        Err(Unfit::Other(too_complex()))
    }
}

/// Infers the shape of an expression whose operands have theirs.
///
/// # Errors
/// Extents or element types that disagree, with the messages of the operations.
pub fn with_shape_of_root(expr: &Expr) -> Result<Expr, Error> {
    match expr.node() {
        Node::Access { .. }
        | Node::Constant(_)
        | Node::Index(_)
        | Node::Assign { .. }
        | Node::Pieces { .. } => Ok(expr.clone()),
        Node::Binary {
            op, left, right, ..
        } => Ok(binary(*op, left.clone(), right.clone())?),
        Node::Apply { function, args, .. } => Ok(apply(*function, args)?),
        Node::Reduce {
            reduction,
            over,
            within,
            body,
            ..
        } => Ok(reduce_within(
            *reduction,
            over.clone(),
            within.clone(),
            body.clone(),
        )?),
        Node::Virtual { formals, body, .. } => Ok(abstraction(formals.clone(), body.clone())?),
    }
}

/// Infers the shapes of an expression that was read from text.
///
/// # Errors
/// Extents or element types that disagree, with the messages of the operations.
pub fn with_shapes(expr: &Expr) -> Result<Expr, Error> {
    match expr.node() {
        Node::Access { .. } | Node::Constant(_) | Node::Index(_) => Ok(expr.clone()),
        Node::Binary {
            op, left, right, ..
        } => Ok(binary(*op, with_shapes(left)?, with_shapes(right)?)?),
        Node::Apply { function, args, .. } => {
            let args: Result<Vec<Expr>, Error> = args.iter().map(with_shapes).collect();
            Ok(apply(*function, &args?)?)
        }
        Node::Reduce {
            reduction,
            over,
            within,
            body,
            ..
        } => {
            let body = with_shapes(body)?;
            Ok(reduce_within(
                *reduction,
                over.clone(),
                within.clone(),
                body,
            )?)
        }
        Node::Virtual { formals, body, .. } => {
            Ok(abstraction(formals.clone(), with_shapes(body)?)?)
        }
        Node::Assign { value, .. } => {
            let assignment = expr.with_value(with_shapes(value)?);
            shape::ranges(&assignment)?;
            Ok(assignment)
        }
        Node::Pieces { pieces, otherwise } => {
            let pieces: Result<_, Error> = pieces.iter().map(with_shapes).collect();
            let otherwise = otherwise.as_ref().map(|rest| match rest.node() {
                // Its indices are checked for the elements that no piece assigns.
                Node::Assign { value, .. } => Ok(rest.with_value(with_shapes(value)?)),
                _ => Err(bug("other elements are not assigned")),
            });
            let (pieces, otherwise) = (pieces?, otherwise.transpose()?);
            Ok(Expr::new(Node::Pieces { pieces, otherwise }))
        }
    }
}
