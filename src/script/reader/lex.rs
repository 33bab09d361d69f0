//! A scanner of script text: finds tokens, and the brackets and strings still open at the end.
//!
//! Rhai reports positions without extents and its own scanner drops them too. This one finds the
//! extents that messages underline and the places where names are bound. It tells the REPL whether
//! a line goes on. It accepts any text: a character that begins no token is a punctuation mark.

use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    /// Where it is, in bytes.
    pub range: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or a keyword.
    Word,
    Number,
    /// A string or a character, with its quotes.
    Text,
    /// Anything else.
    Mark,
}

/// The tokens of a text.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    /// The tokens, comments left out.
    pub tokens: Vec<Token>,
    /// Whether the text ends inside a string or a comment.
    pub unterminated: bool,
}

// Longest first.
const MARKS: &[&str] = &[
    "<<=", ">>=", "**=", "..=", "->", "=>", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=",
    "|=", "&=", "^=", "||", "&&", "::", "??", "?.", "?[", "**", "<<", ">>", "..", "#{",
];

/// Scans `text`.
pub fn scan(text: &str) -> Tokens {
    let mut result = Tokens::default();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, length) = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if rest.starts_with("/*") {
            at += comment(rest).unwrap_or_else(|| {
                result.unterminated = true;
                rest.len()
            });
            continue;
        } else if c == '_' || c.is_alphabetic() {
            let word = |c: char| !(c == '_' || c.is_alphanumeric());
            (TokenKind::Word, rest.find(word).unwrap_or(rest.len()))
        } else if c.is_ascii_digit() {
            (TokenKind::Number, number(rest))
        } else if let Some(length) = quoted(rest) {
            let length = length.unwrap_or_else(|| {
                result.unterminated = true;
                rest.len()
            });
            (TokenKind::Text, length)
        } else {
            let mark = MARKS.iter().find(|m| rest.starts_with(**m));
            (TokenKind::Mark, mark.map_or(c.len_utf8(), |m| m.len()))
        };
        let range = at..at + length;
        at = range.end;
        result.tokens.push(Token { kind, range });
    }
    result
}

/// The length of the comment, which may hold others; `None` if it does not end.
fn comment(rest: &str) -> Option<usize> {
    let mut depth = 0;
    let mut at = 0;
    loop {
        let here = &rest[at..];
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += here.chars().next()?.len_utf8();
        }
    }
}

fn number(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while let Some(&b) = bytes.get(at) {
        let next_is_digit = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        let goes_on = match b {
            b'.' => next_is_digit,
            // The sign of an exponent.
            b'+' | b'-' => {
                matches!(bytes.get(at.wrapping_sub(1)), Some(b'e' | b'E'))
                    && !rest.starts_with("0x")
                    && next_is_digit
            }
            b => b.is_ascii_alphanumeric() || b == b'_',
        };
        if !goes_on {
            break;
        }
        at += 1;
    }
    at
}

/// `None` if no string starts here; `Some(None)` if one starts and does not end.
fn quoted(rest: &str) -> Option<Option<usize>> {
    match rest.chars().next()? {
        '"' => Some(simple(rest, '"')),
        '\'' => Some(simple(rest, '\'')),
        '`' => Some(template(rest)),
        '#' => {
            let hashes = rest.find(|c| c != '#')?;
            let body = rest[hashes..].strip_prefix('"')?;
            let end = format!("\"{}", "#".repeat(hashes));
            Some(body.find(&end).map(|k| hashes + 1 + k + end.len()))
        }
        _ => None,
    }
}

/// A string ends with its line at the latest, unless a backslash continues it.
fn simple(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return Some(at),
            c if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    (!escaped).then_some(rest.len())
}

/// A string in backticks, which may hold code that holds strings.
fn template(rest: &str) -> Option<usize> {
    let mut at = 1;
    loop {
        let here = &rest[at..];
        if here.starts_with("``") {
            at += 2;
        } else if here.starts_with('`') {
            return Some(at + 1);
        } else if here.starts_with("${") {
            at += 1 + code(&here[1..])?;
        } else {
            at += here.chars().next()?.len_utf8();
        }
    }
}

/// The length of a block in braces.
fn code(rest: &str) -> Option<usize> {
    let mut depth = 0;
    let mut at = 0;
    loop {
        let here = &rest[at..];
        let c = here.chars().next()?;
        if here.starts_with("/*") {
            at += comment(here)?;
            continue;
        }
        if let Some(length) = quoted(here) {
            at += length?;
            continue;
        }
        at += c.len_utf8();
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

impl Tokens {
    /// The text of token `k`; empty if there is no such token.
    pub fn text<'t>(&self, text: &'t str, k: usize) -> &'t str {
        self.tokens
            .get(k)
            .and_then(|t| text.get(t.range.clone()))
            .unwrap_or("")
    }

    /// The token that covers byte `at`, or starts there.
    pub fn at(&self, at: usize) -> Option<usize> {
        let k = self.tokens.partition_point(|t| t.range.end <= at);
        (self.tokens.get(k)?.range.start <= at).then_some(k)
    }
}

