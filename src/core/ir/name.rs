//! Names of tensors, iterators and loops.
//!
//! Every name may end up in generated C, so a name is checked once, at its entry, and trusted from
//! then on. `codegen::symbol` renames the identifiers that C reserves. Derived names (`i_o`, `i_i`,
//! `i4`) are deterministic. They are built from checked names and need no second check.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// A C11 identifier. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<str>);

/// Why a text is not a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text is empty.
    #[error("a name cannot be empty")]
    Empty,
    /// The text contains a character that C identifiers cannot have.
    #[error("`{name}` is not a name: {}", describe(*.bad, *.first))]
    NotAnIdentifier {
        name: String,
        /// The first character at fault.
        bad: char,
        /// Whether it is the first character of the text.
        first: bool,
    },
    #[error("`{0}` is a C keyword, and generated code uses tensor names as they are")]
    Keyword(String),
    /// The compiler reserves the name. For a function, C, its library or the generated code may
    /// reserve it.
    #[error(
        "`{0}` is reserved in generated C (the compiler, its library or teml's own code uses it)"
    )]
    Reserved(String),
    /// The text is longer than C compilers must distinguish.
    #[error("a name of {0} characters is too long: C distinguishes the first 63")]
    TooLong(usize),
}

fn describe(bad: char, first: bool) -> String {
    match (bad, first) {
        (c, true) if c.is_ascii_digit() => format!("it starts with the digit `{c}`"),
        (' ', _) => "it holds a space".to_owned(),
        (c, _) if c.is_control() => format!("it holds the control character {c:?}"),
        (c, _) => format!("a C identifier cannot contain `{c}`"),
    }
}

const KEYWORDS: &[&str] = &[
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
    "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
    "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef",
    "union", "unsigned", "void", "volatile", "while",
];

impl Name {
    /// Checks that `text` can name a tensor, an iterator or a kernel in generated C.
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
        if KEYWORDS.contains(&text) {
            return Err(NameError::Keyword(text.to_owned()));
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
        Name(format!("_{number}").into())
    }

    pub fn is_generated(&self) -> bool {
        self.0.starts_with('_')
    }

    /// A name derived from this one: `i` and `o` give `i_o`.
    pub fn derived(&self, suffix: impl fmt::Display) -> Name {
        Name(format!("{}_{suffix}", self.0).into())
    }

    /// The iterator that TeML gives to nesting level `level` (§2): `i1`, `i2` …
    pub fn of_level(level: usize) -> Name {
        Name(format!("i{level}").into())
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
    fn rejects_what_c_would_misread() {
        for text in [
            "",
            "double",
            "A; system(\"rm\")",
            "3x",
            "a b",
            "_x",
            "é",
            "a\nb",
        ] {
            assert!(Name::new(text).is_err(), "{text:?} was accepted");
        }
        for text in ["A", "Dt", "i_o", "i1", "kh", "a_very_long_name"] {
            assert!(Name::new(text).is_ok(), "{text:?} was refused");
        }
    }
}
