//! Facts about the elements of a tensor of integers.

use super::affine::Affine;
use super::name::Name;
use std::fmt;

/// The facts about the entries of a tensor of integers that bounds are read from. The caller
/// promises them, and every run checks them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entries {
    /// The least entry.
    pub low: Affine,
    /// One past the greatest entry.
    pub high: Affine,
    pub order: Order,
    /// The tensor of bounds in whose rows `rows[i]..rows[i + 1]` each entry is greater than the one
    /// before it.
    pub rows: Option<Name>,
}

/// How entries at different places compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Nothing is known.
    #[default]
    Any,
    /// None is less than the one before it.
    Increasing,
    /// No two are equal.
    Distinct,
}

impl Order {
    /// The names, as scripts and texts give them.
    pub const WORDS: &[&str] = &["any", "increasing", "distinct"];

    /// The order of that name.
    pub fn from_word(word: &str) -> Option<Order> {
        match word {
            "any" => Some(Order::Any),
            "increasing" => Some(Order::Increasing),
            "distinct" => Some(Order::Distinct),
            _ => None,
        }
    }

    /// The name.
    pub fn word(self) -> &'static str {
        match self {
            Order::Any => "any",
            Order::Increasing => "increasing",
            Order::Distinct => "distinct",
        }
    }
}

/// `increasing in 0..n` or `sorted(ptr) in 0..n`, as declarations have it.
impl fmt::Display for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.order != Order::Any {
            write!(f, "{} ", self.order.word())?;
        }
        if let Some(rows) = &self.rows {
            write!(f, "sorted({rows}) ")?;
        }
        write!(f, "in {}..{}", self.low, self.high)
    }
}

impl Entries {
    /// The facts with sizes replaced.
    #[must_use]
    pub fn at_sizes(&self, value: &dyn Fn(&Name) -> Option<Affine>) -> Entries {
        Entries {
            low: self.low.substitute(value),
            high: self.high.substitute(value),
            ..self.clone()
        }
    }
}
