//! Finds all errors of a parsed text, with their positions.

use super::no_program::{Fault, Faults, NoProgram};
use crate::analysis::outside;
use crate::analysis::position;
use crate::analysis::shape::Mismatch;
use crate::analysis::verify::Invalid;
use crate::ir::{
    BinaryOp, Elem, Expr, Function, Infix, Loop, Nest, Node, ParseError, Stmt, Tensor, Tree,
    parse_affine,
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
    pub(super) fn unreadable(&self, errors: Vec<ParseError>) -> Vec<Fault> {
        let faults = errors.into_iter().map(|error| {
            let line = self.line(error.line);
            let (start, end) = (error.columns.start, error.columns.end);
            let why = NoProgram::Unreadable {
                what: error.what,
                label: error.label,
                help: error.help,
            };
            let span = (line.start + start).min(line.end)..(line.start + end).min(line.end);
            self.at(span, why)
        });
        faults.collect()
    }

    /// The errors of trees, by their numbers. `lines` has the line of each tree.
    pub(super) fn faults(&self, found: Vec<(usize, NoProgram)>, lines: &[usize]) -> Vec<Fault> {
        let faults = found.into_iter().map(|(tree, why)| {
            let line = self.line(lines.get(tree).copied().unwrap_or(0));
            let text = self.text.get(line.clone()).unwrap_or_default();
            let span = match blamed(text, &why) {
                Some(part) => line.start + part.start..line.start + part.end,
                None => line,
            };
            self.at(span, why)
        });
        faults.collect()
    }

    /// An error of the whole text.
    pub(super) fn fault(&self, why: NoProgram) -> Faults {
        let mut lines = self.lines.iter().filter(|line| !line.is_empty());
        let span = lines.next().cloned().unwrap_or(0..0);
        Faults(vec![self.at(span, why)])
    }

    /// The error of a nest that violates an invariant. `lines` has the line of each tree.
    pub(super) fn invalid(&self, invalid: Invalid, nest: &Nest, lines: &[usize]) -> Faults {
        let culprits = invalid.culprits();
        let (mut number, mut found) = (0, None);
        position::walk(nest.trees(), &mut |_, _, tree| {
            if matches!(tree, Tree::Loop(l) if culprits.last() == Some(&l.name)) {
                found = found.or(Some(number));
            }
            number += 1;
        });
        let why = NoProgram::Invalid(invalid);
        match found {
            Some(tree) => Faults(self.faults(vec![(tree, why)], lines)),
            None => self.fault(why),
        }
    }

    fn at(&self, span: Range<usize>, why: NoProgram) -> Fault {
        let before = self.text.get(..span.start).unwrap_or_default();
        let own = before.rsplit('\n').next().unwrap_or_default();
        Fault {
            line: before.matches('\n').count() + 1,
            column: own.chars().count() + 1,
            span,
            why,
        }
    }
}

/// The part of a line that an error is about, if it is not the whole line.
fn blamed(line: &str, why: &NoProgram) -> Option<Range<usize>> {
    let line = line.split("//").next().unwrap_or_default();
    match why {
        NoProgram::Hidden { name } => words(line, name.as_str()).next(),
        NoProgram::Outside(Mismatch::Leaves { index, place, .. })
        | NoProgram::Outside(Mismatch::Unclear { index, place }) => {
            let accesses = words(line, &place.tensor);
            let brackets = accesses.filter_map(|access| bracket(line, access.end, place.dimension));
            let mut brackets = brackets.filter(|inside| line.get(inside.clone()).is_some());
            brackets.find(|inside| parse_affine(&line[inside.clone()]).as_ref() == Ok(index))
        }
        NoProgram::Elems {
            why: Mismatch::Elems { right, .. },
        } => words(line, right.trim_matches('`')).last(),
        NoProgram::NeedsFloat { function, .. } | NoProgram::NeedsInteger { function, .. } => {
            words(line, function).next()
        }
        NoProgram::Reduction { reduction } => words(line, reduction.name()).next(),
        _ => None,
    }
}

/// Where `word` is in a line, other than in a longer word.
fn words<'l>(line: &'l str, word: &'l str) -> impl Iterator<Item = Range<usize>> + 'l {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let joins =
        move |a: Option<char>, b: Option<char>| a.is_some_and(is_part) && b.is_some_and(is_part);
    let found = line.match_indices(word).map(|(at, _)| at..at + word.len());
    found.filter(move |at| {
        let (before, after) = (&line[..at.start], &line[at.end..]);
        let first = joins(before.chars().next_back(), word.chars().next());
        !first && !joins(word.chars().next_back(), after.chars().next())
    })
}

