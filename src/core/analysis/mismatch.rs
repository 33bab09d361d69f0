//! Errors of shapes, ranks, ranges and element types, as values.

use crate::ir::{Affine, Elem, Name, point_text};
use std::fmt;

/// A dimension of a tensor, as messages show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// The tensor's name.
    pub tensor: String,
    /// Counted from 1.
    pub dimension: usize,
    /// The extent of that dimension.
    pub extent: Affine,
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Dimension {
            tensor,
            dimension,
            extent,
        } = self;
        write!(f, "dimension {dimension} of {tensor} (extent {extent})")
    }
}

/// The iterator values that an index allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    pub index: Affine,
    /// Its dimension.
    pub place: Dimension,
    /// The first value, and one past the last.
    pub values: (i64, i64),
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Allowed {
            index,
            place,
            values: allowed,
        } = self;
        write!(f, "`{index}` in {place} allows {}", values(*allowed))
    }
}

/// Shapes, ranks, ranges or element types that do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// A list of iterators has the wrong length.
    #[error("{tensor} has {}, but {} given: [{list}]", count(*.rank, "dimension"), are(*.given))]
    Rank {
        /// The tensor's name.
        tensor: String,
        rank: usize,
        /// The number of iterators.
        given: usize,
        /// The iterators.
        list: String,
    },
    /// One index in dimensions of different extents.
    #[error("`{index}` indexes {first} and {second}")]
    Extents {
        index: Affine,
        /// Its first occurrence.
        first: Dimension,
        /// The occurrence with another extent.
        second: Dimension,
    },
    /// An index leaves its dimension.
    #[error("index `{index}` takes the values {low}..={high}, outside of {place}")]
    OutOfBounds {
        index: Affine,
        /// Its least value.
        low: i64,
        /// Its greatest value.
        high: i64,
        /// The dimension.
        place: Dimension,
    },
    /// An index leaves its dimension in an iteration of given ranges.
    #[error("index `{index}` is {value} {}, outside of {place}", iteration(.at))]
    Leaves {
        index: Affine,
        value: i64,
        /// The values of iterators, outermost first.
        at: Vec<(Name, i64)>,
        /// The dimension.
        place: Dimension,
    },
    /// The search whether an index stays inside exceeds its budget.
    #[error("it is not clear whether `{index}` stays inside {place} for all iterations")]
    Unclear {
        index: Affine,
        /// The dimension.
        place: Dimension,
    },
    /// No access determines the values of an iterator.
    #[error("`{iterator}` indexes no tensor, so its range is unknown")]
    Unlimited { iterator: Name },
    /// The bounds of a range depend on its own iterator.
    #[error("the range of `{iterator}` depends on `{iterator}` itself")]
    Circle { iterator: Name },
    /// An iterator is nowhere the only one of an index, so nothing bounds it.
    #[error(
        "the range of iterator `{iterator}` cannot be inferred: it indexes no dimension alone and appears only in `{index}` in {place}"
    )]
    NoRange {
        iterator: Name,
        /// An index that uses it.
        index: Affine,
        /// The dimension of that index.
        place: Dimension,
    },
    /// An iterator of the target does not occur in the value.
    #[error("`{iterator}` indexes the target but not the value, so its range is unknown")]
    Unbound { iterator: Name },
    /// No value of an iterator keeps all indices inside.
    #[error("no value of iterator `{iterator}` keeps `{index}` inside {place}")]
    Empty {
        iterator: Name,
        /// The index that excludes the last value.
        index: Affine,
        /// Its dimension.
        place: Dimension,
    },
    /// Accesses would omit terms of a reduction.
    #[error(
        "the reduction over `{iterator}` would take only {}: {} and {}",
        values(*.range), .by[0], .by[1]
    )]
    Cut {
        iterator: Name,
        /// The range that it would get.
        range: (i64, i64),
        /// The accesses that limit its first and its last value.
        by: Box<[Allowed; 2]>,
    },
    /// A window would omit terms of a reduction.
    #[error(
        "the reduction over `{iterator}` would take only {}: `{index}` has to stay inside {place} \
         for all values of its other iterators", values(*.range)
    )]
    Window {
        iterator: Name,
        /// The range that it would get.
        range: (i64, i64),
        index: Affine,
        /// Its dimension.
        place: Dimension,
    },
    /// Sizes are free, and an access would omit terms of a reduction.
    #[error(
        "the reduction over `{iterator}` would take only {range}, and `{index}` in {place} has more"
    )]
    Omits {
        iterator: Name,
        /// The range that it would get.
        range: String,
        index: Affine,
        /// Its dimension.
        place: Dimension,
    },
    /// An iterator has the name of a size.
    #[error("`{0}` is an iterator here, and also the name of a size")]
    IteratorIsSize(Name),
    /// Sizes are free, and the values of an iterator would end at a quotient of them.
    #[error(
        "the range of `{iterator}` in `{index}` in {place} cannot be inferred: its bounds are not \
         affine in the sizes"
    )]
    NotAffine {
        iterator: Name,
        index: Affine,
        /// Its dimension.
        place: Dimension,
    },
    /// The operands have different element types.
    #[error("{left} has elements of type {left_elem}, but {right} has {right_elem}")]
    Elems {
        /// Left operand.
        left: String,
        /// Its element type.
        left_elem: Elem,
        /// Right operand.
        right: String,
        /// Its element type.
        right_elem: Elem,
    },
    /// A coefficient or constant of an index is too large to compute with.
    #[error("index `{index}` in {place} has a coefficient or constant beyond 2^40")]
    TooLarge {
        index: Affine,
        /// Its dimension.
        place: Dimension,
    },
}

fn iteration(at: &[(Name, i64)]) -> String {
    match point_text(at).as_str() {
        "" => "everywhere".to_owned(),
        values => format!("at {values}"),
    }
}

fn values((low, high): (i64, i64)) -> String {
    format!("{low}..{high}")
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn are(iterators: usize) -> String {
    let verb = if iterators == 1 { "is" } else { "are" };
    format!("{} {verb}", count(iterators, "iterator"))
}
