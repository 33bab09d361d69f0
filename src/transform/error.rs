//! Why an operation did not do what was asked: values, rendered in one place (`diag`).

use crate::ir::{Name, Nest};

/// An error of an operation. The core knows no script positions: the boundary adds them.
#[derive(Clone, Debug)]
pub struct Error {
    /// The operation; empty until [`Error::in_op`] sets it.
    pub op: &'static str,
    /// The parameter at fault, counted from 0; `None` when it is not a single one.
    pub argument: Option<usize>,
    /// What is wrong.
    pub kind: ErrorKind,
    /// The nest that was to be transformed.
    pub nest: Option<Nest>,
    /// Its loops at fault.
    pub culprits: Vec<Name>,
}

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

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ErrorKind {
    /// A bug in the table of operations.
    #[error("arguments do not match the declared parameters")]
    Misdeclared,
}

impl ErrorKind {
    /// The class.
    pub fn class(&self) -> Class {
        match self {
            ErrorKind::Misdeclared => Class::Bug,
        }
    }

    /// What would be legal instead, or how to find out.
    pub fn help(&self) -> Option<String> {
        match self {
            ErrorKind::Misdeclared => Some("please report this".to_owned()),
        }
    }
}

impl Error {
    /// An error about no argument and no nest in particular.
    pub fn new(kind: ErrorKind) -> Error {
        Error {
            op: "",
            argument: None,
            kind,
            nest: None,
            culprits: Vec::new(),
        }
    }

    /// Names the argument at fault, counted from 0.
    #[must_use]
    pub fn at_argument(mut self, argument: usize) -> Error {
        self.argument = Some(argument);
        self
    }

    /// Attaches the nest and its loops at fault.
    #[must_use]
    pub fn on(mut self, nest: &Nest, culprits: impl IntoIterator<Item = Name>) -> Error {
        self.nest = Some(nest.clone());
        self.culprits = culprits.into_iter().collect();
        self
    }

    /// Names the operation, unless an inner one has been named.
    #[must_use]
    pub fn in_op(mut self, op: &'static str) -> Error {
        if self.op.is_empty() {
            self.op = op;
        }
        self
    }
}
