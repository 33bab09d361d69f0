//! The REPL: lines in, results out.
//!
//! [`Repl`] is the REPL without a terminal: it takes lines and returns outcomes. The terminal
//! around it, with editing and history, is in [`run`]. `commands` has one table of all commands;
//! `timeline` keeps the state behind each line; `complete` knows what can follow.

mod asm;
mod commands;
mod complete;
mod evaluate;
mod history;
mod later;
mod marks;
mod paint;
mod step;
mod terminal;
mod timeline;
mod tutorial;
mod wrap;

#[cfg(test)]
mod tests;

pub use complete::{Candidate, Completion};
pub use terminal::{Broken, run};
pub use tutorial::LESSONS;

use crate::advice::Moves;
use crate::ir::{Name, Nest};
use crate::legality::Reductions;
use crate::runtime::{Control, Writer};
use crate::script::{Entry, ScriptError, Session, Tuned, is_incomplete};
use crate::trial::{Settings, Variant};
use crate::verbs::{Bench, Forecast, Refusal};
use commands::failed_with;
use paint::Paint;
use std::path::Path;
use std::sync::Arc;
use timeline::{Moment, Subject, Timeline};

/// A REPL on a session, without a terminal.
pub struct Repl {
    session: Session,
    timeline: Timeline,
    /// The line that a line beginning with a dot continues.
    last: Option<Last>,
    /// The nest that was shown last, if that was after the last change.
    viewed: Option<Subject>,
    /// The lesson of the tutorial that is to be typed.
    lesson: Option<usize>,
    /// The functions that can be called, as of the last line.
    catalog: Arc<Vec<Entry>>,
    paint: Paint,
    width: usize,
    failed: bool,
}

/// The line that was typed last.
struct Last {
    text: String,
    /// The state before it.
    before: Arc<Moment>,
    /// Whether it changed anything.
    is_kept: bool,
}

/// The outcome of a line.
#[derive(Debug)]
pub enum Outcome {
    /// There is nothing to show.
    Nothing,
    /// Text to show.
    Text(String),
    /// The line failed, and the session is as it was before.
    Failed(Box<ScriptError>),
    /// The user wants to leave.
    Leave,
}

/// How wide text is where no window says it.
const WIDTH: usize = 100;

impl Repl {
    /// A REPL on `session`.
    pub fn new(mut session: Session) -> Repl {
        let timeline = Timeline::new(session.checkpoint());
        let catalog = Arc::new(session.catalog());
        Repl {
            session,
            timeline,
            last: None,
            viewed: None,
            lesson: None,
            catalog,
            paint: Paint(false),
            width: WIDTH,
            failed: false,
        }
    }

    /// The session of the REPL.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Sets how wide the window is, and whether text has colors.
    pub fn look(&mut self, width: usize, color: bool) {
        self.width = width.max(20);
        self.paint = Paint(color);
    }

    /// Whether a line failed.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Handles a line, which may hold line ends.
    pub fn handle_line(&mut self, line: &str) -> Outcome {
        let line = line.trim();
        self.session.begin();
        let reply = match line.strip_prefix(':') {
            Some(command) => commands::run(self, command),
            None if line.is_empty() => Ok(Outcome::Nothing),
            None => match self.words(line) {
                Some(reply) => reply,
                None => self.evaluate(line),
            },
        };
        let outcome = reply.unwrap_or_else(Outcome::Failed);
        self.failed |= matches!(outcome, Outcome::Failed(_));
        match outcome {
            Outcome::Failed(_) | Outcome::Leave => outcome,
            outcome => self.with_next_lesson(line, outcome),
        }
    }

    /// Lines that people type for commands.
    fn words(&mut self, line: &str) -> Option<commands::Reply> {
        if let Some(name) = line.strip_prefix('?') {
            return Some(commands::run(self, &format!("help {name}")));
        }
        let bare = line.trim_end_matches(';').trim_end_matches("()");
        let is_variable = |name: &str| self.session.variables().iter().any(|v| v == name);
        match bare {
            "quit" | "exit" | "help" if !is_variable(bare) => Some(commands::run(self, bare)),
            _ => {
                let rest = bare.strip_prefix("help")?;
                let inner = rest.strip_prefix('(').and_then(|r| r.strip_suffix(')'));
                let name = inner.or(rest.strip_prefix(' '))?;
                let name = name.trim().trim_matches('"');
                let is_name = |c: char| c.is_alphanumeric() || "_:".contains(c);
                let asks = !name.is_empty() && name.chars().all(is_name);
                asks.then(|| commands::run(self, &format!("help {name}")))
            }
        }
    }

