//! The syntax around a position: calls and their arguments, statements, lists, declarations.

use crate::diag::{CallPlace, Span};
use crate::reader::declarations::declaration;
use crate::reader::lex::{self, Tokens};
use crate::reader::lists;
use crate::reader::places::{LIBRARY, Places, Source};
use rhai::Position;

impl Places {
    /// The text, its tokens, and the one at a position.
    fn token(&self, position: Position) -> Option<(&Source, Tokens, usize)> {
        let source = self.source(position)?;
        let scanned = lex::scan(&source.text);
        let k = scanned.at(source.offset(position)?)?;
        Some((source, scanned, k))
    }

    /// The call whose function name is at a position.
    pub fn call(&self, position: Position) -> CallPlace {
        if let Some((source, scanned, callee)) = self.token(position) {
            let ranges = arguments(&source.text, &scanned, callee);
            return CallPlace {
                callee: Some(source.span(scanned.tokens[callee].range.clone())),
                arguments: ranges.into_iter().map(|r| Some(source.span(r))).collect(),
            };
        }
        let end = || {
            let source = self.source(position)?;
            let at = source.offset(position)?;
            Some(source.span(at..at))
        };
        CallPlace {
            callee: end(),
            arguments: Vec::new(),
        }
    }

    /// The statement that starts at a position, without its semicolon.
    pub fn statement(&self, position: Position) -> Option<(Span, String)> {
        let (source, scanned, first) = self.token(position)?;
        let text = &*source.text;
        let mut depth = 0usize;
        let mut last = first;
        for k in first..scanned.tokens.len() {
            match scanned.text(text, k) {
                "(" | "[" | "{" | "#{" | "?[" => depth += 1,
                ")" | "]" | "}" if depth == 0 => break,
                ")" | "]" | "}" => depth -= 1,
                ";" if depth == 0 => break,
                _ if depth == 0 && k > first && lex::ends_statement(text, &scanned, k) => break,
                _ => {}
            }
            last = k;
        }
        let range = scanned.tokens[first].range.start..scanned.tokens[last].range.end;
        let statement = text.get(range.clone())?.to_owned();
        Some((source.span(range), statement))
    }

    /// Whether the token at a position is all of an element of a list.
    pub fn is_element(&self, position: Position) -> bool {
        self.token(position).is_some_and(|(source, scanned, k)| {
            let before = k
                .checked_sub(1)
                .map_or("", |k| scanned.text(&source.text, k));
            let after = scanned.text(&source.text, k + 1);
            matches!((before, after), ("[" | ",", "]" | ","))
        })
    }

    /// Whether the innermost bracket around a position is that of a list.
    pub fn is_in_list(&self, position: Position) -> bool {
        let Some((source, scanned, at)) = self.token(position) else {
            return false;
        };
        let mut depth = 0usize;
        for k in (0..at).rev() {
            match scanned.text(&source.text, k) {
                ")" | "]" | "}" => depth += 1,
                "[" if depth == 0 => {
                    return k == 0 || !lists::ends_value(&source.text, &scanned, k - 1);
                }
                "(" | "{" | "#{" | "?[" if depth == 0 => return false,
                "(" | "[" | "{" | "#{" | "?[" => depth -= 1,
                _ => {}
            }
        }
        false
    }

    /// The word before a position.
    pub fn word_before(&self, position: Position) -> Option<String> {
        let (source, scanned, k) = self.token(position)?;
        let k = k.checked_sub(1)?;
        let is_word = scanned.tokens[k].kind == lex::TokenKind::Word;
        is_word.then(|| scanned.text(&source.text, k).to_owned())
    }

    /// Whether the brackets that begin at a position are assigned to, as in `A[i] = x`.
    pub fn is_assigned(&self, position: Position) -> bool {
        let Some((source, scanned, first)) = self.token(position) else {
            return false;
        };
        let mut depth = 0usize;
        for k in first..scanned.tokens.len() {
            match scanned.text(&source.text, k) {
                "[" => depth += 1,
                "]" => depth = depth.saturating_sub(1),
                mark if depth == 0 => return mark.ends_with('=') && mark != "==",
                _ => {}
            }
        }
        false
    }

    /// The function that is called at a position, as it is written there, with its namespace.
    pub fn called(&self, position: Position) -> Option<String> {
        let (source, scanned, last) = self.token(position)?;
        let mut first = last;
        while first >= 2 && scanned.text(&source.text, first - 1) == "::" {
            first -= 2;
        }
        let range = scanned.tokens[first].range.start..scanned.tokens[last].range.end;
        Some(source.text[range].to_owned())
    }

    /// Where the variable `name` that is used at `position` is declared: in the same text or, for
    /// lines of the REPL, in an earlier one.
    pub fn declaration(&self, name: &str, position: Position) -> Option<Span> {
        let (own, _, at) = self.token(position)?;
        for source in self.up_to(own) {
            let scanned = lex::scan(&source.text);
            let end = if std::ptr::eq(&**source, own) {
                at
            } else {
                scanned.tokens.len()
            };
            if let Some(k) = declaration(&source.text, &scanned, name, end) {
                return Some(source.span(scanned.tokens[k].range.clone()));
            }
            if source.path.is_some() || source.name.starts_with(LIBRARY) {
                return None;
            }
        }
        None
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
            if called { k -= 1 } else { break }
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

    use crate::reader::dropped::Last;
    use crate::reader::rewrite::Kind;

    fn call_at(text: &str, name: &str) -> Vec<String> {
        let mut places = Places::default();
        let _ = places.add(
            "first",
            "a\nb",
            None,
            "",
            &|_| false,
            Kind::Script(Last::Dropped),
        );
        let compiled = places
            .add("t", text, None, "", &|_| false, Kind::Script(Last::Dropped))
            .unwrap();
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
