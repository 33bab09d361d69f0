//! The assignments of one half of a symmetric matrix, and of the other half.
//!
//! ```text
//! C[i][j] = sum(k: A[i][k] * A[j][k])    C[i][j] = sum(k: A[i][k] * A[j][k])    for j <= i
//!                                        C[j][i] = C[i][j]                      for j < i
//! ```
//!
//! A matrix is symmetric if its value stays the same when both iterators are exchanged. The operands
//! of sums and products may come in either order, since both orders give the same number. So numbers
//! are rounded as before. The assignments are another definition, which `compare` compares with the
//! first one.

use super::contraction::NoSplit;
use crate::ir::{Affine, BinaryOp, Domain, Expr, Index, Name, Node, Range, Tensor};
use crate::legality::assigns_all;

/// The assignments of the elements on and below the diagonal, then of those above it.
///
/// # Errors
/// [`NoSplit::Asymmetric`].
pub fn mirrored(assignment: &Expr) -> Result<Vec<Expr>, NoSplit> {
    let Node::Assign {
        target,
        value,
        within,
        ..
    } = assignment.node()
    else {
        return Err(NoSplit::Asymmetric);
    };
    let (tensor, rows, columns) = square(target).ok_or(NoSplit::Asymmetric)?;
    let mut reads_itself = false;
    value.for_each_tensor(&mut |read| reads_itself |= read.name() == tensor.name());
    let exchanged = value.rename_iterators(&|name| match name {
        name if *name == rows => Some(columns.clone()),
        name if *name == columns => Some(rows.clone()),
        _ => None,
    });
    let is_whole = within.is_empty() && assigns_all(assignment);
    if reads_itself || !is_whole || !is_same(value, &exchanged) {
        return Err(NoSplit::Asymmetric);
    }
    let at = |name: &Name| Affine::iterator(name.clone());
    let up_to = |end: Affine| {
        let range = Range::between(Affine::constant(0), end);
        Domain::new([(columns.clone(), range)])
    };
    let half = Expr::new(Node::Assign {
        target: target.clone(),
        value: value.clone(),
        within: up_to(at(&rows).plus_constant(1)),
        elsewhere: None,
    });
    let mirror = Expr::new(Node::Assign {
        target: Expr::access(tensor.clone(), Index::At(vec![at(&columns), at(&rows)])),
        value: target.clone(),
        within: up_to(at(&rows)),
        elsewhere: None,
    });
    Ok(vec![half, mirror])
}

/// A square matrix and the iterators of its rows and columns.
fn square(target: &Expr) -> Option<(&Tensor, Name, Name)> {
    let Node::Access {
        tensor,
        index: Index::At(index),
    } = target.node()
    else {
        return None;
    };
    let [rows, columns] = &index[..] else {
        return None;
    };
    let (rows, columns) = (rows.as_iterator()?, columns.as_iterator()?);
    let is_square = matches!(&tensor.shape().dims()[..], [a, b] if a == b);
    (is_square && rows != columns).then(|| (tensor, rows.clone(), columns.clone()))
}

/// Whether two values are the same, up to the order of the operands of sums and products.
fn is_same(one: &Expr, other: &Expr) -> bool {
    match (one.node(), other.node()) {
        (
            Node::Binary {
                op, left, right, ..
            },
            Node::Binary {
                op: also,
                left: first,
                right: second,
                ..
            },
        ) => {
            let are = |a, b| is_same(left, a) && is_same(right, b);
            let commutes = matches!(op, BinaryOp::Add | BinaryOp::Mul);
            op == also && (are(first, second) || commutes && are(second, first))
        }
        (
            Node::Apply { function, args, .. },
            Node::Apply {
                function: also,
                args: others,
                ..
            },
        ) => {
            let mut both = args.iter().zip(others);
            function == also && args.len() == others.len() && both.all(|(a, b)| is_same(a, b))
        }
        (
            Node::Reduce {
                reduction,
                over,
                within,
                body,
                ..
            },
            Node::Reduce {
                reduction: also,
                over: iterators,
                within: ranges,
                body: other,
                ..
            },
        ) => (reduction, over, within) == (also, iterators, ranges) && is_same(body, other),
        _ => one == other,
    }
}
