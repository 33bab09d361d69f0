//! Sparse matrices as `scipy.sparse.save_npz` writes them: the arrays of their format, and its name.

use super::coordinates::Coordinates;
use crate::runtime::{Array, RuntimeError, Scalar, Values};
use std::path::Path;

pub(super) fn read(file: &Path) -> Result<Coordinates, String> {
    let load = |member: &str| {
        Array::load(file, Some(member)).map_err(|error| match error {
            RuntimeError::NoArray { reason, .. } => reason,
            other => other.to_string(),
        })
    };
    let format = Array::text(file, "format")?;
    let shape = integers(&load("shape")?, "shape", u64::MAX)?;
    let [rows, columns] = shape[..] else {
        return Err(format!("it has {} dimensions, not 2", shape.len()));
    };
    let data = load("data")?;
    let count = data.shape.iter().product::<u64>();
    let indices = |member: &str, extent: u64| {
        let of = integers(&load(member)?, member, extent)?;
        match of.len() as u64 {
            found if found == count => Ok(of),
            found => Err(format!(
                "`{member}` has {found} elements, and `data` {count}"
            )),
        }
    };
    let index = match format.as_str() {
        "coo" => [indices("row", rows)?, indices("col", columns)?],
        "csr" | "csc" => {
            let is_rows = format == "csr";
            let (major, minor) = if is_rows {
                (rows, columns)
            } else {
                (columns, rows)
            };
            let minor = indices("indices", minor)?;
            let pointers = integers(&load("indptr")?, "indptr", count.saturating_add(1))?;
            let major = expanded(&pointers, major, count)?;
            if is_rows {
                [major, minor]
            } else {
                [minor, major]
            }
        }
        other => {
            return Err(format!(
                "its format is `{other}`; csr, csc and coo can be read: `A.tocsr()` converts it"
            ));
        }
    };
    Coordinates::of(shape, &index, &data.values)
}

/// The row of each entry.
fn expanded(pointers: &[u64], rows: u64, count: u64) -> Result<Vec<u64>, String> {
    if pointers.len() as u64 != rows.saturating_add(1) {
        let found = pointers.len();
        return Err(format!("`indptr` has {found} elements for {rows} rows"));
    }
    if pointers.first() != Some(&0) || pointers.last() != Some(&count) {
        return Err(format!("`indptr` does not go from 0 to {count}"));
    }
    let mut of = Vec::new();
    for (row, ends) in pointers.windows(2).enumerate() {
        if ends[1] < ends[0] {
            return Err(format!(
                "indptr[{}] is {}, and indptr[{row}] is {}",
                row + 1,
                ends[1],
                ends[0]
            ));
        }
        of.extend((ends[0]..ends[1]).map(|_| row as u64));
    }
    Ok(of)
}

/// The elements of an array of integers below `end`.
fn integers(array: &Array, name: &str, end: u64) -> Result<Vec<u64>, String> {
    let view = match &*array.values {
        Values::I32(_) | Values::I64(_) => array.values.view(),
        Values::F32(_) | Values::F64(_) => return Err(format!("`{name}` has no integers")),
    };
    let element = |k: usize| match view.get(k) {
        Some(Scalar::Integer(x)) => match u64::try_from(x) {
            Ok(x) if x < end => Ok(x),
            _ => Err(format!("{name}[{k}] is {x}, outside of 0..{end}")),
        },
        _ => Err(format!("{name}[{k}] is missing")),
    };
    (0..array.shape.iter().product::<u64>() as usize)
        .map(element)
        .collect()
}
