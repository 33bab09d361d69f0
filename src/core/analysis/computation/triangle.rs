//! Triangles of products: `C[i][j] += Σ A[i][k] B[j][k]` for j ≤ i, or for j ≥ i.

use super::Unlike;
use super::assignment::accesses;
use crate::analysis::position;
use crate::ir::{Affine, Loop, Name, Nest};

/// The roles of the loops of a triangle of a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triangle {
    /// The loop over rows, from 0 to `size`.
    pub rows: Name,
    /// The loop over columns, whose bounds depend on the rows.
    pub columns: Name,
    /// The loop over terms.
    pub terms: Name,
    /// Whether it is the triangle below the diagonal.
    pub is_lower: bool,
    /// The number of rows.
    pub size: i64,
    /// The number of terms.
    pub depth: i64,
    /// The operands with columns, as read numbers. With each, the dimension, counted from 0, that
    /// the terms index.
    pub right: Vec<(usize, usize)>,
}

/// The roles in a triangle of a product: one update of a matrix in three loops, in any order.
///
/// # Errors
/// The nest is not such a triangle.
pub fn triangle(nest: &Nest) -> Result<Triangle, Unlike> {
    let all = accesses(nest.trees());
    let (target, reads) = all.split_first().ok_or(Unlike::NoAssignment)?;
    let [row, column] = target.index.as_slice() else {
        return Err(Unlike::NoTriangle);
    };
    let (Some(rows), Some(columns)) = (row.as_iterator(), column.as_iterator()) else {
        return Err(Unlike::NoTriangle);
    };
    let several = reads.iter().any(|a| a.write);
    let band = band(nest, columns).filter(|_| target.update && !several && rows != columns);
    let band = band.ok_or(Unlike::NoTriangle)?;
    let find = |name: &Name| band.iter().find(|l| l.name == *name).copied();
    let sum = band.iter().find(|l| l.name != *rows && l.name != *columns);
    let (Some(over_rows), Some(over_columns), Some(sum)) = (find(rows), find(columns), sum) else {
        return Err(Unlike::NoTriangle);
    };
    let (Some(size), Some(depth)) = (from_zero(over_rows), extent(sum)) else {
        return Err(Unlike::NoTriangle);
    };
    let is_lower = match (
        over_columns.range.lower.as_slice(),
        over_columns.range.upper.as_slice(),
    ) {
        _ if over_columns.range.step != 1 => None,
        ([low], [high]) if is(low, 0) && high.plus_constant(-1).as_iterator() == Some(rows) => {
            Some(true)
        }
        ([low], [high]) if low.as_iterator() == Some(rows) && is(high, size) => Some(false),
        _ => None,
    };
    let is_lower = is_lower.ok_or(Unlike::NoTriangle)?;
    let mut right = Vec::new();
    for (k, read) in reads.iter().enumerate() {
        let [first, second] = read.index.as_slice() else {
            return Err(Unlike::NoTriangle);
        };
        let (first, second) = (first.as_iterator(), second.as_iterator());
        let (dimension, other) = if first == Some(&sum.name) {
            (0, second)
        } else {
            (1, first)
        };
        let over_terms = [first, second][dimension] == Some(&sum.name);
        let is_operand = other == Some(rows) || other == Some(columns);
        if !over_terms || !is_operand || read.tensor.name() == target.tensor.name() {
            return Err(Unlike::NoTriangle);
        }
        if other == Some(columns) {
            right.push((k, dimension));
        }
    }
    if right.is_empty() {
        return Err(Unlike::NoTriangle);
    }
    Ok(Triangle {
        rows: rows.clone(),
        columns: columns.clone(),
        terms: sum.name.clone(),
        is_lower,
        size,
        depth,
        right,
    })
}

/// The three loops around the only innermost loop that is `columns` or inside it.
fn band<'a>(nest: &'a Nest, columns: &Name) -> Option<[&'a Loop; 3]> {
    let mut found = Vec::new();
    position::walk(nest.trees(), &mut |_, around, tree| {
        let Some(l) = tree.as_loop() else { return };
        let is_innermost = l.body.iter().all(|inner| inner.as_loop().is_none());
        let chain: Vec<&Loop> = around.iter().map(|l| &***l).chain([&**l]).collect();
        if is_innermost && chain.iter().any(|l| l.name == *columns) {
            found.push(chain);
        }
    });
    match found.as_slice() {
        [chain] => chain.as_slice().try_into().ok(),
        _ => None,
    }
}

fn is(bound: &Affine, value: i64) -> bool {
    bound.as_constant() == Some(value)
}

fn extent(l: &Loop) -> Option<i64> {
    let (first, end) = l.range.as_constant().filter(|_| l.range.step == 1)?;
    Some(end - first)
}

fn from_zero(l: &Loop) -> Option<i64> {
    let (first, _) = l.range.as_constant()?;
    extent(l).filter(|_| first == 0)
}