    fn evaluate(&mut self, line: &str) -> commands::Reply {
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

    /// The writer of the user's files.
    fn writer(&self) -> Writer {
        self.session.bench().lock().writer()
    }

    fn paint(&self) -> Paint {
        self.paint
    }

    fn width(&self) -> usize {
        self.width
    }

    fn timeline(&mut self) -> &mut Timeline {
        &mut self.timeline
    }

    fn catalog(&self) -> Arc<Vec<Entry>> {
        self.catalog.clone()
    }

    fn reductions(&self) -> Reductions {
        self.session.bench().lock().settings.reductions
    }

    fn settings(&self) -> Settings {
        self.session.bench().lock().settings.clone()
    }

    fn control(&self) -> Control {
        self.session.bench().lock().control.clone()
    }

    /// The nests that an argument of a command is about. Without an argument, the nests made or
    /// shown last.
    fn subject(&mut self, argument: &str) -> Result<Subject, Box<ScriptError>> {
        let argument = argument.trim();
        if argument.is_empty() {
            let now = self.timeline.now();
            let subject = self.viewed.clone().or_else(|| now.subject.clone());
            return subject.ok_or_else(|| {
                failed_with(
                    "no variable holds a nest",
                    "`let l = build(C);` makes one; `:kernels mm` loads a kernel",
                )
            });
        }
        let nests = self.session.nests_of(argument).map_err(|error| {
            let known = self.session.nests();
            let behind = |name: &str| argument.strip_prefix(name)?.strip_prefix(' ');
            let apart = known
                .iter()
                .find_map(|(name, _)| Some((name, behind(name)?)));
            match apart {
                Some((name, rest)) => failed_with(
                    format!("`{argument}` is not a nest"),
                    format!("commas are between arguments: `{name}, {}`", rest.trim()),
                ),
                None => Box::new(error),
            }
        })?;
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let label = nests.last().and_then(Nest::label).map(Name::to_string);
        let name = if argument.chars().all(is_name) {
            argument.to_owned()
        } else {
            label.unwrap_or_else(|| "it".to_owned())
        };
        if nests.is_empty() {
            Err(failed_with(
                format!("`{argument}` must be a nest, or a list of nests"),
                "`build(C)` makes a nest of a tensor that something was assigned to",
            ))
        } else {
            Ok(Subject { name, nests })
        }
    }

    /// The subject as a variant. Its last nest also gets the label of the variant.
    fn variant(subject: Subject) -> Variant {
        let Subject { name, mut nests } = subject;
        if let (Some(last), Ok(name)) = (nests.pop(), Name::new(&name)) {
            nests.push(last.labelled(name));
        }
        Variant { label: name, nests }
    }

    /// Calls a verb on the session's workbench.
    fn verb<T: Send>(
        &mut self,
        verb: &str,
        act: impl FnOnce(&Bench) -> Result<T, Refusal> + Send,
    ) -> Result<T, Box<ScriptError>> {
        self.session.verb(verb, act).map_err(Box::new)
    }

    fn forecast(&self) -> Forecast {
        Forecast::of(&self.control())
    }

    fn moves_of(&mut self, nest: &Nest, at: &str) -> Result<Arc<Moves>, Box<ScriptError>> {
        self.session.moves_of(nest, at).map_err(Box::new)
    }

    fn tuned(&mut self, nests: &[Nest], options: &str) -> Result<Tuned, Box<ScriptError>> {
        self.session.tuned(nests, options).map_err(Box::new)
    }

    /// Goes to a moment of the timeline.
    fn go(&mut self, moment: &Moment) {
        self.session.restore(&moment.state);
        self.catalog = Arc::new(self.session.catalog());
        self.last = None;
        self.viewed = None;
    }

    fn reset(&mut self) {
        let first = self.timeline.first();
        self.go(&first);
        let mut moment = Moment::new(String::new(), self.session.checkpoint(), None);
        moment.resets = true;
        self.timeline.push(moment);
    }

    /// Runs the script in a file as one line.
    pub fn load(&mut self, path: &Path, is_quiet: bool) -> commands::Reply {
        let nests = self.session.nests();
        let text = self.session.load(path, is_quiet).map_err(Box::new)?;
        Ok(self.loaded(text, &nests))
    }

    fn load_text(&mut self, name: &str, text: &str, is_quiet: bool) -> commands::Reply {
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

    /// Whether more has to follow before a text can be handled.
    pub fn goes_on(text: &str) -> bool {
        let first = text.trim_start();
        !first.starts_with([':', '?']) && is_incomplete(text)
    }
}
