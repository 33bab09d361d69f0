//! Names of tensors, iterators and loops.
//!
//! A name is checked once, at its entry, and trusted from then on. `codegen::symbol` renames names
//! that the language of the generated code reserves. Derived names (`i_o`, `i_i`, `i4`) are
//! deterministic. They are built from checked names and need no second check.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// An identifier: ASCII letters, digits and `_`, at most 63. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<str>);

/// Why a text is not a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text is empty.
    #[error("a name cannot be empty")]
    Empty,
    /// The text contains a character that names cannot have.
    #[error("`{name}` is not a name: {}", describe(*.bad, *.first))]
    NotAnIdentifier {
        name: String,
        /// The first character at fault.
        bad: char,
        /// Whether it is the first character of the text.
        first: bool,
    },
    /// The text starts like the names that [`Name::generated`] makes.
    #[error("`{0}` is reserved: a name cannot start with `_`")]
    Reserved(String),
    /// The text is longer than a name may be.
    #[error("a name of {0} characters is too long: at most 63 are allowed")]
    TooLong(usize),
}

fn describe(bad: char, first: bool) -> String {
    match (bad, first) {
        (c, true) if c.is_ascii_digit() => format!("it starts with the digit `{c}`"),
        (' ', _) => "it holds a space".to_owned(),
        (c, _) if c.is_control() => format!("it holds the control character {c:?}"),
        (c, _) => format!("a name cannot contain `{c}`"),
    }
}

impl Name {
    /// Checks that `text` can name a tensor, an iterator or a kernel.
    ///
    /// # Errors
    /// [`NameError`] says what is wrong with it.
    pub fn new(text: &str) -> Result<Name, NameError> {
        let Some(first) = text.chars().next() else {
            return Err(NameError::Empty);
        };
        let bad = if first.is_ascii_alphabetic() || first == '_' {
            text.chars()
                .find(|c| !c.is_ascii_alphanumeric() && *c != '_')
        } else {
            Some(first)
        };
        if let Some(bad) = bad {
            let name = text.chars().take(40).collect();
            let first = bad == first;
            return Err(NameError::NotAnIdentifier { name, bad, first });
        }
        if text.len() > 63 {
            return Err(NameError::TooLong(text.len()));
        }
        if text.starts_with('_') {
            return Err(NameError::Reserved(text.to_owned()));
        }
        Ok(Name(text.into()))
    }

    /// The iterator of an operation that names none, numbered from 1: `_1`, `_2` …
    ///
    /// `build` renames such iterators. Scripts cannot write them.
    pub fn generated(number: usize) -> Name {
        Name::trusted(format!("_{number}"))
    }

    /// A name that is built from checked names.
    pub(super) fn trusted(text: String) -> Name {
        Name(text.into())
    }

    pub fn is_generated(&self) -> bool {
        self.0.starts_with('_')
    }

    /// A name derived from this one: `i` and `o` give `i_o`.
    pub fn derived(&self, suffix: impl fmt::Display) -> Name {
        Name::trusted(format!("{}_{suffix}", self.0))
    }

    /// The iterator that TeML gives to nesting level `level` (§2): `i1`, `i2` …
    pub fn of_level(level: usize) -> Name {
        Name::trusted(format!("i{level}"))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_texts_that_are_not_identifiers() {
        for text in ["", "A; system(\"rm\")", "3x", "a b", "_x", "é", "a\nb"] {
            assert!(Name::new(text).is_err(), "{text:?} was accepted");
        }
        for text in ["A", "Dt", "i_o", "i1", "kh", "a_very_long_name"] {
            assert!(Name::new(text).is_ok(), "{text:?} was refused");
        }
    }
}
