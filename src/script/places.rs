//! Places: from Rhai's positions to stretches of the texts that people wrote.
//!
//! A Rhai position is a line and a column without the text that it belongs to, and the text
//! that Rhai reports beside it is wrong for closures that cross modules. So every text is
//! compiled at lines of its own: the line alone tells the text.

use super::lex::{self, Tokens};
use super::rewrite::{self, Edit};
use crate::diag::{CallPlace, Sources, Span};
use crate::ir::Site;
use rhai::Position;
use std::path::PathBuf;
use std::sync::Arc;

/// How the names of the library's texts start.
pub const LIBRARY: &str = "std/";

/// Rhai counts lines in 16 bits.
const MAX_LINE: usize = 65_000;

/// A text that was compiled.
#[derive(Debug)]
pub struct Source {
    /// The name that messages show.
    pub name: Arc<str>,
    /// The text as it was written.
    pub text: Arc<str>,
    /// The file, where it came from one.
    pub path: Option<PathBuf>,
    /// The number of lines before it.
    first_line: usize,
    edits: Vec<Edit>,
}

/// All texts of a session.
#[derive(Debug, Default)]
pub struct Places {
    /// In order of their lines.
    sources: Vec<Arc<Source>>,
    next_line: usize,
}

impl Places {
    /// Registers a text and returns what is to be compiled; `None` if it has too many lines.
    ///
    /// `prefix` is compiled in front of it, and no position points there.
    pub fn add(
        &mut self,
        name: &str,
        text: &str,
        path: Option<PathBuf>,
        prefix: &str,
        is_declared: &dyn Fn(&str) -> bool,
    ) -> Option<String> {
        let lines = text.matches('\n').count() + 1;
        if lines > MAX_LINE {
            return None;
        }
        if self.next_line + lines > MAX_LINE {
            // Only a session of very many lines comes here: old ones lose their places.
            self.sources.clear();
            self.next_line = 0;
        }
        let mut rewritten = rewrite::rewrite(text, is_declared);
        let before = Edit {
            line: 0,
            column: 0,
            length: prefix.chars().count(),
            meant: 0,
        };
        rewritten.edits.insert(0, before);
        let first_line = self.next_line;
        self.next_line += lines;
        self.sources.push(Arc::new(Source {
            name: name.into(),
            text: text.into(),
            path,
            first_line,
            edits: rewritten.edits,
        }));
        let mut compiled = "\n".repeat(first_line);
        compiled.push_str(prefix);
        // What Rhai does not know; a line of its own needs no width, a first character does.
        let body = &rewritten.text;
        if let Some(rest) = body.strip_prefix('\u{feff}') {
            compiled.push(' ');
            compiled.push_str(rest);
        } else if let Some(rest) = body.strip_prefix("#!") {
            compiled.push_str("// ");
            compiled.push_str(rest);
        } else {
            compiled.push_str(body);
        }
        Some(compiled)
    }

    /// Forgets a text of which nothing is left in the session.
    pub fn forget(&mut self, name: &str) {
        self.sources.retain(|s| &*s.name != name);
    }

    /// The texts, for rendering.
    pub fn texts(&self) -> Sources {
        let mut sources = Sources::default();
        for source in &self.sources {
            sources.insert(source.name.clone(), source.text.clone());
        }
        sources
    }

    /// The text that a position lies in.
    pub fn source(&self, position: Position) -> Option<&Arc<Source>> {
        let line = position.line()? - 1;
        let after = self.sources.partition_point(|s| s.first_line <= line);
        self.sources.get(after.checked_sub(1)?)
    }

    /// Whether a position lies in the library that comes with the tool.
    pub fn is_library(&self, position: Position) -> bool {
        let source = self.source(position);
        source.is_some_and(|s| s.path.is_none() && s.name.starts_with(LIBRARY))
    }

    /// The place, for the record of a nest's path.
    pub fn site(&self, position: Position) -> Option<Site> {
        let source = self.source(position)?;
        let (line, column) = source.original(position)?;
        Some(Site {
            source: source.name.clone(),
            line: u32::try_from(line + 1).ok()?,
            column: u32::try_from(column + 1).ok()?,
        })
    }

    /// The token at a position; the end of the text where nothing is left.
    pub fn span(&self, position: Position) -> Option<Span> {
        let source = self.source(position)?;
        let at = source.offset(position)?;
        let scanned = lex::scan(&source.text);
        let range = match scanned.at(at) {
            Some(k) => scanned.tokens[k].range.clone(),
            None => at..at,
        };
        Some(source.span(range))
    }

    /// The call whose function name is at a position.
    pub fn call(&self, position: Position) -> CallPlace {
        let Some(source) = self.source(position) else {
            return CallPlace::default();
        };
        let Some(at) = source.offset(position) else {
            return CallPlace::default();
        };
        let scanned = lex::scan(&source.text);
        let Some(callee) = scanned.at(at) else {
            return CallPlace {
                callee: Some(source.span(at..at)),
                arguments: Vec::new(),
            };
        };
        let ranges = arguments(&source.text, &scanned, callee);
        CallPlace {
            callee: Some(source.span(scanned.tokens[callee].range.clone())),
            arguments: ranges.into_iter().map(|r| Some(source.span(r))).collect(),
        }
    }

