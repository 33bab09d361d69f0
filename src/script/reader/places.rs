//! Places: from Rhai's positions to stretches of the texts that people wrote.
//!
//! A Rhai position is a line and a column, without the text that it belongs to. The text that Rhai
//! reports beside it is wrong for closures that cross modules. So every text is compiled at lines
//! of its own: the line alone tells the text.

use super::lex;
use super::operands;
use super::rewrite::{self, Edit, Kind, Rewritten};
use crate::diag::{Sources, Span};
use crate::ir::Site;
use rhai::{AST, Position};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
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
    /// The number of lines before it in the file that people read, which may be another program's.
    skipped: usize,
    edits: Vec<Edit>,
}

/// All texts of a session.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// In order of their lines.
    sources: Vec<Arc<Source>>,
    next_line: usize,
    /// The lines before the next text in the file that people read.
    skipped: usize,
    /// The lines of texts that others imported.
    imported: Vec<Range<usize>>,
    /// For operators and calls, where their operands have variables that read as iterators.
    operands: HashMap<Position, Vec<Option<Position>>>,
    /// For calls, the variables that read as iterators in ranges among their arguments.
    in_ranges: HashMap<Position, Vec<(String, Position)>>,
}

impl Places {
    /// Registers a text and returns the text to compile; `None` if it has too many lines.
    ///
    /// `prefix` is compiled in front of it, and no position points there.
    pub fn add(
        &mut self,
        name: &str,
        text: &str,
        path: Option<PathBuf>,
        prefix: &str,
        is_declared: &dyn Fn(&str) -> bool,
        kind: Kind,
    ) -> Option<String> {
        let rewritten = rewrite::rewrite(text, is_declared, kind);
        self.add_rewritten(name, text, path, prefix, rewritten)
    }

    /// The same for a text that was rewritten.
    pub fn add_rewritten(
        &mut self,
        name: &str,
        text: &str,
        path: Option<PathBuf>,
        prefix: &str,
        mut rewritten: Rewritten,
    ) -> Option<String> {
        let lines = text.matches('\n').count() + 1;
        if lines > MAX_LINE {
            return None;
        }
        if self.next_line + lines > MAX_LINE {
            // Only a session of very many lines comes here: old ones lose their places.
            self.start_again(lines);
        }
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
            skipped: std::mem::take(&mut self.skipped),
            edits: rewritten.edits,
        }));
        let mut compiled = "\n".repeat(first_line);
        compiled.push_str(prefix);
        // Hide what Rhai does not accept: a line `#!` may become longer, a byte order mark may not.
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

    /// The next text is on this line of the file that people read, counted from 1.
    pub fn next_is_on(&mut self, line: usize) {
        self.skipped = line.saturating_sub(1);
    }

    /// The text that was added last is a module's. That is never forgotten, so that code of a
    /// module cannot pass for the user's.
    pub fn import(&mut self) {
        if let Some(source) = self.sources.last() {
            self.imported.push(source.first_line..self.next_line);
        }
    }

    /// Whether the user runs the text at a position: the script itself, a line of the REPL, or
    /// standard input. Modules and the library are others' texts.
    pub fn is_of_user(&self, position: Position) -> bool {
        let Some(line) = position.line() else {
            return false;
        };
        let is_imported = self.imported.iter().any(|i| i.contains(&(line - 1)));
        self.source(position).is_some() && !is_imported && !self.is_library(position)
    }

    /// Frees the lines of the user's earlier texts for a text of `lines` lines. The library comes
    /// first and stays. Modules also stay, unless that leaves too few lines.
    fn start_again(&mut self, lines: usize) {
        let library = self
            .sources
            .iter()
            .take_while(|s| s.name.starts_with(LIBRARY));
        let library = library.count();
        let after = |line: &usize| line + lines <= MAX_LINE;
        let modules = self.imported.iter().map(|i| i.end).max();
        let first = self.sources.get(library).map(|s| s.first_line);
        let start = modules.filter(after).or(first.filter(after)).unwrap_or(0);
        let stays = |position: &Position| position.line().is_some_and(|line| line <= start);
        self.sources.retain(|s| s.first_line < start);
        self.operands.retain(|position, _| stays(position));
        self.in_ranges.retain(|position, _| stays(position));
        self.next_line = start;
    }

    /// Registers the syntax tree of the text that was added last.
    pub fn compiled(&mut self, ast: &AST) {
        self.operands.extend(operands::operands(ast));
        self.in_ranges.extend(operands::in_ranges(ast));
    }

    /// The variables that read as iterators in ranges among the arguments of a call, with the
    /// iterators whose ranges these are.
    pub fn in_ranges(&self, position: Position) -> &[(String, Position)] {
        self.in_ranges.get(&position).map_or(&[], Vec::as_slice)
    }

    /// The position of a variable that reads as an iterator, in an operand of the operator at
    /// `position` or an argument of the call there. Operands count from 0.
    pub fn variable(&self, position: Position, operand: usize) -> Option<Position> {
        *self.operands.get(&position)?.get(operand)?
    }

    /// Forgets a text that nothing in the session refers to.
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

    /// The texts up to one of them, the last one first.
    pub fn up_to(&self, source: &Source) -> impl Iterator<Item = &Arc<Source>> {
        let later = move |s: &&Arc<Source>| s.first_line > source.first_line;
        self.sources.iter().rev().skip_while(later)
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
            line: u32::try_from(source.skipped + line + 1).ok()?,
            column: u32::try_from(column + 1).ok()?,
            invocation: None,
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

    /// Every word in the texts of the user.
    pub fn words(&self) -> HashSet<String> {
        let of_user = |s: &&Arc<Source>| s.path.is_some() || !s.name.starts_with(LIBRARY);
        let mut words = HashSet::new();
        for source in self.sources.iter().filter(of_user) {
            let scanned = lex::scan(&source.text);
            for (k, token) in scanned.tokens.iter().enumerate() {
                if token.kind == lex::TokenKind::Word {
                    words.insert(scanned.text(&source.text, k).to_owned());
                }
            }
        }
        words
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
    /// A stretch of the text.
    pub fn span(&self, range: std::ops::Range<usize>) -> Span {
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
    pub fn offset(&self, position: Position) -> Option<usize> {
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
