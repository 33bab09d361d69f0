//! Problems of a text, with their places: of the notations, and of the texts of nests.

use std::ops::Range;

/// A stretch of a text, in bytes.
pub type Span = Range<usize>;

/// A problem of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The rule of the paper that is violated, or the class of the error, if it has a name.
    pub rule: Option<&'static str>,
    /// The problem, in one sentence.
    pub message: String,
    pub span: Span,
    /// The message at that place; may be empty.
    pub label: String,
    /// Other places, with their messages.
    pub related: Vec<(Span, String)>,
    /// How to solve it.
    pub help: Option<String>,
}

impl Problem {
    /// A problem at a place.
    pub fn new(span: &Span, message: impl Into<String>) -> Problem {
        Problem {
            rule: None,
            message: message.into(),
            span: span.clone(),
            label: String::new(),
            related: Vec::new(),
            help: None,
        }
    }

    /// An extent's name without a value.
    pub fn no_size(span: &Span, name: &str) -> Problem {
        Problem::new(span, format!("the size `{name}` has no value")).help(format!(
            "give it one: `--set {name}=100` on the command line, `#{{{name}: 100}}` in a script"
        ))
    }

    /// Names the rule that is violated.
    #[must_use]
    pub fn rule(mut self, rule: &'static str) -> Problem {
        self.rule = Some(rule);
        self
    }

    /// Adds a message at the place.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Problem {
        self.label = label.into();
        self
    }

    /// Adds a place that explains it.
    #[must_use]
    pub fn see(mut self, span: &Span, text: impl Into<String>) -> Problem {
        self.related.push((span.clone(), text.into()));
        self
    }

    /// Says how to solve it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }
}
