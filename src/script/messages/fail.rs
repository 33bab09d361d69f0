//! Failures: the errors that functions of this room raise into scripts.
//!
//! A failure is a script value, so `try … catch (e)` sees `e.message`, which ends with the help,
//! `e.help` alone and `e.op`; uncaught, it becomes a diagnostic.

use crate::diag::{Diagnostic, Span};
use crate::lang::Problem;
use crate::transform;
use rhai::{Dynamic, Engine, EvalAltResult, Position};
use std::sync::{Arc, Mutex, PoisonError};

/// An error in a function, and the argument at fault.
#[derive(Clone, Debug)]
pub struct Failure(Arc<Data>);

#[derive(Clone, Debug)]
struct Data {
    cause: Cause,
    op: String,
    signature: Option<String>,
    argument: Option<usize>,
    /// The parameter at fault, and the message about it.
    said: Option<(String, String)>,
    /// Whether the function that raised it says that its caller is wrong.
    of_caller: bool,
    /// Whether it refuses this nest, and the call itself is right.
    refusal: bool,
    notes: Vec<String>,
    help: Option<String>,
    /// A name that may be misspelt.
    misspelt: Option<String>,
    /// A variable whose declaration explains it.
    declared: Option<String>,
    /// The text that an operation could not read.
    unread: Option<Arc<Unread>>,
    position: Position,
}

/// The cause of a failure.
#[derive(Clone, Debug)]
pub enum Cause {
    /// An operation failed.
    Operation(transform::Error),
    /// A function of this room failed.
    Text(String),
    /// A text in another notation is wrong.
    Unread(Arc<Unread>),
    /// A closure raised it; taken when it is raised again.
    Closure(Arc<Mutex<Option<Box<EvalAltResult>>>>),
}

/// A text in another notation, and everything that is wrong with it.
#[derive(Clone, Debug)]
pub struct Unread {
    /// The file, or the name of the text.
    pub name: Arc<str>,
    pub text: Arc<str>,
    /// At least one.
    pub problems: Vec<Problem>,
    /// Where the text is in a script, if that is known: the name of that text and a byte.
    pub place: Option<(Arc<str>, usize)>,
}

impl Unread {
    /// A text and its problems.
    pub fn new(name: &str, text: &str, problems: Vec<Problem>) -> Unread {
        Unread {
            name: name.into(),
            text: text.into(),
            problems,
            place: None,
        }
    }

    /// One diagnostic for each problem. `place` says where the text is in a script: the name of
    /// that text and the byte at which it begins.
    pub fn diagnostics(&self, place: Option<&(Arc<str>, usize)>) -> Vec<Diagnostic> {
        let (source, start) = match place {
            Some((source, start)) => (source.clone(), *start),
            None => (self.name.clone(), 0),
        };
        let span = |range: &std::ops::Range<usize>| {
            let range = range.start + start..range.end + start;
            let source = source.clone();
            Some(Span { source, range })
        };
        let each = self.problems.iter().map(|problem| {
            let error = Diagnostic {
                code: problem.rule,
                ..Diagnostic::error(&problem.message)
            };
            let error = error.at(span(&problem.span), &problem.label);
            let related = problem.related.iter();
            let error = related.fold(error, |error, (range, text)| error.see(span(range), text));
            error.help(problem.help.clone())
        });
        each.collect()
    }
}

