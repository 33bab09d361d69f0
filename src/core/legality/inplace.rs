//! Whether an assignment may overwrite a tensor that it reads.
//!
//! Every element of the target gets the value of the expression over the old store. Iterations run
//! in place if none of them reads an element that an earlier one has assigned. An assignment is
//! *compatible* if each element is read only for itself (Def. 2): then any order is legal.
//! Otherwise an order of the loops, some of them backwards, may still read each element before it
//! is overwritten.
//!
//! The test examines the set of pairs of iterations that assign and read one element, not the form
//! of the indices. It accepts everything that Ullrich's type system accepts (Figs. 6 and 7), and
//! also `x[i] = x[j]` if there is only one element. `build` copies the value to a local tensor if
//! no order works.
//!
//! Source: Ullrich, Detection and Exploitation of Data-Parallelism in Assignments of
//! Multi-Dimensional Tensors, 2018, §§3 to 5.

use super::constraints::linear;
use super::limit::OPERATIONS;
use super::sizes::for_sizes;
use crate::analysis::shape::{IteratorRange, all_ranges};
use crate::ir::{Affine, Expr, Index, Name, Node, Range, Tensor};
use crate::poly::{self, Error, Linear, Piece, Relation, UnionSet};

/// How an assignment may overwrite what it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InPlace {
    /// No element is read for another one: the order of the elements does not matter.
    Compatible {
        /// Whether elements are read for themselves.
        reads_own: bool,
    },
    /// Legal if the loops over the elements are nested like this, outermost first.
    Ordered {
        loops: Vec<Run>,
        /// Whether elements are also read for themselves.
        reads_own: bool,
    },
    /// Illegal in every order of the loops.
    Never,
}

/// A loop and its direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub iterator: Name,
    /// Whether the greatest value comes first.
    pub backwards: bool,
}

/// Whether an assignment is compatible (Def. 2): no element of its target is read for another one.
/// `None` unless it is an assignment of one piece with known ranges.
///
/// # Errors
/// As [`in_place`].
pub fn is_compatible(assignment: &Expr) -> Result<Option<bool>, Error> {
    let Node::Assign { target, value, .. } = assignment.node() else {
        return Ok(None);
    };
    let (Some(tensor), Ok(ranges)) = (target.tensor(), all_ranges(assignment)) else {
        return Ok(None);
    };
    let index: &[Affine] = match target.node() {
        Node::Access {
            index: Index::At(index),
            ..
        } => index,
        _ => &[],
    };
    let of_target = target.iterators();
    let (own, others): (Vec<_>, Vec<_>) = ranges
        .into_iter()
        .partition(|range| of_target.contains(&range.name));
    let way = in_place(tensor, index, value, &own, &others)?;
    Ok(Some(matches!(way, InPlace::Compatible { .. })))
}

/// How `target[index] = value` may be executed in place. The iterators `own` enumerate the
/// elements, in the preferred order of the loops. The iterators `others` occur only in the value.
///
/// # Errors
/// The polyhedral library has no answer. Only reads of other elements need the library: identical
/// indices do not.
pub fn in_place(
    target: &Tensor,
    index: &[Affine],
    value: &Expr,
    own: &[IteratorRange],
    others: &[IteratorRange],
) -> Result<InPlace, Error> {
    let mut reads: Vec<&[Affine]> = Vec::new();
    let mut fits = true;
    value.for_each_access(&mut |tensor, read| {
        if tensor.name() == target.name() {
            fits &= tensor == target;
            reads.push(match read {
                Index::At(read) => read,
                Index::Unset | Index::Forbidden => &[],
            });
        }
    });
    if !fits {
        return Ok(InPlace::Never);
    }
    let same = |read: &&[Affine]| *read == index;
    let reads_own = reads.iter().any(same);
    reads.retain(|read| !same(read));
    if reads.is_empty() {
        return Ok(InPlace::Compatible { reads_own });
    }
    let mut sizes = Vec::new();
    target
        .shape()
        .for_each_size(&mut |name| sizes.push(name.clone()));
    let ranges = own.iter().chain(others).filter_map(|r| r.given.as_ref());
    let bounds = ranges.flat_map(Range::bounds);
    let indices = reads.iter().copied().flatten().chain(index);
    sizes.extend(bounds.chain(indices).flat_map(Affine::sizes).cloned());
    for_sizes(sizes, || {
        poly::bounded(OPERATIONS, || decide(index, &reads, reads_own, own, others))
    })
}

