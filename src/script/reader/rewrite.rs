//! Name binding: additions to a script before it is compiled.
//!
//! TeML fills the placeholder □ with the name on the left of an assignment (eqs. 17, 18). A
//! Rhai expression does not know what it is assigned to, and Rhai gives no access to the bodies
//! of compiled functions. So the names are added to the text, on the same line:
//!
//! ```text
//! let A = tensor([n]);   becomes   let A = teml_bind A : tensor([n]);
//! A = add(B, C, ..);     becomes   A = teml_set A : add(B, C, ..);
//! ```
//!
//! Rhai calls a function of a script as a method by its parameters without the receiver, so
//! that `x.f(y)` would find `fn f(y)` and drop `x`. A function that does not use `this` so
//! starts by handing a receiver on:
//!
//! ```text
//! fn f(y) { .. }   becomes   fn f(y) { if teml_is_method { return f(this, y); } .. }
//! ```
//!
//! At top level the first assignment to a name that was never declared becomes a `let`, as
//! in the paper. A `;` is added where a line ends an expression and the next one starts with a
//! word: no valid script has that without one. Additions to lists are in `lists`, and to
//! statements in `unused`. The edits are remembered, and every position is mapped back before
//! anybody sees it. Code inside `${…}` of a string is left as it is.

use super::dropped::{self, Last, UNUSED};
use super::lex::{TokenKind, Tokens, ends_statement, is_keyword, scan};
use super::lists;

/// The prefix of the library's helpers. They cannot be private, because Rhai caches the meaning of
/// a name regardless of visibility. A library function that the library itself calls would then
/// miss its private helpers when a script calls it.
pub const INTERNAL: &str = "std_";

/// The keyword of the custom syntax that gives a new variable's name to its value.
pub const BIND: &str = "teml_bind";
/// The keyword of the custom syntax that gives an old variable's name to its new value.
pub const SET: &str = "teml_set";

/// The keyword of the custom syntax for array expressions of SaC, `sac { … }`.
pub const SAC: &str = "teml_sac";

/// The keyword of the custom syntax that tells whether a function was called with a receiver.
pub const IS_METHOD: &str = "teml_is_method";

/// Text that was inserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The line, counted from 0.
    pub line: usize,
    /// The column of the character before which it was inserted, counted from 0.
    pub column: usize,
    /// The number of inserted characters.
    pub length: usize,
    /// The original column of positions inside the inserted text: that of the name, if it is on the
    /// same line.
    pub meant: usize,
}

/// A text ready to be compiled.
#[derive(Debug, Default)]
pub struct Rewritten {
    pub text: String,
    /// The insertions, in order.
    pub edits: Vec<Edit>,
}

/// The kind of text to rewrite.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'k> {
    /// A script of the user's.
    Script(Last),
    /// A file of the library: its public functions are called behind these letters.
    Library(&'k str),
}

/// Inserts into `text` everything that its values need. `is_declared` tells which variables exist
/// before it runs.
pub fn rewrite(text: &str, is_declared: &dyn Fn(&str) -> bool, kind: Kind) -> Rewritten {
    let mut result = Rewritten::default();
    let mut copied = 0;
    let scanned = scan(text);
    let mut found = insertions(text, &scanned, is_declared);
    let in_lists = lists::insertions(text, &scanned).into_iter();
    found.extend(in_lists.map(|(at, inserted)| (at, inserted, at)));
    match kind {
        Kind::Script(last) => {
            let dropped = dropped::statements(text, &scanned, last).into_iter();
            found.extend(dropped.map(|at| (at, format!("{UNUSED} "), at)));
        }
        Kind::Library(prefix) => {
            let public = functions(text, &scanned).into_iter();
            let public = public.filter(|f| !f.name.starts_with(INTERNAL));
            found.extend(public.map(|f| (f.start, prefix.to_owned(), f.start)));
        }
    }
    let quoted = array_expressions(text, &scanned);
    found.retain(|(at, ..)| quoted.iter().all(|q| *at <= q.start || q.end <= *at));
    for range in quoted {
        let word = range.start - "sac".len() - gap(text, range.start);
        found.push((word, "teml_".to_owned(), word));
        found.push((range.start, "`".to_owned(), range.start));
        found.push((range.end, "`".to_owned(), range.start));
    }
    // The start of a function's body was found before insertions in its parameters.
    found.sort_by_key(|(at, ..)| *at);
    for (at, inserted, name) in found {
        result.text.push_str(&text[copied..at]);
        copied = at;
        let before = &text[..at];
        let line_start = before.rfind('\n').map_or(0, |k| k + 1);
        let meant = name.max(line_start);
        result.edits.push(Edit {
            line: before.matches('\n').count(),
            column: before[line_start..].chars().count(),
            length: inserted.chars().count(),
            meant: text[line_start..meant].chars().count(),
        });
        result.text.push_str(&inserted);
    }
    result.text.push_str(&text[copied..]);
    result
}

