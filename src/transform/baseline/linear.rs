//! Small integer matrices: orthogonal complements, solutions and inverses.

use crate::ir::gcd;

/// A basis of the orthogonal complement of `rows`, which are linearly independent, in a space of
/// `dimensions`. Projects unit vectors, and scales them to integers without a common divisor.
pub(super) fn complement(rows: &[&[i64]], dimensions: usize) -> Vec<Vec<i64>> {
    let mut known: Vec<Vec<i64>> = Vec::new();
    for row in rows {
        known.push(projected(row, &known));
    }
    let mut found: Vec<Vec<i64>> = Vec::new();
    let mut independent = known.clone();
    for k in 0..dimensions {
        let unit: Vec<i64> = (0..dimensions).map(|d| i64::from(d == k)).collect();
        let rest = projected(&unit, &independent);
        if rest.iter().any(|c| *c != 0) {
            found.push(projected(&unit, &known));
            independent.push(rest);
        }
    }
    found
}

/// A vector minus its components along orthogonal vectors.
fn projected(vector: &[i64], along: &[Vec<i64>]) -> Vec<i64> {
    let dot = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<i64>();
    let rest = along.iter().fold(vector.to_vec(), |v, b| {
        let (length, part) = (dot(b, b), dot(&v, b));
        if part == 0 {
            return v;
        }
        let rest = v.iter().zip(b).map(|(v, b)| v * length - part * b);
        reduced(rest.collect())
    });
    reduced(rest)
}

fn reduced(vector: Vec<i64>) -> Vec<i64> {
    let divisor = vector.iter().fold(0, |d, c| gcd(d, c.abs()));
    match divisor {
        0 | 1 => vector,
        _ => vector.iter().map(|c| c / divisor).collect(),
    }
}

/// The solution of `matrix * x = right`, if it is unique and integer.
pub(super) fn solved(matrix: &[Vec<i64>], right: &[i64]) -> Option<Vec<i64>> {
    let count = right.len();
    let mut rows: Vec<Vec<i64>> = matrix
        .iter()
        .zip(right)
        .map(|(row, r)| row.iter().chain([r]).copied().collect())
        .collect();
    for k in 0..count {
        let pivot = (k..count).find(|r| rows[*r][k] != 0)?;
        rows.swap(k, pivot);
        let base = rows[k].clone();
        for (r, row) in rows.iter_mut().enumerate() {
            let factor = row[k];
            if r == k || factor == 0 {
                continue;
            }
            let next = row
                .iter()
                .zip(&base)
                .map(|(a, b)| a * base[k] - factor * b)
                .collect();
            *row = reduced(next);
        }
    }
    let whole =
        |(k, row): (usize, &Vec<i64>)| (row[count] % row[k] == 0).then(|| row[count] / row[k]);
    rows.iter().enumerate().map(whole).collect()
}

/// The columns of the inverse, if it is integer.
pub(super) fn inverse_columns(matrix: &[Vec<i64>]) -> Option<Vec<Vec<i64>>> {
    let count = matrix.len();
    let unit = |k: usize| -> Vec<i64> { (0..count).map(|d| i64::from(d == k)).collect() };
    (0..count).map(|k| solved(matrix, &unit(k))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_orthogonal() {
        assert_eq!(complement(&[], 2), [[1, 0], [0, 1]]);
        assert_eq!(complement(&[&[1, 0, 0]], 3), [[0, 1, 0], [0, 0, 1]]);
        assert_eq!(complement(&[&[1, 0, 0], &[2, 1, 0]], 3), [[0, 0, 1]]);
        assert_eq!(complement(&[&[1, 1]], 2), [[1, -1]]);
        assert!(complement(&[&[1, 1], &[1, 0]], 2).is_empty());
    }

    #[test]
    fn inverses() {
        let skewed = [vec![1, 0, 0], vec![2, 1, 0], vec![2, 1, 1]];
        let columns = inverse_columns(&skewed).unwrap();
        assert_eq!(columns, [vec![1, -2, 0], vec![0, 1, -1], vec![0, 0, 1]]);
        assert_eq!(inverse_columns(&[vec![1, 1], vec![1, -1]]), None);
        assert_eq!(inverse_columns(&[vec![1, 1], vec![2, 2]]), None);
    }
}
