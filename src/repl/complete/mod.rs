//! Completion at the end of a text.
//!
//! `place` finds where in a script the text ends: in a string, in a call, behind a value. `script`
//! knows the names that can follow there. Commands and their arguments are here.

mod place;
mod script;

#[cfg(test)]
mod tests;

use super::Repl;
use super::commands::{self, Completes};
use crate::bench;
use crate::ir::Nest;
use crate::script::{Entry, TOPICS, scan};
use place::open_call;

/// The candidates that may replace the end of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Where the part to be replaced starts, in bytes.
    pub start: usize,
    /// The candidates.
    pub candidates: Vec<Candidate>,
}

/// A candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The text.
    pub text: String,
    /// Its signature or its type; may be empty.
    pub about: String,
}

impl Repl {
    /// The candidates that may follow `text`. With `is_patient`, calls without effects are
    /// evaluated to find the type of their results.
    pub fn completion(&mut self, text: &str, is_patient: bool) -> Completion {
        if let Some(command) = text.trim_start().strip_prefix(':') {
            return self.of_command(text, command);
        }
        if let Some(name) = text.strip_prefix('?') {
            return of(text.len() - name.len(), name, self.topics());
        }
        self.of_script(text, is_patient)
    }

    /// The hint shown behind the end of a text: the remainder of the only name that can follow, and
    /// its signature, or that of the call being written.
    pub fn hint(&mut self, text: &str) -> Option<(String, String)> {
        let Completion { start, candidates } = self.completion(text, false);
        let typed = text.get(start..)?;
        let least = usize::from(typed.is_empty()) + 1;
        let mut starts = candidates.iter().filter(|c| c.text.starts_with(typed));
        if let (Some(only), None) = (starts.next(), starts.next())
            && (typed.len() >= least || only.text.starts_with('"'))
        {
            let about = if only.about.is_empty() {
                String::new()
            } else {
                format!("  {}", only.about)
            };
            return Some((only.text[typed.len()..].to_owned(), about));
        }
        let tokens = scan(text);
        let call = open_call(text, &tokens)?;
        let entry = self
            .catalog()
            .iter()
            .find(|e| e.name == call.function)?
            .clone();
        Some((String::new(), format!("  {}", entry.signature)))
    }

    fn of_command(&mut self, text: &str, command: &str) -> Completion {
        let base = text.len() - command.len();
        let Some((name, rest)) = command.split_once(' ') else {
            let all = commands::all().map(|c| {
                let about = format!("{} {}", c.arguments, c.help);
                candidate(c.name, about.trim())
            });
            return of(base, command, all.collect());
        };
        let named = commands::named(name);
        let completes = named.first().map_or(Completes::Nothing, |c| c.completes);
        let start = text.len() - rest.len();
        let plain = |names: Vec<String>| names.iter().map(|n| candidate(n, "")).collect();
        match completes {
            Completes::Nothing => Completion::default(),
            Completes::File => of_files(start, rest),
            Completes::Branch => {
                let rows = self.timeline().rows();
                let names = rows.iter().map(|row| row.name.to_owned()).collect();
                of(start, rest, plain(names))
            }
            Completes::Kernel => {
                let all = bench::scripts().into_iter().chain(bench::polybench());
                of(start, rest, plain(all.map(|s| s.name).collect()))
            }
            Completes::Topic => of(start, rest, self.topics()),
            Completes::Nest => {
                let from = rest.rfind([',', ' ']).map_or(0, |k| k + 1);
                let nests = self.session.nests();
                let names = nests.into_iter().map(|(name, _)| name).collect();
                of(start + from, &rest[from..], plain(names))
            }
            Completes::Loop => match self.subject("") {
                Ok(subject) => of(start, rest, loops(&subject.nests)),
                Err(_) => Completion::default(),
            },
        }
    }

    fn topics(&self) -> Vec<Candidate> {
        let topics = TOPICS.iter().map(|(topic, about)| candidate(topic, about));
        let groups = commands::GROUPS.iter().map(|g| candidate(g.topic, g.about));
        let all = commands::all().map(|c| candidate(c.name, c.help));
        let catalog = self.catalog();
        let functions = catalog.iter().map(|e| candidate(&e.name, &e.signature));
        topics.chain(groups).chain(all).chain(functions).collect()
    }
}

fn candidate(text: &str, about: &str) -> Candidate {
    Candidate {
        text: text.to_owned(),
        about: about.to_owned(),
    }
}

fn of_entry(entry: &Entry) -> Candidate {
    candidate(&entry.name, &entry.signature)
}

/// The candidates that begin with the typed text, in order of their names.
fn of(start: usize, typed: &str, all: Vec<Candidate>) -> Completion {
    let mut candidates: Vec<Candidate> = all;
    candidates.retain(|c| c.text.starts_with(typed) && !c.text.starts_with("std_"));
    candidates.sort_by(|a, b| a.text.cmp(&b.text));
    candidates.dedup_by(|a, b| a.text == b.text);
    Completion { start, candidates }
}

fn loops(nests: &[Nest]) -> Vec<Candidate> {
    let loops = nests.iter().flat_map(|nest| nest.loops());
    let loops = loops.map(|(_, l)| candidate(l.name.as_str(), ""));
    loops.collect()
}

/// Files whose path begins with the typed text; directories end with a slash.
fn of_files(start: usize, typed: &str) -> Completion {
    let folder = typed.rfind('/').map_or("", |k| &typed[..=k]);
    let place = if folder.is_empty() { "." } else { folder };
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let slash = if entry.path().is_dir() { "/" } else { "" };
        (!name.starts_with('.')).then(|| candidate(&format!("{folder}{name}{slash}"), ""))
    });
    of(start, typed, names.collect())
}
