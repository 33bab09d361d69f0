//! Where a text declares its variables.

use super::lex::{TokenKind, Tokens};

/// The token that declares the variable `name` for a use at token `at`: the last `let`, assignment,
/// `for` or parameter before it in an enclosing block.
pub fn declaration(text: &str, scanned: &Tokens, name: &str, at: usize) -> Option<usize> {
    let word = |k: usize| scanned.text(text, k);
    // One for each open bracket.
    let mut blocks: Vec<Option<usize>> = vec![None];
    // The declaration of a `for` or a `fn` for the block that follows.
    let mut ahead = None;
    let mut header = None;
    let mut in_closure = false;
    for k in 0..at.min(scanned.tokens.len()) {
        let (this, previous) = (word(k), k.checked_sub(1).map_or("", word));
        match this {
            "for" | "fn" => header = Some(this),
            "in" => header = None,
            "{" => {
                (in_closure, header) = (false, None);
                blocks.push(ahead.take());
            }
            "(" | "[" | "#{" | "?[" => blocks.push(None),
            ")" | "]" | "}" => {
                in_closure = false;
                if blocks.len() > 1 {
                    blocks.pop();
                }
            }
            "|" => in_closure = !in_closure && starts_closure(text, scanned, k),
            _ => {}
        }
        if this != name || scanned.tokens[k].kind != TokenKind::Word {
            continue;
        }
        let is_parameter = in_closure && matches!(previous, "|" | ",");
        let is_assigned = word(k + 1) == "=" && matches!(previous, "" | ";" | "{" | "}");
        let is_known = blocks.iter().any(Option::is_some);
        match header {
            Some("for") => ahead = Some(k),
            Some("fn") if previous != "fn" => ahead = Some(k),
            _ if matches!(previous, "let" | "const") || is_parameter => {
                blocks.last_mut()?.replace(k);
            }
            _ if is_assigned && !is_known => drop(blocks.last_mut()?.replace(k)),
            _ => {}
        }
    }
    blocks.into_iter().rev().flatten().next()
}

/// Whether the `|` at token `k` starts a closure: it is not an operator, since no value ends before
/// it.
fn starts_closure(text: &str, scanned: &Tokens, k: usize) -> bool {
    let Some(previous) = k.checked_sub(1) else {
        return true;
    };
    let token = scanned.text(text, previous);
    match scanned.tokens[previous].kind {
        TokenKind::Word => token == "return",
        TokenKind::Number | TokenKind::Text => false,
        TokenKind::Mark => !matches!(token, ")" | "]" | "}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::lex::scan;

    #[test]
    fn the_innermost_declaration_counts() {
        for (text, expected) in [
            ("let n = 1; [n]", Some(4)),
            ("n = 1; [n]", Some(0)),
            ("let n = 1; n = 2; [n]", Some(4)),
            ("let n = 1; { let n = 2; } [n]", Some(4)),
            ("let n = 1; { let n = 2; [n] }", Some(17)),
            ("for n in 0..3 { [n] }", Some(4)),
            ("for (x, n) in l { [n] }", Some(8)),
            ("let n = 1; for n in 0..3 { } [n]", Some(4)),
            ("fn f(m, n) { [n] }", Some(8)),
            ("fn n(m) { [n] }", None),
            ("l.map(|m, n| [n])", Some(10)),
            ("l.map(|n| n) + a | [n]", None),
            ("[n]", None),
        ] {
            let scanned = scan(text);
            let at = scanned.at(text.rfind('n').unwrap()).unwrap();
            let found = declaration(text, &scanned, "n", at);
            let start = found.map(|k| scanned.tokens[k].range.start);
            assert_eq!(start, expected, "{text}");
        }
    }
}