    /// The function that is called at a position, as it is written there, with its namespace.
    pub fn called(&self, position: Position) -> Option<String> {
        let source = self.source(position)?;
        let scanned = lex::scan(&source.text);
        let last = scanned.at(source.offset(position)?)?;
        let mut first = last;
        while first >= 2 && scanned.text(&source.text, first - 1) == "::" {
            first -= 2;
        }
        let range = scanned.tokens[first].range.start..scanned.tokens[last].range.end;
        Some(source.text[range].to_owned())
    }

    /// Every name that a text of the user's declares, for suggestions.
    pub fn declared_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let of_user = |s: &&Arc<Source>| s.path.is_some() || !s.name.starts_with(LIBRARY);
        for source in self.sources.iter().filter(of_user) {
            let text = &*source.text;
            let scanned = lex::scan(text);
            for k in 0..scanned.tokens.len() {
                let name = scanned.text(text, k);
                let previous = k.checked_sub(1).map_or("", |p| scanned.text(text, p));
                let is_declared = matches!(previous, "let" | "const" | "for" | "as")
                    || (scanned.tokens[k].kind == lex::TokenKind::Word
                        && scanned.text(text, k + 1) == "=");
                if is_declared && !names.iter().any(|n| n == name) {
                    names.push(name.to_owned());
                }
            }
        }
        names
    }
}

impl Source {
    fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span {
            source: self.name.clone(),
            range,
        }
    }

    /// Line and column in the original text, both counted from 0.
    fn original(&self, position: Position) -> Option<(usize, usize)> {
        let line = (position.line()? - 1).checked_sub(self.first_line)?;
        let column = position.position().unwrap_or(1) - 1;
        Some((line, rewrite::original_column(&self.edits, line, column)))
    }

    /// The byte at a position, within the text.
    fn offset(&self, position: Position) -> Option<usize> {
        let (line, column) = self.original(position)?;
        let mut start = 0;
        for _ in 0..line {
            start += self.text[start..].find('\n')? + 1;
        }
        let rest = &self.text[start..];
        let line_end = rest.find('\n').unwrap_or(rest.len());
        let within = rest[..line_end].char_indices().nth(column);
        Some(start + within.map_or(line_end, |(k, _)| k))
    }
}

/// The arguments of the call whose name is token `callee`, the receiver of a method first; the
/// two sides of an operator.
fn arguments(text: &str, scanned: &Tokens, callee: usize) -> Vec<std::ops::Range<usize>> {
    let at = |k: usize| scanned.text(text, k);
    let mut found = Vec::new();
    if callee >= 2 && matches!(at(callee - 1), "." | "?.") {
        let start = chain_start(text, scanned, callee - 2);
        let (first, last) = (&scanned.tokens[start], &scanned.tokens[callee - 2]);
        found.push(first.range.start..last.range.end);
    }
    if at(callee + 1) != "(" {
        return found;
    }
    let mut depth = 0usize;
    let mut first = callee + 2;
    for k in callee + 1..scanned.tokens.len() {
        match at(k) {
            "(" | "[" | "{" | "#{" | "?[" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        let ends = depth == 0;
        if (ends || (depth == 1 && at(k) == ",")) && k > first {
            let (a, b) = (&scanned.tokens[first], &scanned.tokens[k - 1]);
            found.push(a.range.start..b.range.end);
        }
        if depth == 1 && at(k) == "," {
            first = k + 1;
        }
        if ends {
            break;
        }
    }
    found
}

/// The first token of the chain `a.b(..)[..].c` whose last token is `last`.
fn chain_start(text: &str, scanned: &Tokens, last: usize) -> usize {
    let at = |k: usize| scanned.text(text, k);
    let mut k = last;
    loop {
        // A bracket belongs with its opening one and, for a call or an index, with what is
        // called or indexed.
        while matches!(at(k), ")" | "]") {
            let mut depth = 0usize;
            loop {
                match at(k) {
                    ")" | "]" | "}" => depth += 1,
                    "(" | "[" | "{" | "#{" | "?[" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if depth == 0 || k == 0 {
                    break;
                }
                k -= 1;
            }
            let called = k.checked_sub(1).is_some_and(|p| {
                matches!(at(p), ")" | "]") || scanned.tokens[p].kind == lex::TokenKind::Word
            });
            match called {
                true => k -= 1,
                false => break,
            }
        }
        match k.checked_sub(2) {
            Some(before) if matches!(at(k - 1), "." | "?." | "::") => k = before,
            _ => return k,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call_at(text: &str, name: &str) -> Vec<String> {
        let mut places = Places::default();
        let _ = places.add("first", "a\nb", None, "", &|_| false);
        let compiled = places.add("t", text, None, "", &|_| false).unwrap();
        let at = compiled.find(name).unwrap();
        let line = compiled[..at].matches('\n').count();
        let start = compiled[..at].rfind('\n').map_or(0, |k| k + 1);
        let column = compiled[start..at].chars().count();
        let position = Position::new(line as u16 + 1, column as u16 + 1);
        let call = places.call(position);
        assert_eq!(call.callee.unwrap().source.as_ref(), "t");
        call.arguments
            .into_iter()
            .map(|s| text[s.unwrap().range].to_owned())
            .collect()
    }

    #[test]
    fn arguments_are_found() {
        assert_eq!(
            call_at("let é = f(a, [b, c],\n g(1) -> x);", "f("),
            ["a", "[b, c]", "g(1) -> x"]
        );
        assert_eq!(call_at("x = a.b(1)[2].f(3)", "f("), ["a.b(1)[2]", "3"]);
        assert_eq!(call_at("(a).f()", "f("), ["(a)"]);
        assert_eq!(call_at("f(a", "f("), Vec::<String>::new());
    }
}
