//! Values that a script makes and nobody gets: `c.parallelize("i");` changes nothing, since it
//! returns a new nest.
//!
//! Before a script is compiled, a keyword is put in front of each statement whose value is
//! dropped. At run time it checks whether that value is a nest, and warns once for each place:
//!
//! ```text
//! c.unroll(1); d   becomes   teml_unused c.unroll(1); d
//! ```
//!
//! The last value of a block is that of the block, with a `;` behind it or without. It is dropped
//! with the block, at the end of a loop, and where a script ends.

use super::lex::{TokenKind, Tokens, ends_statement, is_keyword};

/// The keyword of the custom syntax around a statement whose value is dropped.
pub const UNUSED: &str = "teml_unused";

/// Which values of a text are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    /// Those of all statements but the last one at top level.
    Kept,
    /// Those of all statements.
    Dropped,
    /// Nothing is checked: the REPL shows values, and the library is tested.
    Unwatched,
}

/// A bracket that is open.
struct Block {
    kind: Kind,
    /// The first token of the statement that is being read.
    start: Option<usize>,
    /// Whether that statement assigns, or is not a statement at all.
    assigns: bool,
    /// The statements whose values are that of the statement being read, by their first tokens.
    inner: Vec<usize>,
    /// Those whose values are that of the last one.
    last: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The body of a loop.
    Loop,
    /// A block whose value is that of the statement around it.
    Branch,
    /// A body, or a part of an expression, whose value is used.
    Value,
    /// No statements.
    Other,
}

impl Block {
    fn new(kind: Kind) -> Block {
        Block {
            kind,
            start: None,
            assigns: false,
            inner: Vec::new(),
            last: Vec::new(),
        }
    }

    /// Ends the statement that is being read.
    fn end(&mut self, text: &str, scanned: &Tokens) {
        if let Some(start) = self.start.take() {
            self.last = std::mem::take(&mut self.inner);
            if !self.assigns && can_start_value(text, scanned, start) {
                self.last.push(start);
            }
        }
        self.assigns = false;
    }
}

/// The statements whose values are dropped, by where they start, in no order.
pub fn statements(text: &str, scanned: &Tokens, last: Last) -> Vec<usize> {
    if last == Last::Unwatched {
        return Vec::new();
    }
    let at = |k: usize| scanned.text(text, k);
    let mut dropped: Vec<usize> = Vec::new();
    let mut open = vec![Block::new(Kind::Value)];
    for k in 0..scanned.tokens.len() {
        let this = at(k);
        let Some(block) = open.last_mut() else {
            break;
        };
        let has_statements = block.kind != Kind::Other;
        if has_statements && block.start.is_some() && ends_statement(text, scanned, k) {
            block.end(text, scanned);
        }
        if has_statements && block.start.is_none() && !matches!(this, ";" | "}") {
            dropped.append(&mut block.last);
            block.start = Some(k);
        }
        match this {
            ";" if has_statements => block.end(text, scanned),
            "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "=>" => block.assigns = true,
            "{" => {
                let kind = kind_of_block(text, scanned, block, k);
                open.push(Block::new(kind));
            }
            "(" | "[" | "#{" | "?[" => open.push(Block::new(Kind::Other)),
            ")" | "]" | "}" if open.len() > 1 => {
                if let Some(mut inner) = open.pop() {
                    inner.end(text, scanned);
                    let around = open.last_mut();
                    match inner.kind {
                        Kind::Loop => dropped.append(&mut inner.last),
                        Kind::Branch => around
                            .into_iter()
                            .for_each(|b| b.inner.append(&mut inner.last)),
                        Kind::Value | Kind::Other => {}
                    }
                }
                if let Some(block) = open.last_mut().filter(|_| this == "}")
                    && let Some(start) = block.start
                    && is_block_statement(at(start))
                    && !goes_on(at(start), at(k + 1))
                {
                    block.end(text, scanned);
                }
            }
            _ => {}
        }
    }
    if let (Last::Dropped, [block]) = (last, open.as_mut_slice()) {
        block.end(text, scanned);
        dropped.append(&mut block.last);
    }
    let start = |k: usize| scanned.tokens[k].range.start;
    dropped.into_iter().map(start).collect()
}

