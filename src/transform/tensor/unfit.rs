//! Why operands make no expression. The operation knows which parameter to blame.

use crate::Error;
use crate::analysis::shape::Mismatch;

/// Why operands make no expression.
#[derive(Debug)]
pub(super) enum Unfit {
    /// Extents, ranges or element types disagree.
    Shape(Mismatch),
    /// The function does not take elements of this type.
    Elem(Error),
    /// Anything else.
    Other(Error),
}

impl From<Mismatch> for Unfit {
    fn from(mismatch: Mismatch) -> Unfit {
        Unfit::Shape(mismatch)
    }
}

impl From<Unfit> for Error {
    fn from(unfit: Unfit) -> Error {
        match unfit {
            Unfit::Shape(mismatch) => mismatch.into(),
            Unfit::Elem(error) | Unfit::Other(error) => error,
        }
    }
}
