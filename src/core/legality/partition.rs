//! Whether assignments to one tensor are the pieces of one assignment. No two of them may assign
//! the same element, together they assign all, and none reads elements that another one assigns.
//!
//! The tests examine the set of elements that each piece assigns, not the form of its indices.

use super::constraints::{bounded, inside, linear};
use super::limit::OPERATIONS;
use super::sizes::for_sizes;
use crate::analysis::shape::{self, IteratorRange, Mismatch};
use crate::ir::{Affine, Expr, Index, Name, Node, Range, Tensor};
use crate::poly::{self, Error, Linear, Piece, Relation, Set};

/// An assignment `tensor[index] = value`, and the ranges of all iterators in it.
#[derive(Clone, Debug)]
pub struct Assigned {
    pub index: Vec<Affine>,
    /// The ranges of the iterators.
    pub ranges: Vec<IteratorRange>,
    pub value: Expr,
}

/// An element that two pieces assign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The indices of the element.
    pub element: Vec<i64>,
    /// The values of the iterators of both pieces.
    pub iterations: [Vec<(Name, i64)>; 2],
}

/// An element that both pieces assign, if any.
///
/// # Errors
/// The polyhedral library has no answer.
pub fn overlap(first: &Assigned, second: &Assigned) -> Result<Option<Overlap>, Error> {
    let sizes = first.sizes().chain(second.sizes());
    for_sizes(sizes, || overlap_of(first, second))
}

fn overlap_of(first: &Assigned, second: &Assigned) -> Result<Option<Overlap>, Error> {
    let rank = first.index.len();
    let (a, b) = (first.own("a"), second.own("b"));
    let variables = elements(rank)
        .chain(a.iter().map(|(_, variable)| variable.clone()))
        .chain(b.iter().map(|(_, variable)| variable.clone()));
    let variables: Vec<String> = variables.collect();
    let all = Piece::set("P", variables.iter().map(String::as_str));
    let piece = second.assigns(first.assigns(all, &a), &b);
    let point = poly::bounded(OPERATIONS, || Set::new(&[piece])?.sample())?;
    Ok(point.map(|point| {
        let values = point.coordinates;
        let iteration = |own: &[(Name, String)], from: usize| {
            let own = own.iter().zip(values.iter().skip(from));
            own.map(|((name, _), value)| (name.clone(), *value))
                .collect()
        };
        Overlap {
            element: values[..rank].to_vec(),
            iterations: [iteration(&a, rank), iteration(&b, rank + a.len())],
        }
    }))
}

/// An element of `tensor` that no piece assigns, if any.
///
/// # Errors
/// The polyhedral library has no answer.
pub fn hole(tensor: &Tensor, pieces: &[Assigned]) -> Result<Option<Vec<i64>>, Error> {
    let mut sizes = Vec::new();
    tensor
        .shape()
        .for_each_size(&mut |name| sizes.push(name.clone()));
    let of_pieces = pieces.iter().flat_map(Assigned::sizes);
    for_sizes(sizes.into_iter().chain(of_pieces), || {
        hole_of(tensor, pieces)
    })
}

fn hole_of(tensor: &Tensor, pieces: &[Assigned]) -> Result<Option<Vec<i64>>, Error> {
    let variables: Vec<String> = elements(tensor.shape().rank()).collect();
    let all = || Piece::set("P", variables.iter().map(String::as_str));
    let whole = inside(all(), tensor, &variables);
    let assigned: Vec<Piece> = pieces
        .iter()
        .map(|piece| {
            let own = piece.own("a");
            let hidden = own.iter().fold(all(), |set, (_, v)| set.exists(v));
            piece.assigns(hidden, &own)
        })
        .collect();
    let point = poly::bounded(OPERATIONS, || {
        let assigned = Set::new(&assigned)?;
        Set::new(&[whole])?.subtract(&assigned)?.sample()
    })?;
    Ok(point.map(|point| point.coordinates))
}

/// Whether `reader` reads an element of `tensor` that `writer` assigns.
///
/// # Errors
/// The polyhedral library has no answer.
pub fn reads(tensor: &Tensor, reader: &Assigned, writer: &Assigned) -> Result<bool, Error> {
    let sizes = reader.sizes().chain(writer.sizes());
    for_sizes(sizes, || reads_of(tensor, reader, writer))
}

