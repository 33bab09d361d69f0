//! Writes terms as text.

use super::term::{Dimension, Kind, Term};

/// A term in the model language, with all parentheses that its meaning needs.
pub(super) fn model(term: &Term) -> String {
    let operand = |term: &Term| match term.kind {
        Kind::Variable(_) | Kind::Number(_) => model(term),
        _ => format!("({})", model(term)),
    };
    let pair = |[m, n]: &[Dimension; 2]| format!("[{} {}]", m.0, n.0);
    match &term.kind {
        Kind::Variable(name) => name.clone(),
        Kind::Number(value) => value.to_string(),
        Kind::Elementwise(op, left, right) => {
            format!("{} {} {}", operand(left), op.symbol(), operand(right))
        }
        Kind::Product(left, right) => format!("{} # {}", operand(left), operand(right)),
        Kind::Contract(pairs, of) => match pairs.as_slice() {
            [only] => format!("{}.{}", operand(of), pair(only)),
            several => {
                let texts: Vec<String> = several.iter().map(pair).collect();
                format!("{}.[{}]", operand(of), texts.join(" "))
            }
        },
        Kind::Transpose(dimensions, of) => format!("{}^{}", operand(of), pair(dimensions)),
        Kind::Reduce(..)
        | Kind::Diagonal(..)
        | Kind::Expand(..)
        | Kind::Project(..)
        | Kind::Shift(..) => teil(term),
    }
}

/// A term in TeIL.
pub(super) fn teil(term: &Term) -> String {
    let operand = |term: &Term| match term.kind {
        Kind::Variable(_) | Kind::Number(_) => teil(term),
        _ => format!("({})", teil(term)),
    };
    match &term.kind {
        Kind::Variable(name) => name.clone(),
        Kind::Number(value) => value.to_string(),
        Kind::Elementwise(op, left, right) => {
            let word = match op {
                crate::ir::BinaryOp::Add => "add",
                crate::ir::BinaryOp::Sub => "sub",
                crate::ir::BinaryOp::Div => "div",
                _ => "mul",
            };
            format!("{word} {} {}", operand(left), operand(right))
        }
        Kind::Product(left, right) => format!("prod {} {}", operand(left), operand(right)),
        Kind::Reduce(reduction, i, of) => {
            let word = match reduction {
                crate::ir::Reduction::Sum => "red+",
                crate::ir::Reduction::Prod => "red*",
                crate::ir::Reduction::Min => "redmin",
                crate::ir::Reduction::Max => "redmax",
            };
            format!("{word} {} {}", i.0, operand(of))
        }
        Kind::Transpose([m, n], of) => format!("transp {} {} {}", m.0, n.0, operand(of)),
        Kind::Diagonal([m, n], of) => format!("diag {} {} {}", m.0, n.0, operand(of)),
        Kind::Expand(i, n, of) => format!("expa {} {} {}", i.0, n.0, operand(of)),
        Kind::Project(i, m, of) => format!("proj {} {} {}", i.0, m.0, operand(of)),
        Kind::Shift(i, n, of) => format!("shift {} {} {}", i.0, n.0, operand(of)),
        Kind::Contract(pairs, of) => {
            let mut text = operand(of);
            let mut gone: Vec<u64> = Vec::new();
            for pair in pairs {
                // Dimensions are counted without the dimensions that earlier contractions remove.
                let left = |d: &Dimension| {
                    let before = gone.iter().filter(|g| **g < d.0).count();
                    d.0 - u64::try_from(before).unwrap_or(0)
                };
                let (m, n) = (left(&pair[0]), left(&pair[1]));
                if !gone.is_empty() {
                    text = format!("({text})");
                }
                text = format!("contr {} {} {text}", m.min(n), m.max(n));
                gone.extend(pair.iter().map(|d| d.0));
            }
            text
        }
    }
}

/// An operation of a term that the model language lacks.
pub(super) fn lacks(term: &Term) -> Option<String> {
    let own = match &term.kind {
        Kind::Reduce(..) => Some("reduction along one dimension, only contractions"),
        Kind::Diagonal(..) => Some("diagonal, only contractions"),
        Kind::Expand(..) => Some("expansion of a tensor along a new dimension"),
        Kind::Project(..) => Some("projection to an index"),
        Kind::Shift(..) => Some("shift along a dimension"),
        _ => None,
    };
    let own = own.map(str::to_owned);
    own.or_else(|| term.operands().into_iter().find_map(lacks))
}
