//! Elements of arrays as people read them: in a line, in the rows of a matrix, or in several
//! matrices, with an ellipsis where there are many.

use crate::ir::Shape;
use crate::runtime::{Scalar, View};

/// How many of the elements of a line are shown.
const LINE: usize = 6;

/// A matrix with at most this many rows or columns is shown whole, a larger one by its first and
/// last ones.
const ROWS: usize = 8;

/// The same for the matrices of an array.
const MATRICES: usize = 4;

/// The elements of an array, to be put after its type: a line after a space, or indented rows. Empty
/// if there are no elements.
pub fn text(view: View<'_>, shape: &[u64]) -> String {
    let shape: Vec<usize> = shape
        .iter()
        .filter_map(|e| usize::try_from(*e).ok())
        .collect();
    if view.is_empty() {
        return String::new();
    }
    let [outer @ .., rows, columns] = shape.as_slice() else {
        return format!(" {}", line(view));
    };
    let mut lines = Vec::new();
    let size = rows * columns;
    for number in shown(view.len() / size.max(1), MATRICES) {
        let Some(number) = number else {
            lines.push("…".to_owned());
            continue;
        };
        if !outer.is_empty() {
            lines.push(format!("{}:", place(number, outer)));
        }
        lines.extend(matrix(view, number * size, [*rows, *columns]));
    }
    lines.iter().map(|line| format!("\n  {line}")).collect()
}

/// The first elements, exactly.
fn line(view: View<'_>) -> String {
    let first = (0..LINE).filter_map(|x| Some(view.get(x)?.to_string()));
    let more = (view.len() > LINE).then(|| "…".to_owned());
    first.chain(more).collect::<Vec<_>>().join(", ")
}

/// The rows of the matrix that begins at a flat index, in columns.
fn matrix(view: View<'_>, start: usize, [rows, columns]: [usize; 2]) -> Vec<String> {
    let element = |row: Option<usize>, column: Option<usize>| match (row, column) {
        (Some(row), Some(column)) => view.get(start + row * columns + column).map(rounded),
        _ => Some("…".to_owned()),
    };
    let of_row = |row| -> Vec<String> {
        let columns = shown(columns, ROWS).into_iter();
        columns.filter_map(|column| element(row, column)).collect()
    };
    let cells: Vec<Vec<String>> = shown(rows, ROWS).into_iter().map(of_row).collect();
    let width = |text: &String| text.chars().count();
    let widths = |column: usize| {
        cells
            .iter()
            .filter_map(move |row| row.get(column).map(width))
    };
    let aligned = |(column, text): (usize, &String)| {
        let room = widths(column).max().unwrap_or(0);
        format!("{text:>room$}")
    };
    let rows = cells.iter();
    rows.map(|row| {
        row.iter()
            .enumerate()
            .map(aligned)
            .collect::<Vec<_>>()
            .join("  ")
    })
    .collect()
}

/// Which of `count` parts are shown, where more than `most` are not all shown; `None` is the gap.
fn shown(count: usize, most: usize) -> Vec<Option<usize>> {
    if count <= most {
        return (0..count).map(Some).collect();
    }
    let (first, last) = (most / 2, most.div_ceil(2) - 1);
    let last = count - last..count;
    (0..first)
        .map(Some)
        .chain([None])
        .chain(last.map(Some))
        .collect()
}

/// The indices of matrix `number` in the outer dimensions.
fn place(number: usize, outer: &[usize]) -> String {
    let outer = Shape::of_extents(outer.iter().map(|extent| *extent as u64));
    format!("{:?}", outer.index_of(number as u64))
}

/// Numbers with more characters than this are rounded.
const EXACT: usize = 8;

/// An element, to 6 digits if it has many.
fn rounded(element: Scalar) -> String {
    let exact = element.to_string();
    match element {
        Scalar::Float(value) if exact.len() > EXACT => {
            let digits = format!("{value:.5e}").parse();
            digits.map_or(exact, |value: f64| format!("{value:?}"))
        }
        _ => exact,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: usize, shape: &[u64]) -> String {
        let values: Vec<f64> = (0..count).map(|x| x as f64 / 3.0).collect();
        text(View::F64(&values), shape)
    }

    #[test]
    fn small_arrays_are_shown_whole() {
        assert_eq!(of(1, &[]), " 0.0");
        assert_eq!(of(2, &[2]), " 0.0, 0.3333333333333333");
        assert_eq!(of(0, &[0, 4]), "");
        let rows = "\n  0.0  0.333333  0.666667\n  1.0   1.33333   1.66667";
        assert_eq!(of(6, &[2, 3]), rows);
    }

    #[test]
    fn large_arrays_have_an_ellipsis() {
        let text = of(200, &[20, 10]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 9);
        assert_eq!(
            lines[5].split_whitespace().collect::<String>(),
            "…".repeat(8)
        );
        assert_eq!(of(7, &[7]).matches('…').count(), 1);
        let several = of(80, &[2, 5, 2, 4]);
        let places: Vec<&str> = several.lines().filter(|l| l.contains('[')).collect();
        assert_eq!(places, ["  [0, 0]:", "  [0, 1]:", "  [1, 4]:"]);
    }
}
