//! Drops iterators that a minimum, a maximum or a product does not depend on: eq. 5 of TeIL, for the
//! other reductions (§3.3).
//!
//! A minimum or maximum of equal numbers is that number, and a product of n equal numbers is a
//! power. Reductions of no numbers stay, since their value does not depend on the operand.

use super::trees::constant_ranges;
use crate::analysis::shape::{self, IteratorRange};
use crate::ir::{BinaryOp, Constant, Expr, Name, Node, Reduction};
use crate::tensor::with_shapes;

/// The assignment without idle iterators, also inside of other reductions.
pub(super) fn without_idle(assignment: &Expr) -> Expr {
    let Ok(ranges) = shape::all_ranges(assignment) else {
        return assignment.clone();
    };
    let short = shortened(assignment, &ranges);
    with_shapes(&short).unwrap_or_else(|_| assignment.clone())
}

fn shortened(expr: &Expr, ranges: &[IteratorRange]) -> Expr {
    expr.replace(&|part| Some(shortened(&reduced(part, ranges)?, ranges)))
}

/// A reduction without its idle iterators; `None` if it has none.
fn reduced(expr: &Expr, ranges: &[IteratorRange]) -> Option<Expr> {
    let Node::Reduce {
        reduction: reduction @ (Reduction::Min | Reduction::Max | Reduction::Prod),
        over,
        within,
        shape,
        body,
    } = expr.node()
    else {
        return None;
    };
    let extents = constant_ranges(ranges, over, within)?;
    let extents = extents.into_iter().map(|(low, high)| high - low);
    if extents.clone().any(|extent| extent <= 0) {
        return None;
    }
    let used = body.iterators();
    let is_used = |name: &Name| used.contains(name);
    let stay: Vec<Name> = over.iter().filter(|n| is_used(n)).cloned().collect();
    if stay.len() == over.len() {
        return None;
    }
    let idle = over.iter().zip(extents).filter(|(name, _)| !is_used(name));
    let count: f64 = idle.map(|(_, extent)| extent as f64).product();
    let rest = if stay.is_empty() {
        body.clone()
    } else {
        Expr::new(Node::Reduce {
            reduction: *reduction,
            within: within.of(&stay),
            over: stay,
            shape: shape.clone(),
            body: body.clone(),
        })
    };
    if *reduction != Reduction::Prod || count == 1.0 {
        return Some(rest);
    }
    // Integers have no power.
    if !BinaryOp::Pow.takes(expr.elem()) {
        return None;
    }
    let exponent = Constant::of_float(expr.elem(), count)?;
    Some(Expr::new(Node::Binary {
        op: BinaryOp::Pow,
        shape: shape.clone(),
        left: rest,
        right: Expr::new(Node::Constant(exponent)),
    }))
}