/// Whether more text must follow before `text` can be a script: an open bracket, string or
/// comment, an operator at the end, or documentation of a function that is to come.
pub fn is_incomplete(text: &str) -> bool {
    let scanned = scan(text);
    let documents = text
        .lines()
        .last()
        .is_some_and(|l| l.trim_start().starts_with("///"));
    if scanned.unterminated || documents {
        return true;
    }
    let mut depth = 0i64;
    for k in 0..scanned.tokens.len() {
        match scanned.text(text, k) {
            "(" | "[" | "{" | "#{" | "?[" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
    }
    let Some(last) = scanned.tokens.len().checked_sub(1) else {
        return false;
    };
    let mark = scanned.tokens[last].kind == TokenKind::Mark;
    let ends = matches!(scanned.text(text, last), ")" | "]" | "}" | ";");
    // `|` may end the parameters of a closure or be an operator: both go on.
    depth > 0 || (depth == 0 && mark && !ends)
}

/// Whether token `k` starts a statement on a new line, and the one before it lacks its `;`.
pub fn ends_statement(text: &str, scanned: &Tokens, k: usize) -> bool {
    let Some(before) = k.checked_sub(1) else {
        return false;
    };
    let (last, next) = (&scanned.tokens[before], &scanned.tokens[k]);
    let (last_text, next_text) = (scanned.text(text, before), scanned.text(text, k));
    let ends = match last.kind {
        TokenKind::Word => matches!(last_text, "true" | "false" | "this") || !is_keyword(last_text),
        TokenKind::Number | TokenKind::Text => true,
        TokenKind::Mark => matches!(last_text, ")" | "]"),
    };
    let goes_on = matches!(
        next_text,
        "in" | "as" | "else" | "while" | "until" | "catch"
    );
    let starts = next.kind == TokenKind::Word && !goes_on;
    ends && starts && text[last.range.end..next.range.start].contains('\n')
}

/// Whether a word is a keyword of Rhai.
pub fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "let"
            | "const"
            | "this"
            | "if"
            | "else"
            | "for"
            | "in"
            | "while"
            | "loop"
            | "do"
            | "until"
            | "fn"
            | "return"
            | "throw"
            | "try"
            | "catch"
            | "switch"
            | "import"
            | "export"
            | "as"
            | "true"
            | "false"
            | "private"
            | "global"
            | "break"
            | "continue"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        let scanned = scan(text);
        (0..scanned.tokens.len())
            .map(|k| scanned.text(text, k))
            .collect()
    }

    #[test]
    fn tokens_of_the_language() {
        assert_eq!(
            texts("let a=f(1..2, 1.5e-3, 0xff) -> [i1]; // no\n/* a /* b */ c */ x==y"),
            [
                "let", "a", "=", "f", "(", "1", "..", "2", ",", "1.5e-3", ",", "0xff", ")", "->",
                "[", "i1", "]", ";", "x", "==", "y"
            ]
        );
        assert_eq!(
            texts(r##""a\"b" 'c' #"raw " text"# `t ${ f("}") + `in ${x}` } u` end"##),
            [
                r#""a\"b""#,
                "'c'",
                r##"#"raw " text"#"##,
                "`t ${ f(\"}\") + `in ${x}` } u`",
                "end"
            ]
        );
    }

    #[test]
    fn what_goes_on() {
        for text in [
            "f(",
            "/// Doubles.",
            "[1,",
            "{ let x = 1;",
            "let x =",
            "a +",
            "\"open \\",
            "/* open",
            "`t ${",
            "|x|",
            "x.",
            "i ->",
        ] {
            assert!(is_incomplete(text), "{text}");
        }
        for text in [
            "", "f(1)", "x;", "}", "f())", "// c (", "\"(\"", "'('", "1 // +", "\"open",
        ] {
            assert!(!is_incomplete(text), "{text}");
        }
    }

    #[test]
    fn no_text_is_too_odd() {
        for text in [
            "é 日本 ∑",
            "'",
            "#",
            "`",
            "\"\\",
            "''''",
            "##",
            "1.",
            "1e+",
            "\u{feff}x",
        ] {
            let scanned = scan(text);
            for token in scanned.tokens {
                assert!(text.get(token.range).is_some(), "{text}");
            }
        }
    }
}
