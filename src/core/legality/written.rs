//! Statements as nests have them, for messages.

use crate::ir::{BinaryOp, Expr, Function, Node, Stmt};

/// A statement without the conditions of bounds that are read, as nests have it.
pub(super) fn written(s: &Stmt) -> Stmt {
    let mut value = &s.value;
    while let Node::Apply {
        function: Function::Select(_),
        args,
        ..
    } = value.node()
        && let [entry, with, inner, _] = args.as_slice()
        && let Node::Index(_) = with.node()
        && is_entry(entry)
    {
        value = inner;
    }
    let value = value.clone();
    Stmt { value, ..s.clone() }
}

/// Whether an expression is an entry that bounds are read from, of any type, or its remainder.
fn is_entry(expr: &Expr) -> bool {
    let known = |expr: &Expr| expr.tensor().is_some_and(|t| t.entries().is_some());
    match expr.node() {
        Node::Apply {
            function: Function::Cast(_),
            args,
            ..
        } => args.iter().all(known),
        Node::Binary {
            op: BinaryOp::Mod,
            left,
            ..
        } => is_entry(left),
        _ => known(expr),
    }
}
