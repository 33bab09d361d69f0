//! Reads the canonical text of nests and expressions back.

mod cursor;
mod line;
mod pieces;
mod types;
mod unsupported;
mod value;
mod wrong;

use super::affine::Affine;
use super::elem::Elem;
use super::expr::{Expr, MAX_DEPTH};
use super::function::BinaryOp;
use super::nest::{Loop, Nest, Tree};
use super::tensor::Tensor;
use cursor::Cursor;
use line::{Line, whole};
use pieces::pieces;
use std::sync::Arc;

pub use line::ParseError;

/// Parses the text of a nest, as `Display` writes it. The text has no definition, so that of the
/// result is empty.
///
/// # Errors
/// [`ParseError`] names the first line that does not fit.
pub fn parse_nest(text: &str) -> Result<Nest, ParseError> {
    read_nest(text).map(|read| read.nest).map_err(|errors| {
        let first = errors.into_iter().min_by_key(|error| error.line);
        first.unwrap_or_else(|| line(1, "").wrong("the text cannot be read"))
    })
}

/// A nest with the places of its trees in the text.
#[derive(Clone, Debug)]
pub struct Read {
    pub nest: Nest,
    /// The line of each tree, counted from 1, in the order of the text.
    pub lines: Vec<usize>,
}

/// Parses a nest with the places of its trees, or returns all errors.
///
/// # Errors
/// One error per line that does not fit.
pub fn read_nest(text: &str) -> Result<Read, Vec<ParseError>> {
    let (tensors, lines, errors) = split(text);
    let mut reader = Reader {
        tensors: &tensors,
        errors,
    };
    let (trees, mut rest) = reader.block(&lines, 0);
    while let [first, ..] = rest {
        let what = "the indentation fits no loop";
        reader.errors.push(first.wrong(what));
        let own = |line: &&Line| line.indent >= first.indent;
        let count = rest.iter().take_while(own).count();
        for line in &rest[..count] {
            reader.tree(*line);
        }
        rest = reader.block(&rest[count..], 0).1;
    }
    let mut errors = reader.errors;
    // A tensor whose declaration is malformed is unknown, which is reported once.
    let unread: Vec<&str> = text
        .lines()
        .enumerate()
        .filter_map(|(k, line)| {
            let is_declared = lines.first().is_none_or(|first| k + 1 < first.number)
                || starts_with(line.trim_start(), LOCAL);
            let is_wrong = errors.iter().any(|error| error.line == k + 1);
            (is_declared && is_wrong).then_some(line)
        })
        .collect();
    errors.retain(|error| {
        let name = error.what.strip_prefix("tensor ");
        let name = name.and_then(|what| what.strip_suffix(" is not declared"));
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut words = unread.iter().flat_map(|line| line.split(|c| !is_part(c)));
        name.is_none_or(|name| !words.any(|word| word == name))
    });
    if errors.is_empty() {
        return Ok(Read {
            nest: Nest::of_trees(trees),
            lines: lines.iter().map(|line| line.number).collect(),
        });
    }
    errors.sort_by_key(|error| error.line);
    Err(errors)
}

/// Parses an index expression, as `Display` writes it.
///
/// # Errors
/// The text names the token that was expected or found.
pub fn parse_affine(text: &str) -> Result<Affine, String> {
    whole(text, Cursor::affine)
}

/// Parses an expression, as `Display` writes it. The text has no shapes of operations, so these
/// stay empty. `transform::tensor::with_shapes` infers them.
///
/// # Errors
/// [`ParseError`] names the first line that does not fit.
pub fn parse_expr(text: &str) -> Result<Expr, ParseError> {
    let (tensors, lines, errors) = split(text);
    if let Some(error) = errors.into_iter().next() {
        return Err(error);
    }
    match (lines.as_slice(), tensors.as_slice()) {
        ([], [tensor]) => Ok(Expr::of_tensor(tensor.clone())),
        ([line], _) if line.indent == 0 => line.read(&tensors, Cursor::root),
        ([_, _, ..], _) => pieces(&lines, &tensors),
        _ => {
            let first = lines.get(1).copied().unwrap_or_else(|| line(1, ""));
            Err(first.wrong("expected declarations and an expression"))
        }
    }
}

/// A line without indentation.
fn line(number: usize, text: &str) -> Line<'_> {
    Line {
        number,
        indent: 0,
        text,
    }
}

/// The keyword of a local tensor's declaration.
const LOCAL: &str = "local";

/// The declared tensors, the lines after the declarations at the start, and the errors in
/// declarations.
fn split(text: &str) -> (Vec<Tensor>, Vec<Line<'_>>, Vec<ParseError>) {
    let mut tensors = Vec::new();
    let mut lines = Vec::new();
    let mut errors = Vec::new();
    for (k, whole) in text.lines().enumerate() {
        let whole = without_comment(whole);
        let trimmed = whole.trim_start_matches(' ');
        if trimmed.is_empty() {
            continue;
        }
        let line = Line {
            number: k + 1,
            indent: whole.len() - trimmed.len(),
            text: trimmed,
        };
        let declares = Elem::ALL.iter().any(|e| starts_with(trimmed, e.name()));
        if declares && lines.is_empty() {
            errors.extend(declarations(line, &mut tensors));
        } else {
            if starts_with(trimmed, LOCAL) {
                errors.extend(local(line, &mut tensors));
            }
            lines.push(line);
        }
    }
    (tensors, lines, errors)
}

