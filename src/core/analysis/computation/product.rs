//! Products: `C[.., i, .., j] = Σ A[.., i, k, ..] B[.., k, j, ..]`. Also sums of terms of several
//! tensors, some with rows and others with columns.

use super::{Assignment, Unlike};
use crate::ir::Name;

/// The roles of the loops and operands of a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// The loop over rows. Among the loops that move the result and only left operands, it is the
    /// one with the greatest trip count.
    pub rows: Name,
    /// The loop over columns: the iterator of the result's last dimension.
    pub columns: Name,
    /// The innermost sum. Sums keep their order, so blocks of terms are blocks of this one.
    pub terms: Name,
    /// The other sums, outermost first.
    pub sums: Vec<Name>,
    /// The other loops that move the result, outermost first.
    pub batch: Vec<Name>,
    /// The operands that the columns do not move, as read numbers.
    pub left: Vec<usize>,
    /// The operands that the columns move.
    pub right: Vec<usize>,
    /// The largest left operand that the rows move.
    pub main_left: usize,
    /// The largest right operand that the terms move.
    pub main_right: usize,
    /// Whether an index is a sum of several iterators, as in a convolution.
    pub has_windows: bool,
}

/// The roles in a sum of terms of two or more tensors.
///
/// # Errors
/// The nest is not such a sum. The error names the failed requirement.
pub fn product(a: &Assignment) -> Result<Product, Unlike> {
    let columns = last_iterator(a).filter(|_| a.reads.len() > 1);
    let columns = columns.ok_or(Unlike::NoProduct)?;
    let numbers = 0..a.reads.len();
    let (right, left): (Vec<usize>, Vec<usize>) =
        numbers.partition(|&k| a.reads[k].moves(&columns));
    if left.is_empty() || right.is_empty() {
        return Err(Unlike::NoColumns(columns));
    }
    let mut sums = a.sums();
    let others = a.loops.iter().map(|(l, _)| l);
    let mut batch: Vec<Name> = others
        .filter(|l| a.target.moves(l) && **l != columns)
        .cloned()
        .collect();
    let has_rows = |l: &&Name| {
        left.iter().any(|&k| a.reads[k].moves(l)) && !right.iter().any(|&k| a.reads[k].moves(l))
    };
    let rows = first_longest(a, batch.iter().filter(has_rows));
    let (Some(rows), Some(terms)) = (rows, sums.pop()) else {
        return Err(Unlike::NoRows);
    };
    batch.retain(|l| *l != rows);
    let windows = |index: &crate::ir::Affine| index.terms().len() > 1;
    Ok(Product {
        main_left: largest(a, &left, &rows),
        main_right: largest(a, &right, &terms),
        has_windows: a.accesses().any(|one| one.index.iter().any(windows)),
        rows,
        columns,
        terms,
        sums,
        batch,
        left,
        right,
    })
}

/// Interleaved products: the last index of the result and of both operands counts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interleaved {
    /// The loop over rows, which moves the first operand only.
    pub rows: Name,
    /// The loop over columns, which moves the second operand only.
    pub columns: Name,
    /// The loop that counts the products.
    pub lanes: Name,
    /// The sums, outermost first.
    pub sums: Vec<Name>,
    /// The other loops that move the result, outermost first.
    pub batch: Vec<Name>,
}

/// The roles in interleaved products of two tensors.
///
/// # Errors
/// The nest does not consist of such products.
pub fn interleaved(a: &Assignment) -> Result<Interleaved, Unlike> {
    let (Some(lanes), [first, second]) = (last_iterator(a), a.reads.as_slice()) else {
        return Err(Unlike::NotInterleaved);
    };
    let sums = a.sums();
    let side_by_side = a.accesses().all(|one| {
        one.index.iter().all(|index| index.terms().len() <= 1)
            && one.index.last() == a.target.index.last()
    });
    let others = a.loops.iter().map(|(l, _)| l);
    let mut batch: Vec<Name> = others
        .filter(|l| a.target.moves(l) && **l != lanes)
        .cloned()
        .collect();
    let rows = first_longest(a, batch.iter().filter(|l| !second.moves(l)));
    let columns = first_longest(a, batch.iter().filter(|l| !first.moves(l)));
    let several = |l: &Name| a.trip_count(l) > 1;
    match (rows, columns) {
        (Some(rows), Some(columns))
            if side_by_side
                && !sums.is_empty()
                && rows != columns
                && several(&rows)
                && several(&columns) =>
        {
            batch.retain(|l| *l != rows && *l != columns);
            Ok(Interleaved {
                rows,
                columns,
                lanes,
                sums,
                batch,
            })
        }
        _ => Err(Unlike::NotInterleaved),
    }
}

/// The iterator of the result's last dimension, if it is the only one in that index.
pub(super) fn last_iterator(a: &Assignment) -> Option<Name> {
    match a.target.index.last()?.terms() {
        [(name, _)] => Some(name.clone()),
        _ => None,
    }
}

fn first_longest<'a>(a: &Assignment, loops: impl Iterator<Item = &'a Name>) -> Option<Name> {
    let longer = |best: &'a Name, l: &'a Name| {
        if a.trip_count(l) > a.trip_count(best) {
            l
        } else {
            best
        }
    };
    loops.reduce(longer).cloned()
}

/// The read with the largest footprint, preferably one that `l` moves. The first one of equals.
fn largest(a: &Assignment, reads: &[usize], l: &Name) -> usize {
    let size = |k: &usize| (a.reads[*k].moves(l), a.footprint(&a.reads[*k]));
    let best = reads.iter().rev().max_by_key(|k| size(k));
    best.copied().unwrap_or_default()
}
