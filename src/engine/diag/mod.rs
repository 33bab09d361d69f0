//! Diagnostics: messages for the user, and how they are rendered.
//!
//! A diagnostic names places in named texts. It knows neither the scripting language nor the origin
//! of positions: other rooms build it, and this one renders it. The core never formats positions:
//! `script` adds them. Classes tell a refusal (not on this tree), a mistake (never), a limitation
//! (not yet) and a bug (please report) apart.

mod operation;
mod render;

pub use render::color;

pub use operation::{CallPlace, in_nest, of_operation};

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The tool is at fault.
    Bug,
    /// The run ends here.
    Error,
    /// The run goes on.
    Warning,
}

/// A message with the places that it refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    /// The class, shown in brackets: `refusal`, `mistake`, `limitation`.
    pub code: Option<&'static str>,
    /// The message, in one sentence.
    pub message: String,
    /// Places; the first primary one heads the excerpt.
    pub labels: Vec<Label>,
    /// Background facts.
    pub notes: Vec<String>,
    /// Advice for the user.
    pub help: Option<String>,
}

/// A place with a text about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    /// May be empty.
    pub text: String,
    /// Whether this is the place at fault rather than a place that explains it.
    pub primary: bool,
}

/// A range of a named text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The name of the text.
    pub source: Arc<str>,
    /// In bytes.
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

    /// Adds a place that explains the error, if it is known.
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
