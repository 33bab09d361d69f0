//! Comparisons of linear expressions.

use super::linear::Linear;
use std::fmt;

/// A comparison of two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `=`
    Equal,
    /// `<=`
    LessOrEqual,
    /// `<`
    Less,
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Relation::Equal => "=",
            Relation::LessOrEqual => "<=",
            Relation::Less => "<",
        })
    }
}

/// Two expressions, and how they compare.
pub type Constraint = (Linear, Relation, Linear);
