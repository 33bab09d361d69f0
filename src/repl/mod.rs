//! The REPL: lines in, results out.
//!
//! [`Repl`] is the REPL without a terminal: it takes lines and returns outcomes. The terminal
//! around it, with editing and history, is in [`run`]. `line` tells commands from lines of
//! a script, which `evaluate` runs; `commands` has one table of all commands; `timeline` keeps the
//! state behind each line; `complete` knows what can follow.

mod arguments;
mod asm;
mod commands;
mod complete;
mod evaluate;
mod failure;
mod history;
mod later;
mod line;
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
use failure::failed_with;
use paint::Paint;
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

/// The reply of a command.
pub type Reply = Result<Outcome, Box<ScriptError>>;

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
        // Tables are complete unless the window is narrower than usual.
        let is_narrow = self.width < WIDTH;
        let columns = if is_narrow { self.width } else { usize::MAX };
        self.session.bench().lock().columns = columns;
        self.paint = Paint(color);
    }

    /// Whether a line failed.
    pub fn has_failed(&self) -> bool {
        self.failed
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

    /// Whether more has to follow before a text can be handled.
    pub fn goes_on(text: &str) -> bool {
        let first = text.trim_start();
        !first.starts_with([':', '?']) && is_incomplete(text)
    }
}
