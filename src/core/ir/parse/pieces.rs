//! Reads assignments in pieces.

use super::cursor::Cursor;
use super::line::{Line, ParseError};
use crate::ir::domain::Domain;
use crate::ir::expr::{Expr, Index, Node};
use crate::ir::range::Range;
use crate::ir::tensor::Tensor;

/// Marks the assignment to all elements that no piece assigns.
const OTHERWISE: &str = " otherwise";

/// Reads assignments, one per line, as the pieces of one assignment.
pub(super) fn pieces<'a>(lines: &[Line<'a>], tensors: &'a [Tensor]) -> Result<Expr, ParseError> {
    let mut pieces = Vec::with_capacity(lines.len());
    let mut otherwise = None;
    for line in lines {
        let rest = line.text.strip_suffix(OTHERWISE);
        let own = Line {
            text: rest.unwrap_or(line.text),
            ..*line
        };
        let assignment = own.read(tensors, Cursor::root)?;
        if line.indent > 0 || otherwise.is_some() || !assignment.is_assignment() {
            return Err(line.wrong("expected the assignments of pieces".to_owned()));
        }
        match rest {
            None => pieces.push(assignment),
            Some(_) => otherwise = Some(everywhere(&assignment).map_err(|what| line.wrong(what))?),
        }
    }
    if pieces.is_empty() {
        Err(ParseError {
            line: 1,
            columns: 0..0,
            what: "expected the assignments of pieces".to_owned(),
            label: String::new(),
            help: None,
        })
    } else {
        Ok(Expr::new(Node::Pieces { pieces, otherwise }))
    }
}

/// Reads an assignment to all elements of its target, with one iterator per dimension.
fn everywhere(assignment: &Expr) -> Result<Expr, String> {
    let wrong = || "expected one iterator per dimension".to_owned();
    let Node::Assign { target, value, .. } = assignment.node() else {
        return Err(wrong());
    };
    let mut ranges = Vec::new();
    if let Node::Access {
        tensor,
        index: Index::At(index),
    } = target.node()
    {
        for (a, extent) in index.iter().zip(tensor.shape().extents()) {
            let end = i64::try_from(*extent).unwrap_or(i64::MAX);
            let name = a.as_iterator().ok_or_else(wrong)?;
            ranges.push((name.clone(), Range::constant(0, end)));
        }
    }
    Ok(Expr::new(Node::Assign {
        target: target.clone(),
        value: value.clone(),
        within: Domain::new(ranges),
        elsewhere: None,
    }))
}
