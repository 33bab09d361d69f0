//! Programs as relations between integer points.
//!
//! An instance of assignment a is the point `S⟨a⟩[…]` of the iterators around it in the definition.
//! The initialization of an element is the point `F⟨a⟩[…]` of the iterators around it and the
//! element's indices. The elements of tensor A are the points `m_A[…]`.

use super::clock::Clock;
use super::constraints::{bounded, linear, within};
use super::program::{Leaf, Original, What};
use super::space::Space;
use super::strips::without_strips;
use crate::ir::{Affine, Name, Origin, Range};
use crate::poly::{Linear, Piece, Relation};
use std::borrow::Cow;

/// All instances of an assignment.
pub(super) fn instances(a: usize, original: &Original) -> Piece {
    let variables: Vec<String> = (0..original.loops.len()).map(point_variable).collect();
    let piece = Piece::set(
        &Space::Statement(a).name(),
        variables.iter().map(String::as_str),
    );
    let variable = original_variable(original);
    original
        .loops
        .iter()
        .zip(&variables)
        .fold(piece, |piece, (l, x)| {
            bounded(piece, &l.range, x, &variable)
        })
}

/// The coordinate for each iterator of an original.
fn original_variable<'o>(original: &'o Original) -> impl Fn(&Name) -> Option<String> + 'o {
    |name| {
        let k = original.loops.iter().position(|l| l.name == *name)?;
        Some(point_variable(k))
    }
}

fn point_variable(k: usize) -> String {
    format!("x{k}")
}

/// The instances that a leaf executes.
pub(super) fn executed(leaf: &Leaf) -> Option<Piece> {
    let (origin, region) = executes(leaf)?;
    let bounds = region.iter().flat_map(|(low, extent)| [low, extent]);
    let used: Vec<&Affine> = origin.point.iter().chain(bounds).collect();
    let ranges = without_strips(&leaf.loops, &|name| used.iter().any(|a| a.mentions(name)));
    iterated(leaf, &ranges)
}

/// The instances that a leaf executes, constrained by the iterations that execute them. The
/// iterators of the loops around are the hidden variables `t0`, `t1` … A loop without a range is left
/// out.
fn iterated(leaf: &Leaf, ranges: &[Option<Cow<Range>>]) -> Option<Piece> {
    let variable = |name: &Name| {
        let k = leaf.loops.iter().position(|l| l.name == *name)?;
        Some(format!("t{k}"))
    };
    let instances = leaf.instances()?.name();
    let (origin, region) = executes(leaf)?;
    let coordinates = origin.point.len() + region.len();
    let variables: Vec<String> = (0..coordinates).map(point_variable).collect();
    let (point, elements) = variables.split_at(origin.point.len());
    let piece = Piece::set(&instances, variables.iter().map(String::as_str));
    let piece = origin.point.iter().zip(point).fold(piece, |piece, (a, x)| {
        piece.constrain(x.as_str(), Relation::Equal, linear(a, &variable))
    });
    let piece = within(piece, region, elements, &variable);
    let piece = ranges.iter().enumerate().fold(piece, |piece, (k, range)| {
        let Some(range) = range else { return piece };
        let t = format!("t{k}");
        bounded(piece.exists(&t), range, &t, &variable)
    });
    Some(piece)
}

/// The instance and the box of elements that a leaf executes in an iteration.
fn executes<'a>(leaf: &Leaf<'a>) -> Option<(&'a Origin, &'a [(Affine, Affine)])> {
    Some(match leaf.what {
        What::Stmt(s) => (s.origin.as_ref()?, &[][..]),
        What::Fill(f) => (f.origin.as_ref()?, &f.region[..]),
    })
}

/// The instances of a leaf, with all iterators around it.
fn in_iterations(leaf: &Leaf) -> Option<Piece> {
    let ranges = leaf.loops.iter().map(|l| Some(Cow::Borrowed(&l.range)));
    iterated(leaf, &ranges.collect::<Vec<_>>())
}

/// The map from a leaf's instances to the times at which the nests execute them.
pub(super) fn time(leaf: &Leaf, clock: &Clock) -> Option<Piece> {
    Some(in_iterations(leaf)?.to("", clock.moment(leaf)))
}

/// The map from a leaf's instances to the values of the outermost `count` iterators around it.
pub(super) fn iterations(leaf: &Leaf, count: usize) -> Option<Piece> {
    let values = (0..count).map(|k| Linear::from(format!("t{k}").as_str()));
    Some(in_iterations(leaf)?.to("", values))
}
