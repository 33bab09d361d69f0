//! Why an operation did not do what was asked, and where: a value, rendered in one place (`diag`).
//!
//! Each operation makes its refusals in its own file: class, text and help together. What several
//! operations say is in `refusals.rs`; what the rooms below found becomes an error in
//! `findings.rs`.

use crate::ir::{Name, Nest};
use std::fmt;

/// The classes of errors, which strategies and messages keep apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The operation is not possible on this tree; on another it would be.
    Refusal,
    /// The call itself is wrong: no tree would make it right.
    Mistake,
    /// It is possible, but beyond what the tool supports.
    Limitation,
    /// The tool is at fault.
    Bug,
}

impl Class {
    /// The word for it in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Refusal => "refusal",
            Class::Mistake => "mistake",
            Class::Limitation => "limitation",
            Class::Bug => "bug",
        }
    }
}

/// An error of an operation. The core knows no script positions: the boundary adds them.
#[derive(Clone, Debug)]
pub struct Error {
    /// The operation; empty until it is known.
    pub op: &'static str,
    /// Whose fault it is.
    pub class: Class,
    /// What is wrong.
    pub text: String,
    /// What would be legal instead, or how to find out.
    pub help: Option<String>,
    /// The parameter at fault; `None` when it is not a single one.
    pub parameter: Option<&'static str>,
    /// Its argument's number, counted from 0, once the operation is known.
    pub argument: Option<usize>,
    /// The nest that was to be transformed.
    pub nest: Option<Nest>,
    /// Its loops at fault.
    pub culprits: Vec<Name>,
    /// What is wrong with a text that is the argument at fault, and where.
    pub places: Vec<Place>,
}

/// What is wrong at a place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The bytes of the text.
    pub span: std::ops::Range<usize>,
    /// Whose fault it is.
    pub class: Class,
    /// What is wrong.
    pub text: String,
    /// What to write instead.
    pub help: Option<String>,
}

/// What an error can blame.
pub trait Parameter {
    /// The name in signatures.
    fn name(&self) -> &'static str;
}

/// What is not possible on this tree, and would be on another one.
pub fn refusal(text: impl Into<String>) -> Error {
    Error::new(Class::Refusal, text)
}

/// What no tree would make right.
pub fn mistake(text: impl Into<String>) -> Error {
    Error::new(Class::Mistake, text)
}

/// What is beyond the tool.
pub fn limitation(text: impl Into<String>) -> Error {
    Error::new(Class::Limitation, text)
}

/// What only a bug of the tool brings about.
pub fn bug(text: impl Into<String>) -> Error {
    Error::new(Class::Bug, text).help("please report this")
}

impl Error {
    /// An error about no parameter and no nest in particular.
    pub fn new(class: Class, text: impl Into<String>) -> Error {
        Error {
            op: "",
            class,
            text: text.into(),
            help: None,
            parameter: None,
            argument: None,
            nest: None,
            culprits: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Says what would be legal instead, or how to find out.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Error {
        self.help = Some(help.into());
        self
    }

    /// Names the parameter at fault.
    #[must_use]
    pub fn at(mut self, parameter: &dyn Parameter) -> Error {
        self.parameter = Some(parameter.name());
        self
    }

    /// Attaches the nest and its loops at fault.
    #[must_use]
    pub fn on(mut self, nest: &Nest, culprits: impl IntoIterator<Item = Name>) -> Error {
        self.nest = Some(nest.clone());
        self.culprits = culprits.into_iter().collect();
        self
    }

    /// Names the operation, unless an inner one has been named; `number` says which of its
    /// arguments a parameter is.
    #[must_use]
    pub(super) fn in_op(
        mut self,
        op: &'static str,
        number: impl Fn(&str) -> Option<usize>,
    ) -> Error {
        if self.op.is_empty() {
            self.op = op;
            self.argument = self.parameter.and_then(number);
        }
        self
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
