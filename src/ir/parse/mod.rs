//! Reads the canonical text of nests and expressions back.

mod cursor;
mod line;
mod pieces;
mod types;
mod value;

use super::affine::Affine;
use super::elem::Elem;
use super::expr::{Expr, MAX_DEPTH};
use super::function::BinaryOp;
use super::history::{Nest, Tree};
use super::tensor::Tensor;
use cursor::Cursor;
use line::{Line, whole};
use pieces::pieces;
use std::sync::Arc;

pub use line::ParseError;

/// The nest that `text`, as `Display` writes it, stands for. The text tells nothing of the
/// definition, so that of the result is empty.
///
/// # Errors
/// [`ParseError`] names the first line that does not fit.
pub fn parse_nest(text: &str) -> Result<Nest, ParseError> {
    let (tensors, lines) = split(text)?;
    let (trees, rest) = block(&lines, 0, &tensors)?;
    match rest.first() {
        None => Ok(Nest::of_trees(trees)),
        Some((line, ..)) => Err(ParseError {
            line: *line,
            what: "the indentation fits no loop".to_owned(),
        }),
    }
}

/// The index expression that `text`, as `Display` writes it, stands for.
///
/// # Errors
/// What was expected or found.
pub fn parse_affine(text: &str) -> Result<Affine, String> {
    whole(text, &[], Cursor::affine)
}

/// The expression that `text`, as `Display` writes it, stands for. The shapes of operations are
/// not in the text and stay empty; `transform::tensor::with_shapes` infers them.
///
/// # Errors
/// [`ParseError`] names the first line that does not fit.
pub fn parse_expr(text: &str) -> Result<Expr, ParseError> {
    let (tensors, lines) = split(text)?;
    match (lines.as_slice(), tensors.as_slice()) {
        ([], [tensor]) => Ok(Expr::of_tensor(tensor.clone())),
        ([(line, 0, text)], _) => whole(text, &tensors, Cursor::root).map_err(|what| {
            let line = *line;
            ParseError { line, what }
        }),
        ([_, _, ..], _) => pieces(&lines, &tensors),
        _ => Err(ParseError {
            line: lines.get(1).map_or(1, |(line, ..)| *line),
            what: "expected declarations and an expression".to_owned(),
        }),
    }
}

/// The keyword of a local tensor's declaration.
const LOCAL: &str = "local";

/// The tensors that the text declares, and the lines after the declarations at its start.
fn split(text: &str) -> Result<(Vec<Tensor>, Vec<Line<'_>>), ParseError> {
    let mut tensors = Vec::new();
    let mut lines = Vec::new();
    for (k, line) in text.lines().enumerate() {
        // Behind two slashes are remarks.
        let line = line
            .split_once("//")
            .map_or(line, |(code, _)| code)
            .trim_end();
        let trimmed = line.trim_start_matches(' ');
        if trimmed.is_empty() {
            continue;
        }
        let declares = Elem::ALL.iter().any(|e| starts_with(trimmed, e.name()));
        if declares && lines.is_empty() {
            declarations(trimmed, &mut tensors).map_err(|what| ParseError { line: k + 1, what })?;
        } else {
            if starts_with(trimmed, LOCAL) {
                local(trimmed, &mut tensors).map_err(|what| ParseError { line: k + 1, what })?;
            }
            lines.push((k + 1, line.len() - trimmed.len(), trimmed));
        }
    }
    Ok((tensors, lines))
}

/// Whether `text` is a line of this kind. The keyword alone does not tell: tensors may be named
/// like it, but after such a name comes no other name, only an update such as `min=`.
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

fn block<'a, 'l>(
    mut lines: &'l [Line<'a>],
    depth: usize,
    tensors: &[Tensor],
) -> Result<(Vec<Tree>, &'l [Line<'a>]), ParseError> {
    let mut trees = Vec::new();
    while let [(line, indent, text), rest @ ..] = lines
        && *indent == 2 * depth
    {
        let at = |what: String| ParseError { line: *line, what };
        if depth > MAX_DEPTH as usize {
            return Err(at(line::too_deep()));
        }
        lines = rest;
        let is = |keyword: &&str| starts_with(text, keyword);
        let tree = if is(&"fill") {
            Tree::Fill(Arc::new(whole(text, tensors, Cursor::fill).map_err(at)?))
        } else if is(&LOCAL) {
            Tree::Local(whole(text, &[], Cursor::local).map_err(at)?)
        } else if ["for", "parallel", "vector"].iter().any(is) {
            let mut l = whole(text, tensors, Cursor::head).map_err(at)?;
            (l.body, lines) = block(lines, depth + 1, tensors)?;
            Tree::of_loop(l)
        } else {
            Tree::Stmt(Arc::new(whole(text, tensors, Cursor::stmt).map_err(at)?))
        };
        trees.push(tree);
    }
    Ok((trees, lines))
}

/// Adds the local tensor that a line declares. Parts of a loop may each declare the same one.
fn local(text: &str, tensors: &mut Vec<Tensor>) -> Result<(), String> {
    let tensor = whole(text, &[], Cursor::local)?;
    match tensors.iter().find(|t| t.name() == tensor.name()) {
        Some(known) if *known != tensor => {
            Err(format!("tensor {} is declared twice", tensor.label()))
        }
        Some(_) => Ok(()),
        None => {
            tensors.push(tensor);
            Ok(())
        }
    }
}

/// Adds the tensors that a line declares.
fn declarations(text: &str, tensors: &mut Vec<Tensor>) -> Result<(), String> {
    for tensor in whole(text, &[], Cursor::declarations)? {
        if tensors.iter().any(|t| t.name() == tensor.name()) {
            return Err(format!("tensor {} is declared twice", tensor.label()));
        }
        tensors.push(tensor);
    }
    Ok(())
}
