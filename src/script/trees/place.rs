//! Places in trees, and what is wrong there.

use std::fmt;

/// The way from the root of a tree to a part of it: `operands[1].name`.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// The tree itself.
    Root,
    /// A field of a map.
    Field(&'a Place<'a>, &'a str),
    /// An item of a list, counted from 0.
    Item(&'a Place<'a>, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Root => Ok(()),
            Place::Field(Place::Root, name) => f.write_str(name),
            Place::Field(of, name) => write!(f, "{of}.{name}"),
            Place::Item(of, k) => write!(f, "{of}[{k}]"),
        }
    }
}

impl Place<'_> {
    /// Says what is wrong here, in words that follow the place.
    pub fn wrong(&self, what: impl fmt::Display) -> Wrong {
        let what = match self {
            Place::Root => what.to_string(),
            place => format!("is wrong: `{place}` {what}"),
        };
        Wrong { what, help: None }
    }
}

/// A problem of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The place and what is expected there, in words that follow the name of the argument.
    pub what: String,
    /// A way to solve it.
    pub help: Option<String>,
}

impl Wrong {
    /// Adds what to do about it.
    #[must_use]
    pub fn help(self, help: Option<String>) -> Wrong {
        Wrong { help, ..self }
    }
}
