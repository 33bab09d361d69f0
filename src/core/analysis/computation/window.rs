//! Windows: `O[.., i, j] = Σ F[p, q] I[.., i + p, j + q]`, a sum over the neighbors of each
//! element, with the same filter everywhere.

use super::assignment::Access;
use super::product::last_iterator;
use super::{Assignment, Unlike};
use crate::ir::{Affine, Name};

/// The most elements of a window whose loops are unrolled.
const LARGEST_WINDOW: i64 = 64;

/// The roles of the loops of a sum over a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The loop over rows of the result.
    pub rows: Name,
    /// The loop over columns. Neighbors in the result are neighbors in the image.
    pub columns: Name,
    /// The loops over the window. A loop across rows comes first.
    pub window: Vec<Name>,
    /// Whether the window extends across rows.
    pub is_across: bool,
    /// Sums around the window, such as over channels.
    pub sums: Vec<Name>,
    /// The other loops, outermost first.
    pub batch: Vec<Name>,
    /// The image, as a read number.
    pub image: usize,
}

/// The roles in a sum over a window.
///
/// # Errors
/// The nest is not such a sum. The error names the failed requirement.
pub fn window(a: &Assignment) -> Result<Window, Unlike> {
    let sums = a.sums();
    let columns = last_iterator(a).filter(|_| !sums.is_empty() && a.target.index.len() > 1);
    let columns = columns.ok_or(Unlike::NoWindow)?;
    let mut moved = (0..a.reads.len()).filter(|&k| a.reads[k].moves(&columns));
    let (Some(number), None) = (moved.next(), moved.next()) else {
        return Err(Unlike::NoImage);
    };
    let image = &a.reads[number];
    if !is_along_rows(&a.target, &columns) || !is_along_rows(image, &columns) {
        return Err(Unlike::NoImage);
    }
    let others = || a.reads.iter().filter(|one| !one.is_same_element(image));
    if dimensions(image, &columns) != 1
        || others().any(|one| one.tensor.name() == image.tensor.name())
    {
        return Err(Unlike::NoFilter);
    }
    let (rows, first, is_across) = rows_of(image, &sums, &columns, &|l| {
        others().any(|one| one.moves(l))
    })
    .ok_or(Unlike::NoRowsOfWindow)?;
    let begin = sums.iter().position(|l| *l == first).unwrap_or_default();
    let (around, inside) = sums.split_at(begin);
    let size = inside.iter().map(|l| a.trip_count(l));
    if size.fold(1i64, i64::saturating_mul) > LARGEST_WINDOW || a.trip_count(&rows) < 2 {
        return Err(Unlike::LargeWindow(LARGEST_WINDOW));
    }
    let rest = a.loops.iter().map(|(l, _)| l);
    let rest = rest.filter(|l| **l != rows && **l != columns && !sums.contains(l));
    Ok(Window {
        batch: rest.cloned().collect(),
        window: inside.to_vec(),
        sums: around.to_vec(),
        rows,
        columns,
        is_across,
        image: number,
    })
}

/// The loop over rows, the first loop of the window, and whether that loop runs across rows. A
/// window across rows is preferred.
fn rows_of(
    image: &Access,
    sums: &[Name],
    columns: &Name,
    elsewhere: &dyn Fn(&Name) -> bool,
) -> Option<(Name, Name, bool)> {
    let (last, outer) = image.index.split_last()?;
    let once = |l: &Name| dimensions(image, l) == 1;
    let only = |index: &Affine, l: &Name| {
        let mut rest = index.terms().iter().filter(|(name, _)| name != l);
        match (rest.next(), rest.next()) {
            (None, _) => Beside::Nothing,
            (Some((name, _)), None) if sums.contains(name) => Beside::Sum(name.clone()),
            _ => Beside::Others,
        }
    };
    let mut found: Option<(Name, Name, bool)> = None;
    for index in outer.iter().filter(|index| has_unit_factors(index)) {
        for (l, _) in index.terms() {
            if sums.contains(l) || !once(l) {
                continue;
            }
            match (only(index, l), only(last, columns)) {
                (Beside::Sum(p), _) if once(&p) && !elsewhere(l) => {
                    found = Some((l.clone(), p, true));
                }
                // The window lies within a row.
                (Beside::Nothing, Beside::Sum(p)) if !matches!(found, Some((.., true))) => {
                    found = Some((l.clone(), p, false));
                }
                _ => {}
            }
        }
    }
    found
}

/// The terms of an index beside one iterator.
enum Beside {
    Nothing,
    Sum(Name),
    Others,
}

fn has_unit_factors(index: &Affine) -> bool {
    index.terms().iter().all(|(_, factor)| factor.abs() == 1)
}

fn is_along_rows(access: &Access, l: &Name) -> bool {
    let last = access.index.last();
    last.is_some_and(|index| index.mentions(l) && has_unit_factors(index))
}

/// The number of dimensions in which an iterator appears.
fn dimensions(access: &Access, l: &Name) -> usize {
    access
        .index
        .iter()
        .filter(|index| index.mentions(l))
        .count()
}
