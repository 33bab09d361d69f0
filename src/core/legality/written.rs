//! Statements as nests have them, for messages.

use crate::ir::{Function, Node, Stmt};

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
        && entry
            .tensor()
            .is_some_and(|tensor| tensor.entries().is_some())
    {
        value = inner;
    }
    let value = value.clone();
    Stmt { value, ..s.clone() }
}