/// The kind of block that the `{` at token `k` opens, in a statement of `around`.
fn kind_of_block(text: &str, scanned: &Tokens, around: &Block, k: usize) -> Kind {
    let previous = k.checked_sub(1).map_or("", |p| scanned.text(text, p));
    let keyword = around.start.map_or("", |start| scanned.text(text, start));
    match (previous, keyword) {
        ("loop" | "do", _) => Kind::Loop,
        _ if around.kind == Kind::Other || around.assigns => Kind::Value,
        (_, "for" | "while") => Kind::Loop,
        (_, "if" | "try" | "{") => Kind::Branch,
        (_, "switch") => Kind::Other,
        _ => Kind::Value,
    }
}

fn is_block_statement(keyword: &str) -> bool {
    let of_function = matches!(keyword, "fn" | "private");
    let of_loop = matches!(keyword, "for" | "while" | "loop" | "do");
    of_function || of_loop || matches!(keyword, "if" | "try" | "switch" | "{")
}

/// Whether a statement continues after one of its blocks.
fn goes_on(keyword: &str, next: &str) -> bool {
    match keyword {
        "if" => next == "else",
        "try" => next == "catch",
        "do" => matches!(next, "while" | "until"),
        _ => false,
    }
}

/// Whether a statement that starts with token `k` can be a value.
fn can_start_value(text: &str, scanned: &Tokens, k: usize) -> bool {
    let token = scanned.text(text, k);
    match scanned.tokens[k].kind {
        TokenKind::Word => token == "this" || !is_keyword(token),
        TokenKind::Mark => matches!(token, "(" | "[" | "@"),
        TokenKind::Number | TokenKind::Text => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::lex::scan;

    #[test]
    fn statements_whose_values_are_dropped() {
        for (text, last, expected) in [
            ("a(); b", Last::Kept, "a"),
            ("a(); b;", Last::Kept, "a"),
            ("a(); b;", Last::Dropped, "a b"),
            ("a(); b;", Last::Unwatched, ""),
            ("a()\nb()\nc", Last::Kept, "a b"),
            (
                "let x = a(); x = b(); x += c(); d[0] = e();",
                Last::Dropped,
                "",
            ),
            ("fn f() { a(); b() } c", Last::Dropped, "a c"),
            ("fn f() { a(); return b(); }", Last::Dropped, "a"),
            ("for k in l { a(); b(); }", Last::Dropped, "a b"),
            (
                "while w { a() } loop { b() } do { c() } while d;",
                Last::Kept,
                "a b c",
            ),
            ("if w { a() } b", Last::Kept, "a"),
            (
                "if w { a() } else if v { b() } else { c() }",
                Last::Kept,
                "",
            ),
            (
                "if w { a() } else if v { b() } else { c() }",
                Last::Dropped,
                "a b c",
            ),
            (
                "let x = if w { a(); b() } else { c() };",
                Last::Dropped,
                "a",
            ),
            ("try { a() } catch (e) { b() } c", Last::Kept, "a b"),
            ("{ a(); b() } c", Last::Kept, "a b"),
            ("f(|x| { a(); b() }); c", Last::Kept, "f a"),
            ("let g = |x| a.b(x); c", Last::Dropped, "c"),
            ("switch w { 1 => a(), _ => b() } c", Last::Kept, ""),
            (
                "let m = #{a: b()}; [a, b].map(f); (c)",
                Last::Dropped,
                "[ (",
            ),
            ("@C: add(a, b); 3; \"s\"", Last::Dropped, "@"),
            (
                "fn f() { for k in l { if w { a() } } b }",
                Last::Dropped,
                "a",
            ),
        ] {
            let scanned = scan(text);
            let mut found = statements(text, &scanned, last);
            found.sort_unstable();
            let token = |&at: &usize| scanned.text(text, scanned.at(at).unwrap());
            let found: Vec<&str> = found.iter().map(token).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn no_text_is_too_odd() {
        for text in [
            "}", "{", "}}{{", "a; } b", "if", "if {", "fn f( {", "x.y(", "];",
        ] {
            let _ = statements(text, &scan(text), Last::Dropped);
        }
    }
}