/// A line without its trailing comment. The comment of a loop is its remark, separated by one
/// space.
fn without_comment(line: &str) -> &str {
    let own = line.trim_start();
    let is_loop = ["for", "parallel", "vector"]
        .iter()
        .any(|word| starts_with(own, word));
    let comment = if is_loop {
        line.find("  //")
            .or_else(|| line.find("//").filter(|at| !line[..*at].ends_with(' ')))
    } else {
        line.find("//")
    };
    comment.map_or(line, |at| line[..at].trim_end())
}

/// Whether `text` is a line of this kind. The keyword alone does not decide, since tensors may have
/// the same name. But such a name is followed by no other name, only by an update such as `min=`.
fn starts_with(text: &str, keyword: &str) -> bool {
    let rest = text.strip_prefix(keyword).and_then(|t| t.strip_prefix(' '));
    let updates = |t: &str| {
        let after = BinaryOp::ALL
            .into_iter()
            .find_map(|op| t.strip_prefix(op.symbol()));
        after.is_some_and(|t| t.starts_with('='))
    };
    rest.is_some_and(|t| {
        t.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !updates(t)
    })
}

/// Reads lines and collects errors.
struct Reader<'t> {
    tensors: &'t [Tensor],
    errors: Vec<ParseError>,
}

impl<'t> Reader<'t> {
    /// The trees of the lines at level `depth`, up to the first shallower line.
    fn block<'l>(
        &mut self,
        mut lines: &'l [Line<'t>],
        depth: usize,
    ) -> (Vec<Tree>, &'l [Line<'t>]) {
        let mut trees = Vec::new();
        while let [line, rest @ ..] = lines
            && line.indent == 2 * depth
        {
            lines = rest;
            if depth > MAX_DEPTH as usize {
                self.errors.push(line.wrong(line::too_deep()));
                return (trees, &[]);
            }
            match self.tree(*line) {
                Some(Head::Loop(mut l)) => {
                    (l.body, lines) = self.block(lines, depth + 1);
                    trees.push(Tree::of_loop(*l));
                }
                Some(Head::Tree(tree)) => trees.push(tree),
                // Read the body all the same, for its errors.
                None => lines = self.block(lines, depth + 1).1,
            }
        }
        (trees, lines)
    }

    /// Parses a line. `None` if it is malformed.
    fn tree(&mut self, line: Line<'t>) -> Option<Head> {
        let is = |keyword: &&str| starts_with(line.text, keyword);
        let read = if is(&"fill") {
            let fill = line.read(self.tensors, Cursor::fill);
            fill.map(|fill| Head::Tree(Tree::Fill(Arc::new(fill))))
        } else if is(&LOCAL) {
            // The declaration was read before, and its errors reported.
            let local = line.read(&[], Cursor::local).ok()?;
            Ok(Head::Tree(Tree::Local(local)))
        } else if ["for", "parallel", "vector"].iter().any(is) {
            line.read(self.tensors, Cursor::head)
                .map(|l| Head::Loop(Box::new(l)))
        } else {
            let stmt = line.read(self.tensors, Cursor::stmt);
            stmt.map(|stmt| Head::Tree(Tree::Stmt(Arc::new(stmt))))
        };
        read.map_err(|error| self.errors.push(error)).ok()
    }
}

/// A parsed line: a loop, whose body follows, or a whole tree.
enum Head {
    Loop(Box<Loop>),
    Tree(Tree),
}

/// Adds the local tensor that a line declares. Parts of a loop may each declare the same tensor.
fn local(line: Line<'_>, tensors: &mut Vec<Tensor>) -> Option<ParseError> {
    match line.read(&[], Cursor::local) {
        Ok(tensor) => match tensors.iter().find(|t| t.name() == tensor.name()) {
            Some(known) if *known != tensor => Some(twice(line, &tensor)),
            Some(_) => None,
            None => {
                tensors.push(tensor);
                None
            }
        },
        Err(error) => Some(error),
    }
}

/// Adds the tensors that a line declares.
fn declarations(line: Line<'_>, tensors: &mut Vec<Tensor>) -> Option<ParseError> {
    let declared = match line.read(&[], Cursor::declarations) {
        Ok(declared) => declared,
        Err(error) => return Some(error),
    };
    let mut error = None;
    for tensor in declared {
        if tensors.iter().any(|t| t.name() == tensor.name()) {
            error = error.or_else(|| Some(twice(line, &tensor)))
        } else {
            tensors.push(tensor)
        }
    }
    error
}

fn twice(line: Line<'_>, tensor: &Tensor) -> ParseError {
    line.wrong(format!("tensor {} is declared twice", tensor.label()))
}
