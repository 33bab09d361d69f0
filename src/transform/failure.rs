//! Why and where an operation failed. An error is a value, and one place renders it (`diag`).
//!
//! Each operation makes its refusals in its own file: class, text and help together. `refusals.rs`
//! has refusals that several operations share. `findings.rs` turns findings of the rooms below into
//! errors.

use crate::ir::{Name, Nest};
use crate::problem::Problem;
use std::fmt;

/// The classes of errors, which schedules and messages tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The operation is not possible on this tree, but on others it is.
    Refusal,
    /// The call itself is wrong: no tree would make it right.
    Mistake,
    /// The operation is possible, but the tool does not support it yet.
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

/// An error of an operation. The core knows no script positions: the script room adds them.
#[derive(Clone, Debug)]
pub struct Error {
    /// The operation; empty until it is known.
    pub op: &'static str,
    /// Whose fault it is.
    pub class: Class,
    /// The message.
    pub text: String,
    /// A legal alternative, or how to find one.
    pub help: Option<String>,
    /// The parameter at fault; `None` if there is no single one.
    pub parameter: Option<&'static str>,
    /// The position of its argument, counted from 0, once the operation is known.
    pub argument: Option<usize>,
    /// The nest that was to be transformed.
    pub nest: Option<Nest>,
    /// Its loops at fault.
    pub culprits: Vec<Name>,
    /// The mistakes in a text that is the argument at fault.
    pub places: Vec<Problem>,
}

/// A parameter that an error can blame.
pub trait Parameter {
    /// The name in signatures.
    fn name(&self) -> &'static str;
}

/// An error for an operation that is not possible on this tree, but is on others.
pub fn refusal(text: impl Into<String>) -> Error {
    Error::new(Class::Refusal, text)
}

/// An error for a call that is wrong on every tree.
pub fn mistake(text: impl Into<String>) -> Error {
    Error::new(Class::Mistake, text)
}

/// An error for a call that the tool does not support yet.
pub fn limitation(text: impl Into<String>) -> Error {
    Error::new(Class::Limitation, text)
}

/// An error that only a bug of the tool causes.
pub fn bug(text: impl Into<String>) -> Error {
    Error::new(Class::Bug, text).help("please report this")
}

impl Error {
    /// An error that blames no parameter and no nest.
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

    /// Adds a legal alternative, or how to find one.
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

    /// Names the operation, unless an inner operation is named already. `number` gives the position
    /// of a parameter's argument.
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