/// The inside of bracket number `dimension`, counted from 1, of the brackets from byte `at` on.
fn bracket(line: &str, mut at: usize, dimension: usize) -> Option<Range<usize>> {
    let mut inside = None;
    for _ in 0..dimension {
        let rest = line.get(at..)?;
        let open = at + rest.len() - rest.trim_start().len();
        let own = line.get(open..)?.strip_prefix('[')?;
        let close = open + 1 + own.find(']')?;
        inside = Some(open + 1..close);
        at = close + 1;
    }
    inside
}

/// The errors of trees, with the number of each tree in the order of the text. `whole` says that
/// all loops around the trees are among them.
pub(super) fn faults(trees: &[Tree], whole: bool) -> Vec<(usize, NoProgram)> {
    let (mut number, mut found) = (0, Vec::new());
    position::walk(trees, &mut |_, around, tree| {
        let leaves = || whole.then(|| leaves(tree, around)).flatten();
        let fault = fault(tree, around).or_else(leaves);
        found.extend(fault.map(|why| (number, why)));
        number += 1;
    });
    found
}

fn fault(tree: &Tree, around: &[&Arc<Loop>]) -> Option<NoProgram> {
    match tree {
        Tree::Local(_) | Tree::Fill(_) => None,
        Tree::Loop(l) => {
            let hidden = around.iter().any(|o| o.name == l.name);
            hidden.then(|| NoProgram::Hidden {
                name: l.name.clone(),
            })
        }
        Tree::Stmt(s) => typed(s).err(),
    }
}

/// The error for an access that leaves its tensor.
fn leaves(tree: &Tree, around: &[&Arc<Loop>]) -> Option<NoProgram> {
    let around: Vec<&Loop> = around.iter().map(|l| &***l).collect();
    outside::outside(tree, &around).map(|found| NoProgram::Outside(found.why))
}

/// Checks that operands agree in element type, and that their operation supports it.
fn typed(s: &Stmt) -> Result<(), NoProgram> {
    let elem = of_value(&s.value)?;
    let target = Expr::element(&s.target, s.index.clone());
    agree(&target, &s.value, elem)?;
    s.update.map_or(Ok(()), |op| takes_binary(op, elem))
}

fn of_value(e: &Expr) -> Result<Elem, NoProgram> {
    match e.node() {
        Node::Binary {
            op, left, right, ..
        } => {
            of_value(left)?;
            let elem = of_value(right)?;
            agree(left, right, elem)?;
            takes_binary(*op, elem)?;
            Ok(elem)
        }
        Node::Apply { function, args, .. } => {
            let elems = args.iter().map(of_value);
            let elems = elems.collect::<Result<Vec<Elem>, NoProgram>>()?;
            if let (Function::Select(_), [left, right, one, other]) = (function, &args[..]) {
                agree(left, right, elems[1])?;
                agree(one, other, elems[3])?;
            }
            if let Some(elem) = elems.first().filter(|elem| !function.takes(**elem)) {
                return Err(NoProgram::NeedsFloat {
                    function: function.name(),
                    elem: *elem,
                });
            }
            Ok(e.elem())
        }
        Node::Reduce { reduction, .. } => Err(NoProgram::Reduction {
            reduction: *reduction,
        }),
        _ => Ok(e.elem()),
    }
}

fn takes_binary(op: BinaryOp, elem: Elem) -> Result<(), NoProgram> {
    let function = op.symbol();
    match (op.takes(elem), elem.is_float()) {
        (true, _) => Ok(()),
        (false, false) => Err(NoProgram::NeedsFloat { function, elem }),
        (false, true) => Err(NoProgram::NeedsInteger { function, elem }),
    }
}

/// Checks that two operands have one element type. `right_elem` is the type of the second.
fn agree(left: &Expr, right: &Expr, right_elem: Elem) -> Result<(), NoProgram> {
    let left_elem = left.elem();
    if left_elem == right_elem {
        return Ok(());
    }
    let shown = |e: &Expr| match e.tensor().map(Tensor::label) {
        Some(label) => label.to_owned(),
        None => format!("`{}`", Infix(e)),
    };
    Err(NoProgram::Elems {
        why: Mismatch::Elems {
            left: shown(left),
            left_elem,
            right: shown(right),
            right_elem,
        },
    })
}
