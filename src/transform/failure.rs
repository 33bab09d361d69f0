//! Why an operation did not do what was asked, and where.

use super::error::ErrorKind;
use crate::ir::{Loop, Name, Nest, Tree};

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

impl<T: Into<ErrorKind>> From<T> for Error {
    fn from(kind: T) -> Error {
        Error::new(kind.into())
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

    /// What would be legal instead, or how to find out.
    pub fn help(&self) -> Option<String> {
        let help = self.kind.help();
        let has_loops = |l: &Loop| l.body.iter().any(|t| matches!(t, Tree::Loop(_)));
        let loops = self.nest.iter().flat_map(Nest::loops);
        let mut culprits = loops.filter(|(_, l)| self.culprits.contains(&l.name));
        if self.op != "unroll" || !culprits.any(|(_, l)| has_loops(l)) {
            return help;
        }
        let jam = "`unroll_and_jam` keeps one copy of the loops inside";
        Some(help.map_or(jam.to_owned(), |help| format!("{help}; {jam}")))
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
