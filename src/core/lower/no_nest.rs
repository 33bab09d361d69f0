//! Why `build` and `sweep` refuse an expression.

use super::partition::NoPartition;
use crate::analysis::shape;
use crate::ir::{Constant, Name};

/// Why an expression has no nest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoNest {
    /// Only assignments have nests (the where-clause of eq. 19).
    #[error("build needs an assignment, and this is {what}")]
    NotAnAssignment { what: &'static str },
    /// The target has no name.
    #[error("the assignment has no name yet")]
    Unnamed,
    /// An iterator of the value is missing in the target of a plain assignment.
    #[error(
        "`{iterator}` indexes the value but not the target {target}: which of its values should be assigned?"
    )]
    UnassignedIterator {
        iterator: Name,
        /// The target, indexed.
        target: String,
    },
    /// `sweep` reduces elements of the target, or sets all of it first.
    #[error("the value reads {read} while {target} is being assigned")]
    ReadsTarget {
        /// The access in the value.
        read: String,
        target: String,
    },
    /// Several iterations write one element.
    #[error("{target} does not name a different element for each value of `{iterator}`")]
    NotInjective {
        /// The target, indexed.
        target: String,
        iterator: Name,
    },
    /// A reduction into a target whose written elements form no box.
    #[error(
        "the reduction writes only some elements of the box around {target}, and such a set cannot be initialized"
    )]
    Scattered {
        /// The target, indexed.
        target: String,
    },
    /// A reduction into a target whose other elements get another number than it begins from.
    #[error(
        "the reduction `{reduction}` begins from {identity}, and {target} is {elsewhere} elsewhere"
    )]
    TwoConstants {
        reduction: &'static str,
        /// The number that it begins from.
        identity: Constant,
        /// The target, indexed.
        target: String,
        /// The number of the other elements.
        elsewhere: Constant,
    },
    /// Extents that do not fit.
    #[error(transparent)]
    Shape(#[from] shape::Mismatch),
    /// Assignments that are not the pieces of one.
    #[error(transparent)]
    Partition(#[from] NoPartition),
}
