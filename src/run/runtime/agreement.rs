//! The outcome of comparing a result with the reference.

use super::elements::Scalar;
use std::fmt;

/// How a result differs from the reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    pub elements: u64,
    /// max |actual - expected| over max |expected|, both over the elements that are finite in both.
    /// The divisor is 1 if the reference is all zero. Infinite if a NaN or an infinity meets a
    /// different value.
    pub relative_error: f64,
    /// The relative error up to which an element counts as equal; 0 for integers.
    pub tolerance: f64,
    /// The number of elements that differ by more than the tolerance.
    pub differing: u64,
    /// The first of them in row-major order.
    pub first: Option<Difference>,
}

/// An element that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Its indices, counted from 0 as in C.
    pub index: Vec<u64>,
    /// Its value in the reference.
    pub expected: Scalar,
    /// Its value in the result.
    pub actual: Scalar,
}

impl Agreement {
    /// Whether no element differs.
    pub fn agrees(&self) -> bool {
        self.differing == 0
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (error, tolerance) = (self.relative_error, self.tolerance);
        let Some(first) = &self.first else {
            return write!(
                f,
                "all {} elements agree (relative error {error:.1e}, tolerance {tolerance:.0e})",
                self.elements
            );
        };
        let index: String = first.index.iter().map(|i| format!("[{i}]")).collect();
        let place = if index.is_empty() {
            "its value"
        } else {
            &index
        };
        write!(
            f,
            "{} of {} elements differ (relative error {error:.1e}, tolerance {tolerance:.0e}); \
             the first is {place}: expected {}, got {}",
            self.differing, self.elements, first.expected, first.actual
        )
    }
}
