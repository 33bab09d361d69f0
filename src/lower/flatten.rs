//! Moves the sums of a value outside of everything else, so that one perfect nest computes it.
//!
//! `B[i][j] * sum(k: C[i][k] * D[k][j])` becomes the sum over k of
//! `B[i][j] * (C[i][k] * D[k][j])`. A sum moves out of products and out of the dividend of a
//! floating-point quotient; below anything else it needs a nest of its own.

use crate::ir::{Affine, BinaryOp, Expr, Name, Node, Shape, fresh_name};

/// A value without sums, and the iterators to sum it over.
pub struct Flat {
    /// Outermost first; distinct from each other and from all free iterators.
    pub over: Vec<Name>,
    /// Accesses and element-wise operations only.
    pub body: Expr,
}

/// Flattens `value`; `taken` are names that summed iterators must not use.
///
/// # Errors
/// The operation that a sum cannot be moved out of.
pub fn flatten(value: &Expr, taken: &mut Vec<Name>) -> Result<Flat, BinaryOp> {
    match value.node() {
        Node::Sum { over, body, .. } => {
            let renamed: Vec<(Name, Name)> = over
                .iter()
                .map(|name| {
                    let fresh = match taken.contains(name) {
                        true => fresh_name(|n| taken.contains(n)),
                        false => name.clone(),
                    };
                    taken.push(fresh.clone());
                    (name.clone(), fresh)
                })
                .collect();
            let body = body.substitute(&|name| {
                let (_, fresh) = renamed.iter().find(|(old, _)| old == name)?;
                Some(Affine::iterator(fresh.clone()))
            });
            let mut flat = flatten(&body, taken)?;
            let own = renamed.into_iter().map(|(_, fresh)| fresh);
            flat.over = own.chain(flat.over).collect();
            Ok(flat)
        }
        Node::Binary {
            op, left, right, ..
        } => {
            let left = flatten(left, taken)?;
            let right = flatten(right, taken)?;
            let moves = match op {
                BinaryOp::Mul => true,
                BinaryOp::Div => right.over.is_empty() && left.body.elem().is_float(),
                BinaryOp::Add | BinaryOp::Sub => false,
            };
            let has_sum = !left.over.is_empty() || !right.over.is_empty();
            if has_sum && !moves {
                return Err(*op);
            }
            let over = left.over.into_iter().chain(right.over).collect();
            // Statements have no use for the shape of a virtual expression.
            let shape = Shape::of_extents([]);
            let (op, left, right) = (*op, left.body, right.body);
            let body = Expr::new(Node::Binary {
                op,
                shape,
                left,
                right,
            });
            Ok(Flat { over, body })
        }
        _ => Ok(Flat {
            over: Vec::new(),
            body: value.clone(),
        }),
    }
}
