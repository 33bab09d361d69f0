//! Index expressions and arrows.

use crate::ir::{Affine, Name};
use rhai::Dynamic;
use std::fmt;

/// An index expression. Scripts call it an iterator, which it usually is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// The expression.
    pub affine: Affine,
    /// Whether it is a name that nobody declared, taken as an iterator.
    pub undeclared: bool,
}

impl Index {
    /// The iterator `name`.
    pub fn iterator(name: Name, undeclared: bool) -> Index {
        Index {
            affine: Affine::iterator(name),
            undeclared,
        }
    }
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.affine.fmt(f)
    }
}

/// `from -> to`, not interpreted before an operation takes it.
#[derive(Clone, Debug)]
pub struct RawArrow {
    /// The left side.
    pub from: Dynamic,
    /// The right side.
    pub to: Dynamic,
}
