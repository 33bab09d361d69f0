//! Completion at the end of a text.
//!
//! `place` finds where in a script the text ends: in a string, in a call, behind a value. `script`
//! knows the names that can follow there. Commands and their arguments are here.

mod candidate;
mod place;
mod script;

#[cfg(test)]
mod tests;

pub use candidate::{Candidate, Completion};

use super::Repl;
use super::commands::{Completes, TABLE};
use crate::bench;
use crate::script::{Concept, TOPICS, scan};
use candidate::{candidate, loops, of, of_files};
use place::open_call;

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
            let all = TABLE.all().map(|c| {
                let about = format!("{} {}", c.arguments, c.help);
                candidate(c.name, about.trim())
            });
            return of(base, command, all.collect());
        };
        let named = TABLE.named(name);
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
            Completes::Loop => {
                let from = rest.rfind(' ').map_or(0, |k| k + 1);
                let nests = self.session.nests().into_iter();
                let nests = plain(nests.map(|(name, _)| name).collect());
                let candidates = match self.subject("") {
                    Ok(subject) if from == 0 => {
                        loops(&subject.nests).into_iter().chain(nests).collect()
                    }
                    _ => nests,
                };
                of(start + from, &rest[from..], candidates)
            }
        }
    }

    fn topics(&self) -> Vec<Candidate> {
        let topics = TOPICS.iter().map(|(topic, about)| candidate(topic, about));
        let groups = TABLE.0.iter().map(|g| candidate(g.topic, g.about));
        let all = TABLE.all().map(|c| candidate(c.name, c.help));
        let catalog = self.catalog();
        let functions = catalog.iter().map(|e| candidate(&e.name, &e.signature));
        let concepts = Concept::all().map(|c| candidate(c.title, c.sentence()));
        let (topic, about) = Concept::TOPIC;
        let about = std::iter::once(candidate(topic, about));
        let topics = about.chain(concepts).chain(topics);
        topics.chain(groups).chain(all).chain(functions).collect()
    }
}
