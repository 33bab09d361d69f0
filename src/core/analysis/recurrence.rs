//! Statements that compute an element from the one before it.

use crate::ir::{BinaryOp, Expr, Index, Node, Stmt};

/// A statement such as `R[i] = R[i - 1] + e`, which updates an element and stores the result in
/// another one.
pub struct Recurrence<'s> {
    pub op: BinaryOp,
    /// The index of the element that it updates, in the tensor that it writes.
    pub before: &'s Index,
    /// The number of the access to the element that it updates.
    pub access: usize,
    /// The operand of the update, and the number of its first access.
    pub operand: &'s Expr,
    pub first: usize,
}

/// The recurrence of a statement, if it reads one element of the tensor that it writes, as an
/// operand of its last operation.
pub fn recurrence(stmt: &Stmt) -> Option<Recurrence<'_>> {
    let Node::Binary {
        op: op @ (BinaryOp::Add | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max),
        left,
        right,
        ..
    } = stmt.value.node()
    else {
        return None;
    };
    let reads = |expr: &Expr| {
        let (mut own, mut all) = (0, 0);
        expr.for_each_access(&mut |tensor, _| {
            own += usize::from(tensor.name() == stmt.target.name());
            all += 1;
        });
        (own, all)
    };
    if stmt.update.is_some() {
        return None;
    }
    let (own, access, operand, first) = match (reads(left), reads(right)) {
        ((1, _), (0, _)) => (left, 1, right, 2),
        ((0, others), (1, _)) => (right, others + 1, left, 1),
        _ => return None,
    };
    let Node::Access { index, .. } = own.node() else {
        return None;
    };
    Some(Recurrence {
        op: *op,
        before: index,
        access,
        operand,
        first,
    })
}
