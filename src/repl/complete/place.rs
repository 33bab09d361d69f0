//! Where in a script a text ends.

use crate::repl::arguments::parts;
use crate::script::{TokenKind, Tokens, scan};

/// The call whose arguments are being written.
pub struct OpenCall<'a> {
    /// Its function.
    pub function: &'a str,
    /// The text of the receiver of a method, or of the first argument.
    pub receiver: &'a str,
    /// Which argument, counted from 0, the receiver first.
    pub argument: usize,
    /// Whether the end is inside of a map.
    pub in_map: bool,
}

/// Where the last word of a text starts.
pub fn word_start(text: &str) -> usize {
    let ends = |c: char| !(c == '_' || c.is_alphanumeric());
    text.char_indices()
        .rfind(|(_, c)| ends(*c))
        .map_or(0, |(k, c)| k + c.len_utf8())
}

/// Where the string starts that a text ends in, if it does.
pub fn open_string(text: &str, tokens: &Tokens) -> Option<usize> {
    let last = tokens.tokens.last()?;
    let own = &text[last.range.clone()];
    let reaches = last.range.end == text.len() && last.kind == TokenKind::Text;
    let is_closed = own.len() > 1 && own.ends_with('"') && !own.ends_with("\\\"");
    (reaches && own.starts_with('"') && !is_closed).then_some(last.range.start)
}

/// The innermost call whose arguments a text ends in.
pub fn open_call<'a>(text: &'a str, tokens: &Tokens) -> Option<OpenCall<'a>> {
    let mut open: Vec<(usize, usize)> = Vec::new();
    for k in 0..tokens.tokens.len() {
        match tokens.text(text, k) {
            "(" | "[" | "{" | "#{" => open.push((k, 0)),
            ")" | "]" | "}" => drop(open.pop()),
            "," => open
                .iter_mut()
                .last()
                .into_iter()
                .for_each(|(_, n)| *n += 1),
            _ => {}
        }
    }
    let is_call = |k: usize| {
        let callee = k.checked_sub(1).and_then(|k| tokens.tokens.get(k));
        tokens.text(text, k) == "(" && callee.is_some_and(|t| t.kind == TokenKind::Word)
    };
    let at = open.iter().rposition(|(k, _)| is_call(*k))?;
    let (paren, commas) = open[at];
    let in_map = open[at + 1..]
        .iter()
        .any(|(k, _)| tokens.text(text, *k) == "#{");
    let callee = paren - 1;
    let starts = |k: usize| tokens.tokens[k].range.start;
    let before = callee.checked_sub(1).map_or("", |k| tokens.text(text, k));
    let mut function = &text[tokens.tokens[callee].range.clone()];
    if before == "::" && callee >= 2 {
        function = &text[starts(callee - 2)..tokens.tokens[callee].range.end];
    }
    let (receiver, extra) = match before {
        "." => {
            let end = starts(callee - 1);
            (&text[receiver_start(&text[..end])..end], 1)
        }
        _ => {
            let inside = &text[tokens.tokens[paren].range.end..];
            let first = parts(inside).first().copied().unwrap_or("");
            (first, 0)
        }
    };
    Some(OpenCall {
        function,
        receiver: receiver.trim(),
        argument: commas + extra,
        in_map,
    })
}

/// Where the expression starts that a text ends with: names, dots, and balanced brackets.
pub fn receiver_start(text: &str) -> usize {
    let tokens = scan(text);
    let (mut depth, mut start, mut needs_value) = (0usize, text.len(), true);
    for k in (0..tokens.tokens.len()).rev() {
        let token = &tokens.tokens[k];
        match tokens.text(text, k) {
            ")" | "]" | "}" => depth += 1,
            "(" | "[" | "{" | "#{" if depth == 0 => break,
            "(" | "[" | "{" | "#{" => {
                depth -= 1;
                // A name may come directly before it.
                needs_value = depth == 0 || needs_value;
            }
            _ if depth > 0 => {}
            "." | "::" => needs_value = true,
            _ if token.kind != TokenKind::Mark && needs_value => needs_value = false,
            _ => break,
        }
        if depth == 0 {
            start = token.range.start;
        }
    }
    start
}

/// The function that the call at the end of an expression calls.
pub fn last_call(expression: &str) -> Option<&str> {
    let tokens = scan(expression);
    let mut depth = 0usize;
    for k in (0..tokens.tokens.len()).rev() {
        match tokens.text(expression, k) {
            ")" => depth += 1,
            "(" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    let callee = k.checked_sub(1)?;
                    let end = tokens.tokens[callee].range.end;
                    let is_named = callee >= 2 && tokens.text(expression, callee - 1) == "::";
                    let first = if is_named { callee - 2 } else { callee };
                    return expression.get(tokens.tokens[first].range.start..end);
                }
            }
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}
