//! Lines of a script: evaluated, shown, and kept if they change anything.

use super::failure::failed_with;
use super::timeline::{Moment, Subject};
use super::{Last, Outcome, Repl, Reply, step};
use crate::ir::{Name, Nest};
use crate::script::{Shown, Type, scan};
use std::path::Path;
use std::sync::Arc;

/// After a line that made more nests than this, the last ones are told of.
const TOLD: usize = 3;

impl Repl {
    /// Evaluates a line, or what it continues.
    pub(super) fn evaluate(&mut self, line: &str) -> Reply {
        let continued = line.starts_with('.') && !line.starts_with("..");
        let Some(last) = self.last.take().filter(|_| continued) else {
            return if continued {
                Err(failed_with(
                    "there is no line that this one could continue",
                    "a line that begins with a dot continues the one before",
                ))
            } else {
                self.step(line, None)
            };
        };
        let text = format!("{}\n    {line}", last.text.trim_end().trim_end_matches(';'));
        let now = self.timeline.now();
        self.session.restore(&last.before.state);
        let reply = self.step(&text, Some(&last));
        if reply.is_err() {
            self.session.restore(&now.state);
            self.last = Some(last);
        }
        reply
    }

    /// Evaluates a line, in place of `last` if it continues that one.
    pub(super) fn step(&mut self, line: &str, last: Option<&Last>) -> Reply {
        let before = match last {
            Some(last) => last.before.clone(),
            None => self.timeline.now(),
        };
        let nests = self.session.nests();
        let contents = self.contents();
        let shown = self
            .session
            .eval_shown(line, self.width)
            .map_err(Box::new)?;
        let is_kept = shown.is_none() || assigns(line) || contents != self.contents();
        let made = self.made(&nests);
        let subject = match (made.last(), &shown) {
            (Some((name, nest)), _) => Some((name.clone(), nest.clone())),
            (None, Some(Shown::Nest(nest))) => {
                let label = nest.label().map_or("it".to_owned(), Name::to_string);
                Some((label, nest.clone()))
            }
            _ => None,
        };
        let subject = subject.map(|(name, nest)| Subject {
            name,
            nests: vec![nest],
        });
        if is_kept {
            let subject = subject.or_else(|| before.subject.clone());
            let moment = Moment::new(line.to_owned(), self.session.checkpoint(), subject);
            if last.is_some_and(|last| last.is_kept) {
                self.timeline.replace(moment)
            } else {
                self.timeline.push(moment)
            }
            self.catalog = Arc::new(self.session.catalog());
            self.viewed = None;
        } else if let Some(subject) = subject {
            self.viewed = Some(subject);
        }
        self.last = Some(Last {
            text: line.to_owned(),
            before,
            is_kept,
        });
        let mut texts: Vec<String> = shown.map(|shown| self.painted(shown)).into_iter().collect();
        texts.extend(self.told(&made, &nests));
        texts.extend(self.lone_name(line));
        Ok(if texts.is_empty() {
            Outcome::Nothing
        } else {
            Outcome::Text(texts.join("\n"))
        })
    }

    /// Runs the script in a file as one line.
    pub fn load(&mut self, path: &Path, is_quiet: bool) -> Reply {
        let nests = self.session.nests();
        let text = self.session.load(path, is_quiet).map_err(Box::new)?;
        Ok(self.loaded(text, &nests))
    }

    pub(super) fn load_text(&mut self, name: &str, text: &str, is_quiet: bool) -> Reply {
        let nests = self.session.nests();
        let loaded = self.session.load_text(name, text, is_quiet);
        loaded.map_err(Box::new)?;
        Ok(self.loaded(text.to_owned(), &nests))
    }

    fn loaded(&mut self, text: String, nests: &[(String, Nest)]) -> Outcome {
        let made = self.made(nests);
        let subject = made.last().map(|(name, nest)| Subject {
            name: name.clone(),
            nests: vec![nest.clone()],
        });
        let subject = subject.or_else(|| self.timeline.now().subject.clone());
        let moment = Moment::new(text, self.session.checkpoint(), subject);
        self.timeline.push(moment);
        self.catalog = Arc::new(self.session.catalog());
        (self.last, self.viewed) = (None, None);
        let told = self.told(&made, nests);
        if told.is_empty() {
            Outcome::Nothing
        } else {
            Outcome::Text(told.join("\n"))
        }
    }

    fn painted(&self, shown: Shown) -> String {
        match shown {
            Shown::Nest(nest) => self.paint.nest(&nest),
            Shown::Code(text) => self.paint.c(&text),
            Shown::Script(text) => self.paint.script(&text),
            Shown::Text(text) => text,
        }
    }

    /// Lists and maps, which lines change without an assignment.
    fn contents(&self) -> Vec<String> {
        let variables = self.session.variables().into_iter();
        let lists = variables.filter(|name| {
            let held = self.session.type_of(name);
            matches!(held, Some(Type::List | Type::Map))
        });
        lists
            .filter_map(|name| self.session.show_variable(&name))
            .collect()
    }

    /// The nests that variables hold and did not hold before.
    fn made(&self, before: &[(String, Nest)]) -> Vec<(String, Nest)> {
        let is_new = |(name, nest): &(String, Nest)| {
            let known = before.iter().find(|(n, _)| n == name);
            known.is_none_or(|(_, old)| old != nest || old.path().len() != nest.path().len())
        };
        let nests = self.session.nests().into_iter();
        nests.filter(is_new).collect()
    }

    /// A line for each nest that a line has made.
    fn told(&self, made: &[(String, Nest)], before: &[(String, Nest)]) -> Vec<String> {
        let skipped = made.len().saturating_sub(TOLD);
        if made.is_empty() {
            return Vec::new();
        }
        let (reductions, forecast) = (self.reductions(), self.forecast());
        let lines = made[skipped..]
            .iter()
            .map(|(name, nest)| step::line(name, nest, before, reductions, &forecast, self.paint));
        let mut lines: Vec<String> = lines.collect();
        match skipped {
            0 => {}
            1 => lines.insert(0, "1 more nest".to_owned()),
            more => lines.insert(0, format!("{more} more nests")),
        }
        lines
    }

    /// A hint for a name alone that is taken as an iterator.
    fn lone_name(&self, line: &str) -> Option<String> {
        let name = line.trim_end_matches(';');
        let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_known = self.session.variables().iter().any(|v| v == name);
        if !is_word || is_known || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
            return None;
        }
        Some(format!(
            "nothing is named `{name}`, so it is an iterator; `:help` lists commands"
        ))
    }
}

/// Whether the text of a line may change variables or functions.
fn assigns(line: &str) -> bool {
    let scanned = scan(line);
    (0..scanned.tokens.len()).any(|k| {
        let text = scanned.text(line, k);
        let is_assignment = text.ends_with('=') && !matches!(text, "==" | "!=" | "<=" | ">=");
        is_assignment || matches!(text, "let" | "const" | "fn" | "import")
    })
}