/// The braces of `sac { … }`, whose text is SaC's.
fn array_expressions(text: &str, scanned: &Tokens) -> Vec<std::ops::Range<usize>> {
    let count = scanned.tokens.len();
    let at = |k: usize| scanned.text(text, k);
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    for k in (1..count).filter(|&k| at(k) == "{" && at(k - 1) == "sac") {
        let start = scanned.tokens[k].range.start;
        let mut depth = 0_usize;
        let close = (k..count).find(|&k| {
            match at(k) {
                "{" | "#{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let is_inside = found.last().is_some_and(|last| start < last.end);
        if let (Some(close), false) = (close, is_inside) {
            found.push(start..scanned.tokens[close].range.end);
        }
    }
    found
}

/// The number of bytes of white space before a place.
fn gap(text: &str, at: usize) -> usize {
    let before = &text[..at];
    before.len() - before.trim_end().len()
}

/// The insertions for names and receivers: where, the text, and the position of the name concerned.
fn insertions(
    text: &str,
    scanned: &Tokens,
    is_declared: &dyn Fn(&str) -> bool,
) -> Vec<(usize, String, usize)> {
    let mut found = Vec::new();
    let mut declared: Vec<&str> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for (k, token) in scanned.tokens.iter().enumerate() {
        let this = scanned.text(text, k);
        match this {
            "(" | "[" | "{" | "#{" | "?[" => open.push(this),
            ")" | "]" | "}" => drop(open.pop()),
            _ => {}
        }
        let depth = open.len();
        let mut previous = k.checked_sub(1).map_or("", |p| scanned.text(text, p));
        let is_block = matches!(open.last(), None | Some(&"{"));
        if is_block && ends_statement(text, scanned, k) {
            let last = scanned.tokens[k - 1].range.clone();
            found.push((last.end, ";".to_owned(), last.start));
            previous = ";";
        }
        if this == "fn" {
            found.extend(receiver_handed_on(text, scanned, k));
        }
        if token.kind != TokenKind::Word || is_keyword(this) {
            continue;
        }
        let is_new = matches!(previous, "let" | "const");
        if is_new && depth == 0 {
            declared.push(this);
        }
        if scanned.text(text, k + 1) != "=" || matches!(previous, "." | "?." | "::") {
            continue;
        }
        let name = token.range.start;
        let after_equals = scanned.tokens[k + 1].range.end;
        // Marks that meet would be read as one.
        let space = if text[after_equals..].starts_with(':') {
            " "
        } else {
            ""
        };
        let named = |keyword: &str| (after_equals, format!(" {keyword} {this} :{space}"), name);
        let known = || declared.contains(&this) || is_declared(this);
        let starts_statement = matches!(previous, "" | ";" | "}");
        if is_new {
            // A literal keeps its form: Rhai computes with constants at compile time.
            if !is_literal(text, scanned, k + 2) {
                found.push(named(BIND));
            }
        } else if depth == 0 && starts_statement && !known() {
            declared.push(this);
            found.push((name, "let ".to_owned(), name));
            found.push(named(BIND));
        } else {
            found.push(named(SET));
        }
    }
    found
}

/// A function in a text.
pub struct Declared<'t> {
    pub name: &'t str,
    /// The number of its parameters.
    pub parameters: usize,
    /// Where its name starts.
    start: usize,
}

/// The functions that a text declares.
pub fn functions<'t>(text: &'t str, scanned: &Tokens) -> Vec<Declared<'t>> {
    let at = |k: usize| scanned.text(text, k);
    let count = scanned.tokens.len();
    let declared = (0..count).filter(|&k| at(k) == "fn" && at(k + 2) == "(");
    let declared = declared.map(|k| {
        let parameters = (k + 3..count).take_while(|&k| at(k) != ")");
        Declared {
            name: at(k + 1),
            parameters: parameters.filter(|&k| at(k) != ",").count(),
            start: scanned.tokens[k + 1].range.start,
        }
    });
    declared.collect()
}