impl Failure {
    /// A failure with this message.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure::of(Cause::Text(message.into()), String::new())
    }

    /// The failure of an operation.
    pub fn operation(error: transform::Error) -> Failure {
        let op = error.op.to_owned();
        Failure::of(Cause::Operation(error), op)
    }

    /// The failure to read a text.
    pub fn unread(unread: Unread) -> Failure {
        Failure::of(Cause::Unread(Arc::new(unread)), String::new())
    }

    fn of(cause: Cause, op: String) -> Failure {
        Failure(Arc::new(Data {
            cause,
            op,
            signature: None,
            argument: None,
            said: None,
            of_caller: false,
            refusal: false,
            notes: Vec::new(),
            help: None,
            misspelt: None,
            declared: None,
            unread: None,
            position: Position::NONE,
        }))
    }

    fn with(mut self, change: impl FnOnce(&mut Data)) -> Failure {
        change(Arc::make_mut(&mut self.0));
        self
    }

    /// The failure of a closure that a native function called: it is passed on as it is.
    pub fn inside(error: Box<EvalAltResult>) -> Failure {
        let cell = Arc::new(Mutex::new(Some(error)));
        Failure::of(Cause::Closure(cell), String::new())
    }

    /// Says which text an operation could not read.
    #[must_use]
    pub fn reading(self, unread: Unread) -> Failure {
        self.with(|data| data.unread = Some(Arc::new(unread)))
    }

    /// The text that is wrong, if one is.
    pub fn text_at_fault(&self) -> Option<Arc<Unread>> {
        match &self.0.cause {
            Cause::Unread(unread) => Some(unread.clone()),
            _ => self.0.unread.clone(),
        }
    }

    /// Names the function and its signature, unless an inner one is named.
    #[must_use]
    pub fn in_function(self, name: &str, signature: String) -> Failure {
        if self.0.signature.is_some() {
            return self;
        }
        self.with(|data| {
            data.op = name.to_owned();
            data.signature = Some(signature);
        })
    }

    /// Names the argument at fault, counted from 0, the receiver included.
    #[must_use]
    pub fn argument(self, argument: usize) -> Failure {
        self.with(|data| data.argument = Some(argument))
    }

    /// Sets the message about the parameter at fault.
    #[must_use]
    pub fn said_of(self, parameter: &str, what: &str) -> Failure {
        self.with(|data| data.said = Some((parameter.to_owned(), what.to_owned())))
    }

    /// Blames the call of the function that raises it; the argument is that function's.
    #[must_use]
    pub fn of_caller(self) -> Failure {
        self.with(|data| data.of_caller = true)
    }

    /// Says that the call is right, and would be possible on another nest.
    #[must_use]
    pub fn refusal(self) -> Failure {
        self.with(|data| data.refusal = true)
    }

    /// Whether the call would be possible on another nest.
    pub fn is_refusal(&self) -> bool {
        match &self.0.cause {
            Cause::Operation(error) => error.class == transform::Class::Refusal,
            _ => self.0.refusal,
        }
    }

    /// Adds a note.
    #[must_use]
    pub fn note(self, note: impl Into<String>) -> Failure {
        self.with(|data| data.notes.push(note.into()))
    }

    /// Sets the help.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Failure {
        self.with(|data| data.help = Some(help.into()))
    }

    /// Says that `name` may be misspelt, so that the message suggests another.
    #[must_use]
    pub fn misspelt(self, name: impl Into<String>) -> Failure {
        self.with(|data| data.misspelt = Some(name.into()))
    }

    /// Says that the declaration of the variable `name` explains it.
    #[must_use]
    pub fn declared(self, name: impl Into<String>) -> Failure {
        self.with(|data| data.declared = Some(name.into()))
    }

    /// Says where it arose, if that is not the call of the function that raises it.
    #[must_use]
    pub fn at(self, position: Position) -> Failure {
        self.with(|data| data.position = position)
    }

    /// The error that carries the failure through the engine. The position stays with it, so
    /// that a script that catches it and throws it again does not hide where it arose.
    pub fn raise(self, position: Position) -> Box<EvalAltResult> {
        if let Cause::Closure(cell) = &self.0.cause {
            let raised = cell.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(error) = raised {
                return error;
            }
        }
        let failure = if self.0.position.is_none() {
            self.with(|data| data.position = position)
        } else {
            self
        };
        let position = failure.0.position;
        EvalAltResult::ErrorRuntime(Dynamic::from(failure), position).into()
    }

    /// The message alone.
    pub fn message(&self) -> String {
        match &self.0.cause {
            Cause::Text(text) => text.clone(),
            Cause::Unread(unread) => {
                let texts = unread.problems.iter().map(|p| p.message.as_str());
                texts.collect::<Vec<_>>().join("; ")
            }
            Cause::Closure(_) => "a function failed".to_owned(),
            Cause::Operation(error) => match error.op {
                "" => error.to_string(),
                op => format!("{op}: {}", error),
            },
        }
    }

    pub fn cause(&self) -> &Cause {
        &self.0.cause
    }

    /// The function; empty if it is none in particular.
    pub fn op(&self) -> &str {
        &self.0.op
    }

    /// The function's signature.
    pub fn signature(&self) -> Option<&str> {
        self.0.signature.as_deref()
    }

    pub fn argument_at_fault(&self) -> Option<usize> {
        self.0.argument
    }

    /// The parameter at fault, and the message about it.
    pub fn said(&self) -> Option<(&str, &str)> {
        let (parameter, what) = self.0.said.as_ref()?;
        Some((parameter, what))
    }

    /// Whether the call of the function that raised it is to blame.
    pub fn is_of_caller(&self) -> bool {
        self.0.of_caller
    }

    pub fn notes(&self) -> &[String] {
        &self.0.notes
    }

    pub fn help_text(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// The help of the function or operation that failed.
    fn any_help(&self) -> Option<String> {
        match &self.0.cause {
            Cause::Operation(error) => self.0.help.clone().or_else(|| error.help.clone()),
            _ => self.0.help.clone(),
        }
    }

    /// The message, followed by the help, if any, on a line of its own.
    fn full(&self) -> String {
        match self.any_help() {
            Some(help) => format!("{}\nhelp: {help}", self.message()),
            None => self.message(),
        }
    }

    /// The name that may be misspelt.
    pub fn misspelt_name(&self) -> Option<&str> {
        self.0.misspelt.as_deref()
    }

    /// The variable whose declaration explains it.
    pub fn declared_name(&self) -> Option<&str> {
        self.0.declared.as_deref()
    }

    /// Where it was raised.
    pub fn position(&self) -> Position {
        self.0.position
    }
}

/// Registers the properties of a failure, for scripts.
pub fn register(engine: &mut Engine) {
    engine
        .register_type_with_name::<Failure>("error")
        .register_get("message", |f: &mut Failure| f.full())
        .register_get("help", |f: &mut Failure| f.any_help().unwrap_or_default())
        .register_get("op", |f: &mut Failure| f.op().to_owned())
        .register_fn("to_string", |f: &mut Failure| f.full())
        .register_fn("to_debug", |f: &mut Failure| f.message());
}
