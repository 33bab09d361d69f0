//! Finds the argument to blame. If an operation inside a library function refuses an argument that
//! the function passed on, the message blames the argument of the script's own call.

use crate::messages::frames::Frame;
use crate::reader::lex::{TokenKind, Tokens};
use crate::reader::places::Places;
use rhai::Position;

/// A local variable is followed back to its value, in at most so many steps.
const MAX_STEPS: usize = 8;

/// Follows an argument outwards through the calls `frames`, innermost first: argument `argument` of
/// the call at `position` comes from this argument, counted from 0, of the outermost call.
pub fn argument(
    places: &Places,
    frames: &[Frame],
    position: Position,
    argument: usize,
) -> Option<usize> {
    let mut at = (position, argument);
    for frame in frames {
        let parameter = parameter(places, at.0, at.1, frame.name())?;
        at = (frame.position, parameter);
    }
    Some(at.1)
}

/// The parameter of `function` that a call in its body passes on. The call is at `position`, and
/// its argument `k` is the parameter or a part of it.
fn parameter(places: &Places, position: Position, k: usize, function: &str) -> Option<usize> {
    let span = places.call(position).arguments.get(k)?.clone()?;
    let source = places.source(position)?;
    let text = &*source.text;
    let scanned = crate::reader::lex::scan(text);
    let first = scanned.at(span.range.start)?;
    let last = scanned.at(span.range.end.checked_sub(1)?)?;
    let around = (0..first).rev().find(|&k| scanned.text(text, k) == "fn")?;
    if scanned.text(text, around + 1) != function {
        return None;
    }
    let parameters = parameters(text, &scanned, around + 2);
    let mut range = (first, last);
    for _ in 0..MAX_STEPS {
        let name = root(text, &scanned, range)?;
        let body = around..range.0;
        // A local variable may hide a parameter of the same name. Its value is then made of that
        // parameter.
        if let Some(known) = parameters.iter().position(|p| *p == name) {
            return Some(known);
        }
        range = value(text, &scanned, name, body)?;
    }
    None
}

/// The names in the brackets that token `open` opens.
fn parameters<'t>(text: &'t str, scanned: &Tokens, open: usize) -> Vec<&'t str> {
    let tokens = (open + 1..scanned.tokens.len()).map(|k| scanned.text(text, k));
    tokens
        .take_while(|t| *t != ")")
        .filter(|t| *t != ",")
        .collect()
}

/// The variable that the tokens denote, as a whole or by an element: `sizes` of `sizes[k]`.
fn root<'t>(text: &'t str, scanned: &Tokens, range: (usize, usize)) -> Option<&'t str> {
    let name = scanned.text(text, range.0);
    let is_word = scanned.tokens[range.0].kind == TokenKind::Word;
    let mut depth = 0usize;
    for k in range.0 + 1..=range.1 {
        match scanned.text(text, k) {
            "[" | "?[" => depth += 1,
            "]" => depth = depth.checked_sub(1)?,
            _ if depth > 0 => {}
            "." | "?." => {}
            _ if scanned.text(text, k - 1).ends_with('.') => {}
            _ => return None,
        }
    }
    is_word.then_some(name)
}

/// The tokens of the value that the variable `name` gets in the part of a text, by `let` or `for`.
fn value(
    text: &str,
    scanned: &Tokens,
    name: &str,
    body: std::ops::Range<usize>,
) -> Option<(usize, usize)> {
    let at = |k: usize| scanned.text(text, k);
    for k in body.rev() {
        if at(k) != name {
            continue;
        }
        let (first, end) = match (at(k - 1), at(k + 1)) {
            ("let", "=") => (k + 2, ";"),
            ("for", "in") => (k + 2, "{"),
            ("(", ",") if at(k - 2) == "for" && at(k + 3) == ")" => (k + 5, "{"),
            _ => continue,
        };
        let last = (first..scanned.tokens.len()).find(|&k| at(k) == end)?;
        return Some((first, last.checked_sub(1)?));
    }
    None
}