/// The statement that hands a receiver on, for the function whose `fn` is token `k`; `None` if its
/// body uses `this`.
fn receiver_handed_on(text: &str, scanned: &Tokens, k: usize) -> Option<(usize, String, usize)> {
    let at = |k: usize| scanned.text(text, k);
    let count = scanned.tokens.len();
    let close = (k + 2..count).find(|&t| at(t) == ")")?;
    if at(k + 2) != "(" || at(close + 1) != "{" {
        return None;
    }
    let mut depth = 0usize;
    for t in close + 1..count {
        match at(t) {
            "{" | "#{" => depth += 1,
            "}" => depth -= 1,
            "this" => return None,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    let name = at(k + 1);
    let parameters = (k + 3..close).map(at).filter(|&p| p != ",");
    let arguments: Vec<&str> = std::iter::once("this").chain(parameters).collect();
    let arguments = arguments.join(", ");
    let inserted = format!(" if {IS_METHOD} {{ return {name}({arguments}); }}");
    let name_starts = scanned.tokens[k + 1].range.start;
    Some((scanned.tokens[close + 1].range.end, inserted, name_starts))
}

fn is_literal(text: &str, scanned: &Tokens, k: usize) -> bool {
    let literal = scanned
        .tokens
        .get(k)
        .is_some_and(|t| matches!(t.kind, TokenKind::Number | TokenKind::Text));
    literal && matches!(scanned.text(text, k + 1), ";" | "")
}

/// Maps a position in the rewritten text, both counted from 0, back to the column in the
/// original one; lines are the same in both.
pub fn original_column(edits: &[Edit], line: usize, column: usize) -> usize {
    let mut shift = 0;
    let first = edits.partition_point(|e| e.line < line);
    for edit in edits[first..].iter().take_while(|e| e.line == line) {
        let start = edit.column + shift;
        if column < start {
            break;
        }
        if column < start + edit.length {
            return edit.meant;
        }
        shift += edit.length;
    }
    column - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> String {
        rewrite(text, &|name| name == "old", Kind::Script(Last::Unwatched)).text
    }

    #[test]
    fn names_are_added() {
        for (text, expected) in [
            ("let A = t();", "let A = teml_bind A : t();"),
            ("const n = 3;", "const n = 3;"),
            (
                "A = t(); A = t();",
                "let A = teml_bind A : t(); A = teml_set A : t();",
            ),
            ("old = t()", "old = teml_set old : t()"),
            ("let x; x = t()", "let x; x = teml_set x : t()"),
            (
                "fn f(a, b) { A = t() }",
                "fn f(a, b) { if teml_is_method { return f(this, a, b); } A = teml_set A : t() }",
            ),
            ("fn f() { g(this) }", "fn f() { g(this) }"),
            (
                "a.b = 1; a[i] = 2; a == b; a += 1",
                "a.b = 1; a[i] = 2; a == b; a += 1",
            ),
            ("// x = 1\n\"x = 1\"", "// x = 1\n\"x = 1\""),
            ("this = 3", "this = 3"),
            (
                "A = t(1)\nB = t(A) // x\nf(B)\nx = 3\ny\n",
                "let A = teml_bind A : t(1);\nlet B = teml_bind B : t(A); // x\nf(B);\n\
                 let x = teml_bind x : 3;\ny\n",
            ),
            ("import \"m\"\nas n;", "import \"m\"\nas n;"),
            ("f(a,\nb)\n.g()\n+ c", "f(a,\nb)\n.g()\n+ c"),
            ("#{\na: 1\n}", "#{\na: 1\n}"),
            ("if a {\nf()\n}\ng()", "if a {\nf()\n}\ng()"),
            ("{ let x = f()\nx }", "{ let x = teml_bind x : f();\nx }"),
            (
                "f([n, 2, -1, \"s\"], [i + 1, g(j)])",
                "f([teml_item n, 2, -1, \"s\"], [teml_item i + 1, teml_item g(j)])",
            ),
            ("f([[n], j], a[n])", "f([[teml_item n], teml_item j], a[n])"),
            ("f(x)[n]; [x][n]", "f(x)[n]; [teml_item x][n]"),
            ("return [n]", "return [teml_item n]"),
            ("switch a { [1, true] => 2 }", "switch a { [1, true] => 2 }"),
            ("f(t, [, [i]])", "f(t, [(), [teml_item i]])"),
            (
                "f([[i], , [j], ])",
                "f([[teml_item i], (), [teml_item j], ])",
            ),
            ("f(t, -> [i])", "f(t, () -> [teml_item i])"),
            ("t.f(-> [])", "t.f(() -> [])"),
            (
                "let a = -> [i];",
                "let a = teml_bind a : () -> [teml_item i];",
            ),
            ("f([i] -> [j])", "f([teml_item i] -> [teml_item j])"),
        ] {
            assert_eq!(rewritten(text), expected);
        }
    }

    #[test]
    fn every_position_maps_back() {
        let text = "é = f(); let b = g(x);\n  if c { b = h(b) }";
        let result = rewrite(text, &|_| false, Kind::Script(Last::Dropped));
        for (line, (old, new)) in text.lines().zip(result.text.lines()).enumerate() {
            let old: Vec<char> = old.chars().collect();
            // Every character of the original is found again, in order.
            let mut expected = 0;
            for (column, c) in new.chars().enumerate() {
                let mapped = original_column(&result.edits, line, column);
                if old.get(expected) == Some(&c) && mapped == expected {
                    expected += 1;
                }
            }
            assert_eq!(expected, old.len(), "{new}");
        }
    }
}
