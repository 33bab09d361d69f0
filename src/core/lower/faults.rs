//! Finds all errors of a parsed text, with their positions.

use super::no_program::{Fault, Faults, NoProgram};
use crate::analysis::outside;
use crate::analysis::position;
use crate::analysis::shape::Mismatch;
use crate::analysis::verify::Invalid;
use crate::ir::{
    Affine, BinaryOp, Elem, Expr, Function, Infix, Loop, Node, ParseError, Stmt, Tensor, Tree,
};
use std::ops::Range;
use std::sync::Arc;

/// The lines of a text.
pub(super) struct Text<'a> {
    text: &'a str,
    /// The bytes of each line, without surrounding spaces.
    lines: Vec<Range<usize>>,
}

impl<'a> Text<'a> {
    pub(super) fn of(text: &'a str) -> Text<'a> {
        let (mut lines, mut at) = (Vec::new(), 0);
        for line in text.split_inclusive('\n') {
            let start = at + line.len() - line.trim_start().len();
            lines.push(start..start + line.trim().len());
            at += line.len();
        }
        Text { text, lines }
    }

    /// The bytes of a line, numbered from 1.
    fn line(&self, number: usize) -> Range<usize> {
        self.lines
            .get(number.wrapping_sub(1))
            .cloned()
            .unwrap_or(0..0)
    }

    /// The errors of lines that cannot be parsed.
    pub(super) fn unreadable(&self, errors: Vec<ParseError>) -> Faults {
        let faults = errors.into_iter().map(|error| {
            let line = self.line(error.line);
            let (start, end) = (error.columns.start, error.columns.end);
            Fault {
                span: (line.start + start).min(line.end)..(line.start + end).min(line.end),
                why: NoProgram::Unreadable {
                    line: error.line,
                    text: self.text.get(line).unwrap_or_default().to_owned(),
                    what: error.what,
                    help: error.help,
                },
            }
        });
        Faults(faults.collect())
    }

    /// The errors of trees, by their numbers. `lines` has the line of each tree.
    pub(super) fn faults(&self, found: Vec<(usize, NoProgram)>, lines: &[usize]) -> Faults {
        let faults = found.into_iter().map(|(tree, why)| Fault {
            span: self.line(lines.get(tree).copied().unwrap_or(0)),
            why,
        });
        Faults(faults.collect())
    }

    /// An error of the whole text.
    pub(super) fn fault(&self, why: NoProgram) -> Faults {
        let mut lines = self.lines.iter().filter(|line| !line.is_empty());
        let span = lines.next().cloned().unwrap_or(0..0);
        Faults(vec![Fault { span, why }])
    }
}

/// The errors of trees, with the number of each tree in the order of the text.
pub(super) fn faults(trees: &[Tree]) -> Vec<(usize, NoProgram)> {
    let (mut number, mut found) = (0, Vec::new());
    position::walk(trees, &mut |_, around, tree| {
        found.extend(fault(tree, around).map(|why| (number, why)));
        number += 1;
    });
    found
}

fn fault(tree: &Tree, around: &[&Arc<Loop>]) -> Option<NoProgram> {
    let unknown = |index: &Affine| unknown(index, around);
    match tree {
        Tree::Local(_) => None,
        Tree::Loop(l) => {
            let hidden = around.iter().any(|o| o.name == l.name);
            let hidden = hidden.then(|| NoProgram::Hidden {
                name: l.name.clone(),
            });
            hidden.or_else(|| l.range.bounds().find_map(unknown))
        }
        Tree::Fill(fill) => {
            let unknown = fill.region.iter().find_map(|(low, _)| unknown(low));
            unknown.or_else(|| leaves(tree, around))
        }
        Tree::Stmt(s) => {
            let mut wrong = s.index.iter().find_map(unknown);
            s.value.for_each_index(&mut |index| {
                if wrong.is_none() {
                    wrong = unknown(index);
                }
            });
            typed(s).err().or(wrong).or_else(|| leaves(tree, around))
        }
    }
}

/// The error for an index with an iterator that no loop around it has.
fn unknown(index: &Affine, around: &[&Arc<Loop>]) -> Option<NoProgram> {
    let mut names = index.terms().iter().map(|(name, _)| name);
    let name = names.find(|name| !around.iter().any(|l| l.name == **name))?;
    let what = format!("`{index}` uses `{name}` outside of its loop");
    Some(NoProgram::Invalid(Invalid::Malformed(what)))
}

/// The error for an access that leaves its tensor, if all bounds are well-formed.
fn leaves(tree: &Tree, around: &[&Arc<Loop>]) -> Option<NoProgram> {
    let known = around.iter().enumerate().all(|(k, l)| {
        let mut bounds = l.range.bounds();
        bounds.all(|bound| unknown(bound, &around[..k]).is_none())
    });
    let around: Vec<&Loop> = around.iter().map(|l| &***l).collect();
    let outside = || outside::outside(tree, &around).map(NoProgram::Outside);
    known.then(outside).flatten()
}

/// Checks that operands agree in element type, and that their operation supports it.
fn typed(s: &Stmt) -> Result<(), NoProgram> {
    let elem = of_value(&s.value, s)?;
    let target = Expr::element(&s.target, s.index.clone());
    agree(&target, &s.value, s, elem)?;
    s.update.map_or(Ok(()), |op| takes_binary(op, elem, s))
}

fn of_value(e: &Expr, s: &Stmt) -> Result<Elem, NoProgram> {
    match e.node() {
        Node::Binary {
            op, left, right, ..
        } => {
            of_value(left, s)?;
            let elem = of_value(right, s)?;
            agree(left, right, s, elem)?;
            takes_binary(*op, elem, s)?;
            Ok(elem)
        }
        Node::Apply { function, args, .. } => {
            let elems = args.iter().map(|arg| of_value(arg, s));
            let elems = elems.collect::<Result<Vec<Elem>, NoProgram>>()?;
            if let (Function::Select(_), [left, right, one, other]) = (function, &args[..]) {
                agree(left, right, s, elems[1])?;
                agree(one, other, s, elems[3])?;
            }
            if let Some(elem) = elems.first().filter(|elem| !function.takes(**elem)) {
                return Err(NoProgram::NeedsFloat {
                    text: s.to_string(),
                    function: function.name(),
                    elem: *elem,
                });
            }
            Ok(e.elem())
        }
        Node::Reduce { reduction, .. } => Err(NoProgram::Reduction {
            text: s.to_string(),
            reduction: *reduction,
        }),
        _ => Ok(e.elem()),
    }
}

fn takes_binary(op: BinaryOp, elem: Elem, s: &Stmt) -> Result<(), NoProgram> {
    let (text, function) = (s.to_string(), op.symbol());
    match (op.takes(elem), elem.is_float()) {
        (true, _) => Ok(()),
        (false, false) => Err(NoProgram::NeedsFloat {
            text,
            function,
            elem,
        }),
        (false, true) => Err(NoProgram::NeedsInteger {
            text,
            function,
            elem,
        }),
    }
}

/// Checks that two operands have one element type. `right_elem` is the type of the second.
fn agree(left: &Expr, right: &Expr, s: &Stmt, right_elem: Elem) -> Result<(), NoProgram> {
    let left_elem = left.elem();
    if left_elem == right_elem {
        return Ok(());
    }
    let shown = |e: &Expr| match e.tensor().map(Tensor::label) {
        Some(label) => label.to_owned(),
        None => format!("`{}`", Infix(e)),
    };
    Err(NoProgram::Elems {
        text: s.to_string(),
        why: Mismatch::Elems {
            left: shown(left),
            left_elem,
            right: shown(right),
            right_elem,
        },
    })
}
