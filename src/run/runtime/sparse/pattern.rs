//! Random sparse matrices with rows of given lengths.

use super::coordinates::Coordinates;
use crate::runtime::{Random, Scalar, Values};
use std::collections::BTreeSet;

/// A matrix whose row i has `lengths[i]` entries, at distinct random columns. The value of each entry
/// is 1.
///
/// # Errors
/// A row that is longer than it has columns, or a matrix without entries.
///
/// Source: Floyd's sample of distinct numbers (Bentley, Floyd, 1987).
pub fn pattern(columns: u64, lengths: &[u64], seed: u64) -> Result<Coordinates, String> {
    let numbers = Random::new(
        seed,
        Some((Scalar::Integer(0), Scalar::Integer(i64::MAX - 1))),
    );
    let mut drawn = 0;
    let mut below = |end: u64| {
        drawn += 1;
        match numbers.value(crate::ir::Elem::I64, drawn) {
            Scalar::Integer(x) => x.unsigned_abs() % end,
            Scalar::Float(_) => 0,
        }
    };
    let mut index = [Vec::new(), Vec::new()];
    for (row, &length) in lengths.iter().enumerate() {
        let Some(others) = columns.checked_sub(length) else {
            return Err(format!(
                "row {row} cannot have {length} entries in {columns} columns"
            ));
        };
        let mut chosen = BTreeSet::new();
        for last in others..columns {
            let column = below(last + 1);
            if !chosen.insert(column) {
                chosen.insert(last);
            }
        }
        index[0].extend(chosen.iter().map(|_| row as u64));
        index[1].extend(chosen);
    }
    let values = Values::F64(vec![1.0; index[0].len()]);
    Coordinates::of(vec![lengths.len() as u64, columns], &index, &values)
}
