//! Diagnostics: what a user is told, and its rendering.
//!
//! A diagnostic names places in named texts. It knows neither the scripting language nor how
//! positions came about; rooms further down build it and this room renders it.

mod operation;
mod render;

pub use render::color;

pub use operation::{CallPlace, in_nest, of_operation};

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The tool is at fault.
    Bug,
    /// The run ends here.
    Error,
    /// The run goes on.
    Warning,
}

/// A message with the places that it talks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The class, shown in brackets: `refusal`, `mistake`, `limitation`.
    pub code: Option<&'static str>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The places; the first primary one heads the excerpt.
    pub labels: Vec<Label>,
    /// Facts that help to understand it.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

/// A place and what is said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is said; may be empty.
    pub text: String,
    /// Whether this is the place at fault rather than a place that explains it.
    pub primary: bool,
}

/// A stretch of a named text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The name of the text.
    pub source: Arc<str>,
    /// Bytes.
    pub range: Range<usize>,
}

/// The texts that spans refer to, by name.
#[derive(Clone, Debug, Default)]
pub struct Sources(BTreeMap<Arc<str>, Arc<str>>);

impl Sources {
    /// Adds or replaces a text.
    pub fn insert(&mut self, name: Arc<str>, text: Arc<str>) {
        self.0.insert(name, text);
    }

    /// The text of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<str>> {
        self.0.get(name)
    }
}

impl Diagnostic {
    /// An error without places.
    pub fn error(message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code: None,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// A warning without places.
    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error(message)
        }
    }

    /// A fault of the tool itself.
    pub fn bug(message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Bug,
            help: Some("this is a bug in teml: please report it together with the script".into()),
            ..Diagnostic::error(message)
        }
    }

    /// Adds the place at fault, if it is known.
    #[must_use]
    pub fn at(mut self, span: Option<Span>, text: impl Into<String>) -> Diagnostic {
        let text = text.into();
        self.labels.extend(span.map(|span| Label {
            span,
            text,
            primary: true,
        }));
        self
    }

    /// Adds a place that explains, if it is known.
    #[must_use]
    pub fn see(mut self, span: Option<Span>, text: impl Into<String>) -> Diagnostic {
        let text = text.into();
        self.labels.extend(span.map(|span| Label {
            span,
            text,
            primary: false,
        }));
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Sets the help, if there is any.
    #[must_use]
    pub fn help(mut self, help: Option<String>) -> Diagnostic {
        self.help = help.or(self.help);
        self
    }
}
