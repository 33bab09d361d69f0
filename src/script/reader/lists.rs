//! Lists and arrows: what is added to them before a script is compiled.
//!
//! Rhai evaluates a list before anything knows whether it is one of iterators. So each element
//! that has a name in it is marked, and `captured` sees how it is written:
//!
//! ```text
//! [n, 2]   becomes   [teml_item n, 2]
//! ```
//!
//! The paper leaves lists out (TeML Fig. 6), which Rhai has no syntax for:
//!
//! ```text
//! [, [i]]       becomes   [(), [i]]
//! f(t, -> [i])  becomes   f(t, () -> [i])
//! ```

use super::lex::{TokenKind, Tokens};

/// The keyword of the custom syntax around an element of a list.
pub const ITEM: &str = "teml_item";

/// Where to insert what, in order.
pub fn insertions(text: &str, scanned: &Tokens) -> Vec<(usize, String)> {
    let at = |k: usize| scanned.text(text, k);
    let mut found = Vec::new();
    // Whether each open bracket is that of a list.
    let mut open: Vec<bool> = Vec::new();
    for (k, token) in scanned.tokens.iter().enumerate() {
        let this = at(k);
        let previous = k.checked_sub(1);
        let before = previous.map_or("", at);
        let starts_element = open.last() == Some(&true) && matches!(before, "[" | ",");
        let ends_value = previous.is_some_and(|p| ends_value(text, scanned, p));
        let start = token.range.start;
        match this {
            "->" if !ends_value => found.push((start, "() ".to_owned())),
            "," if starts_element => found.push((start, "()".to_owned())),
            "[" | "]" => {}
            _ if starts_element && has_word(text, scanned, k) => {
                found.push((start, format!("{ITEM} ")));
            }
            _ => {}
        }
        match this {
            "[" => open.push(!ends_value),
            "(" | "{" | "#{" | "?[" => open.push(false),
            ")" | "]" | "}" => drop(open.pop()),
            _ => {}
        }
    }
    found
}

/// Whether a value can end with token `k`, so that a bracket after it is an index.
pub fn ends_value(text: &str, scanned: &Tokens, k: usize) -> bool {
    let token = scanned.text(text, k);
    match scanned.tokens[k].kind {
        TokenKind::Word => !matches!(token, "return" | "in" | "throw" | "else"),
        TokenKind::Number | TokenKind::Text => true,
        TokenKind::Mark => matches!(token, ")" | "]" | "}"),
    }
}

/// Whether the element of a list that starts with token `k` has a word in it.
fn has_word(text: &str, scanned: &Tokens, k: usize) -> bool {
    let mut depth = 0usize;
    for (t, token) in scanned.tokens.iter().enumerate().skip(k) {
        match scanned.text(text, t) {
            "," if depth == 0 => return false,
            "(" | "[" | "{" | "#{" | "?[" => depth += 1,
            ")" | "]" | "}" if depth == 0 => return false,
            ")" | "]" | "}" => depth -= 1,
            "true" | "false" => {}
            _ if token.kind == TokenKind::Word => return true,
            _ => {}
        }
    }
    false
}
