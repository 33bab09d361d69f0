//! The affine expressions that are nonnegative on a set, by Farkas' lemma.

use super::error::Error;
use super::handle::Handle;
use super::library::{RawBasicSet, RawMatrix};
use super::point::{CONSTANT, DIVISIONS, PARAMETERS, RANGE, number};
use super::set::Set;
use std::ffi::c_int;

/// A linear condition on numbers: a weighted sum of them is 0, or at least 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// One coefficient for each number.
    pub coefficients: Vec<i64>,
    /// Whether the sum is 0.
    pub is_equation: bool,
}

impl Set {
    /// The affine expressions that are nonnegative on the set. They are given by all conditions on
    /// their constant, the coefficients of the parameters and those of the coordinates, in this
    /// order. Divisibility and integrality of the points are ignored, so some nonnegative
    /// expressions do not satisfy the conditions.
    ///
    /// Source: `isl_set_remove_divs`, `isl_set_coefficients`; Feautrier, *Some Efficient Solutions
    /// to the Affine Scheduling Problem*, 1992.
    pub fn nowhere_negative(&self) -> Result<Vec<Condition>, Error> {
        let context = &self.0.context;
        let library = context.library;
        // SAFETY: the set is alive; the functions take a reference and return an owned result, and
        // null for null.
        let cone: Handle<RawBasicSet> = unsafe {
            let raw = (library.set_remove_divs)(self.0.take());
            let raw = (library.set_coefficients)(raw);
            Handle::own(context, "set_coefficients", raw)?
        };
        let mut conditions = Vec::new();
        for (function, matrix, is_equation) in [
            (
                "basic_set_equalities_matrix",
                library.basic_set_equalities_matrix,
                true,
            ),
            (
                "basic_set_inequalities_matrix",
                library.basic_set_inequalities_matrix,
                false,
            ),
        ] {
            // SAFETY: the cone is alive; the function keeps it and gives its result.
            let matrix = unsafe {
                let raw = matrix(cone.keep(), RANGE, DIVISIONS, PARAMETERS, CONSTANT);
                Handle::own(context, function, raw)?
            };
            let rows = rows(&matrix)?.into_iter();
            conditions.extend(rows.map(|mut coefficients| {
                // The last column is the constant, and a cone has none.
                coefficients.pop();
                Condition {
                    coefficients,
                    is_equation,
                }
            }));
        }
        Ok(conditions)
    }
}

fn rows(matrix: &Handle<RawMatrix>) -> Result<Vec<Vec<i64>>, Error> {
    let context = &matrix.context;
    let library = context.library;
    // SAFETY: the matrix is alive; the functions keep it.
    let (rows, columns) = unsafe {
        (
            (library.mat_rows)(matrix.keep()),
            (library.mat_cols)(matrix.keep()),
        )
    };
    let rows = context.number("mat_rows", rows)?;
    let columns = context.number("mat_cols", columns)?;
    let at = |k: usize| c_int::try_from(k).unwrap_or(c_int::MAX);
    let element = |row: usize, column: usize| {
        let function = "mat_get_element_val";
        // SAFETY: the matrix is alive and has the element; the function keeps it and gives the
        // value.
        let value = unsafe {
            let raw = (library.mat_get_element_val)(matrix.keep(), at(row), at(column));
            Handle::own(context, function, raw)?
        };
        number(&value)
    };
    let rows = (0..rows).map(|row| (0..columns).map(|c| element(row, c)).collect());
    rows.collect()
}