fn decide(
    index: &[Affine],
    reads: &[&[Affine]],
    reads_own: bool,
    own: &[IteratorRange],
    others: &[IteratorRange],
) -> Result<InPlace, Error> {
    let reads = reads.iter();
    let pieces: Vec<Piece> = reads.map(|at| pairs(index, at, own, others)).collect();
    let pairs = UnionSet::new(&pieces)?;
    let set = |of: Piece| UnionSet::new(&[of]);
    let all = || points(own.len());
    let diagonal = (0..own.len()).fold(all(), |piece, k| {
        piece.constrain(write(k).as_str(), Relation::Equal, read(k).as_str())
    });
    let diagonal = set(diagonal)?;
    let reads_own = reads_own || !pairs.intersect(&diagonal)?.is_empty()?;
    let mut open = pairs.subtract(&diagonal)?;
    if open.is_empty()? {
        return Ok(InPlace::Compatible { reads_own });
    }
    // A remaining loop may become the outermost one if it runs no read after the assignment of the
    // same element. It then settles the pairs that it separates. Greedy choice is complete: each
    // choice leaves the other loops at least as many options.
    let mut left: Vec<usize> = (0..own.len()).collect();
    let mut loops = Vec::with_capacity(own.len());
    while !left.is_empty() {
        let mut chosen = None;
        for (at, &k) in left.iter().enumerate() {
            let (w, r) = (write(k), read(k));
            let earlier = set(all().constrain(w.as_str(), Relation::Less, r.as_str()))?;
            let later = set(all().constrain(r.as_str(), Relation::Less, w.as_str()))?;
            let forwards = open.intersect(&earlier)?.is_empty()?;
            if forwards || open.intersect(&later)?.is_empty()? {
                chosen = Some((at, k, !forwards));
                break;
            }
        }
        let Some((at, k, backwards)) = chosen else {
            return Ok(InPlace::Never);
        };
        left.remove(at);
        let iterator = own[k].name.clone();
        loops.push(Run {
            iterator,
            backwards,
        });
        let same = set(all().constrain(write(k).as_str(), Relation::Equal, read(k).as_str()))?;
        open = open.intersect(&same)?;
    }
    Ok(InPlace::Ordered { loops, reads_own })
}

/// The pairs of iterations whose first one assigns the element that the second one reads.
fn pairs(
    index: &[Affine],
    access: &[Affine],
    own: &[IteratorRange],
    others: &[IteratorRange],
) -> Piece {
    let position = |name: &Name| own.iter().position(|i| i.name == *name);
    let hidden = |name: &Name| {
        let k = others.iter().position(|i| i.name == *name)?;
        Some(format!("o{k}"))
    };
    let writer = |name: &Name| position(name).map(write);
    let reader = |name: &Name| position(name).map(read).or_else(|| hidden(name));
    let mut piece = points(own.len());
    for (k, range) in own.iter().enumerate() {
        piece = within(piece, &write(k), range, &writer);
        piece = within(piece, &read(k), range, &reader);
    }
    for (k, _) in others.iter().enumerate() {
        piece = piece.exists(&format!("o{k}"));
    }
    for (k, range) in others.iter().enumerate() {
        piece = within(piece, &format!("o{k}"), range, &reader);
    }
    index.iter().zip(access).fold(piece, |piece, (w, r)| {
        let (w, r): (Linear, Linear) = (linear(w, &writer), linear(r, &reader));
        piece.constrain(w, Relation::Equal, r)
    })
}

/// The values of `x` within a range whose bounds are affine in variables. Steps are ignored, so
/// that the result may contain pairs of iterations that do not exist.
fn within(
    piece: Piece,
    x: &str,
    range: &IteratorRange,
    variable: &dyn Fn(&Name) -> Option<String>,
) -> Piece {
    let Range { lower, upper, .. } = range.range();
    let above = lower.iter().fold(piece, |piece, bound| {
        piece.constrain(linear(bound, variable), Relation::LessOrEqual, x)
    });
    upper.iter().fold(above, |piece, bound| {
        piece.constrain(x, Relation::Less, linear(bound, variable))
    })
}

/// All pairs of iterations of `depth` loops.
fn points(depth: usize) -> Piece {
    let variables: Vec<String> = (0..depth).map(write).chain((0..depth).map(read)).collect();
    Piece::set("P", variables.iter().map(String::as_str))
}

/// The iterator of a loop in the iteration that assigns.
fn write(k: usize) -> String {
    format!("w{k}")
}

/// The iterator of a loop in the iteration that reads.
fn read(k: usize) -> String {
    format!("r{k}")
}