fn reads_of(tensor: &Tensor, reader: &Assigned, writer: &Assigned) -> Result<bool, Error> {
    let mut accesses: Vec<&[Affine]> = Vec::new();
    reader.value.for_each_access(&mut |read, at| {
        if read.name() == tensor.name() {
            accesses.push(match at {
                Index::At(at) => at,
                Index::Unset | Index::Forbidden => &[],
            });
        }
    });
    if accesses.is_empty() {
        return Ok(false);
    }
    let variables: Vec<String> = elements(tensor.shape().rank()).collect();
    let own = writer.own("a");
    // Several reductions may use one iterator name. Such an iterator is left unconstrained.
    let known = reader.ranges.iter().map(|r| &r.name);
    let twice = |name: &Name| known.clone().filter(|n| *n == name).count() > 1;
    let all = named(known.clone().filter(|name| !twice(name)), "b");
    let any = named(known.clone().filter(|name| twice(name)), "c");
    let pieces: Vec<Piece> = accesses
        .into_iter()
        .map(|at| {
            let piece = Piece::set("P", variables.iter().map(String::as_str));
            let hidden = own.iter().chain(&all).chain(&any);
            let piece = hidden.fold(piece, |piece, (_, v)| piece.exists(v));
            let piece = writer.assigns(piece, &own);
            let piece = reader.within(piece, &all);
            let names: Vec<_> = all.iter().chain(&any).cloned().collect();
            at_element(piece, at, &names)
        })
        .collect();
    poly::bounded(OPERATIONS, || Ok(!Set::new(&pieces)?.is_empty()?))
}

impl Assigned {
    /// The sizes in indices and ranges.
    pub(super) fn sizes(&self) -> impl Iterator<Item = Name> {
        let given = self.ranges.iter().filter_map(|r| r.given.as_ref());
        let all = given.flat_map(Range::bounds).chain(&self.index);
        all.flat_map(Affine::sizes).cloned()
    }

    /// The iterators of the target, and the iterators that their ranges depend on, as variables.
    pub(super) fn own(&self, prefix: &str) -> Vec<(Name, String)> {
        let mut wanted: Vec<&Name> = Vec::new();
        let mut open: Vec<&Name> = self.index.iter().flat_map(Affine::iterators).collect();
        while let Some(name) = open.pop() {
            if !wanted.contains(&name) {
                wanted.push(name);
                let given = self.ranges.iter().find(|r| r.name == *name);
                let given = given.and_then(|r| r.given.as_ref());
                let bounds = given.into_iter().flat_map(|range| range.bounds());
                open.extend(bounds.flat_map(Affine::iterators));
            }
        }
        let own = self.ranges.iter().map(|r| &r.name);
        named(own.filter(|name| wanted.contains(name)), prefix)
    }

    /// The assigned elements.
    pub(super) fn assigns(&self, piece: Piece, own: &[(Name, String)]) -> Piece {
        at_element(self.within(piece, own), &self.index, own)
    }

    /// The ranges of the iterators.
    pub(super) fn within(&self, piece: Piece, names: &[(Name, String)]) -> Piece {
        let variable = |name: &Name| Some(names.iter().find(|(n, _)| n == name)?.1.clone());
        let known = self.ranges.iter();
        known.fold(piece, |piece, range| match variable(&range.name) {
            None => piece,
            Some(x) => bounded(piece, &range.range(), &x, &variable),
        })
    }
}

pub(super) fn elements(rank: usize) -> impl Iterator<Item = String> {
    (0..rank).map(|d| format!("e{d}"))
}

pub(super) fn named<'a>(
    names: impl Iterator<Item = &'a Name>,
    prefix: &str,
) -> Vec<(Name, String)> {
    let numbered = names.enumerate();
    numbered
        .map(|(k, name)| (name.clone(), format!("{prefix}{k}")))
        .collect()
}

/// Constrains the element to the one at an index.
pub(super) fn at_element(piece: Piece, index: &[Affine], names: &[(Name, String)]) -> Piece {
    let variable = |name: &Name| Some(names.iter().find(|(n, _)| n == name)?.1.clone());
    index.iter().enumerate().fold(piece, |piece, (d, a)| {
        let a: Linear = linear(a, &variable);
        piece.constrain(format!("e{d}").as_str(), Relation::Equal, a)
    })
}

/// The parts of an assignment; `None` unless its target has indices.
///
/// # Errors
/// The ranges do not fit.
pub fn assigned(assignment: &Expr) -> Result<Option<Assigned>, Mismatch> {
    let Node::Assign { target, value, .. } = assignment.node() else {
        return Ok(None);
    };
    let Node::Access { index, .. } = target.node() else {
        return Ok(None);
    };
    let index = match index {
        Index::At(index) => index.clone(),
        Index::Unset | Index::Forbidden => Vec::new(),
    };
    Ok(Some(Assigned {
        index,
        ranges: shape::all_ranges(assignment)?,
        value: value.clone(),
    }))
}
