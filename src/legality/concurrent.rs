//! Whether parallel and vector loops run iterations at the same time that touch one element.

use super::memory::{iterator, read, written};
use super::program::{Leaf, Program};
use crate::ir::{Loop, Name};
use crate::poly::{Error, Linear, Piece, Point, Relation, UnionMap, UnionSet};

/// Two executions that a loop runs at the same time although they touch one element, which at
/// least one of them writes.
pub(super) struct Conflict<'a> {
    pub(super) by: &'a Loop,
    pub(super) pair: (Point, Point),
}

/// A loop that runs iterations at the same time.
pub(super) struct Marked<'p, 'a> {
    by: &'a Loop,
    /// One of the leaves in it.
    leaf: &'p Leaf<'a>,
    /// How many loops are around it.
    depth: usize,
    /// How many iterations run at the same time, if not all of them.
    pub(super) lanes: Option<i64>,
}

impl<'a> Marked<'_, 'a> {
    pub(super) fn name(&self) -> &'a Name {
        &self.by.name
    }
}

/// The loops that run iterations at the same time.
pub(super) fn marked<'p, 'a>(program: &'p Program<'a>) -> Vec<Marked<'p, 'a>> {
    let mut found: Vec<Marked> = Vec::new();
    for leaf in &program.leaves {
        for (depth, by) in leaf.loops.iter().enumerate() {
            let collapsed = (0..depth).any(|d| leaf.loops[d].sharing.collapse > depth - d);
            let is_marked = by.parallel || by.vector || collapsed;
            let same = |m: &Marked| (m.leaf.place[0], m.name()) == (leaf.place[0], &by.name);
            if !is_marked || found.iter().any(same) {
                continue;
            }
            let lanes = by.lanes.filter(|_| by.vector && !by.parallel && !collapsed);
            found.push(Marked {
                by,
                leaf,
                depth,
                lanes,
            });
        }
    }
    found
}

/// The first conflict.
pub(super) fn conflict<'a>(program: &Program<'a>) -> Result<Option<Conflict<'a>>, Error> {
    for marked in marked(program) {
        if let Some(pair) = first(&carried(program, &marked)?)? {
            return Ok(Some(Conflict {
                by: marked.by,
                pair,
            }));
        }
    }
    Ok(None)
}

/// Whether no two of the iterations that a loop runs at the same time conflict.
pub(super) fn is_independent(program: &Program, marked: &Marked) -> Result<bool, Error> {
    carried(program, marked)?.is_empty()
}

/// Whether a leaf is in the loop at `depth` around another one.
fn is_inside(leaf: &Leaf, other: &Leaf, depth: usize) -> bool {
    let name = |l: &Leaf| l.loops.get(depth).map(|l| l.name.clone());
    leaf.place[0] == other.place[0] && name(leaf) == name(other)
}

/// Pairs of accesses, the first one a write, in different iterations of a loop that run at the same
/// time, and in one iteration of the loops further out.
fn carried(program: &Program, marked: &Marked) -> Result<UnionMap, Error> {
    let (depth, lanes) = (marked.depth, marked.lanes);
    let numbered = program.leaves.iter().enumerate();
    let leaves: Vec<(usize, &Leaf)> = numbered
        .filter(|(_, other)| is_inside(other, marked.leaf, depth))
        .collect();
    let leaves = leaves.as_slice();
    let writes = UnionMap::new(&all(leaves, |k, leaf| vec![leaf.write(k)]))?;
    let reads = all(leaves, |k, leaf| {
        leaf.reads(k).into_iter().map(|read| read.2).collect()
    });
    let touched = writes.union(&UnionMap::new(&reads)?)?;
    let conflicts = writes.apply_range(&touched.reverse()?)?;
    if conflicts.is_empty()? {
        return Ok(conflicts);
    }
    let pieces = all(leaves, |k, leaf| {
        let reads = leaf.reads(k);
        let tuples = reads.iter().map(|(r, ..)| read(k, *r)).chain([written(k)]);
        let values = leaf.iterators()[..=depth].to_vec();
        let maps = tuples.map(|t| leaf.domain(&t).to("", values.clone()));
        maps.collect()
    });
    let iterations = UnionMap::new(&pieces)?;
    let at_once = UnionMap::new(&[false, true].map(|back| concurrently(depth, lanes, back)))?;
    let at_once = iterations
        .apply_range(&at_once)?
        .apply_range(&iterations.reverse()?)?;
    conflicts.intersect(&at_once)
}

/// From an iteration of the loop at `depth` to those that run at the same time: all later ones, or
/// all earlier ones, of the same iteration of the loops further out, with `lanes` only the nearest.
fn concurrently(depth: usize, lanes: Option<i64>, back: bool) -> Piece {
    let variables: Vec<String> = (0..=depth).map(iterator).collect();
    let last = variables[depth].as_str();
    let other = format!("{last} other");
    let outer = variables[..depth].iter().map(|t| Linear::from(t.as_str()));
    let values = outer.chain([Linear::from(other.as_str())]);
    let (low, high) = match back {
        true => (other.as_str(), last),
        false => (last, other.as_str()),
    };
    let piece = Piece::set("", variables.iter().map(String::as_str)).to("", values);
    let piece = piece.constrain(low, Relation::Less, high);
    match lanes {
        Some(lanes) => piece.constrain(high, Relation::Less, Linear::new([(1, low)], lanes)),
        None => piece,
    }
}

fn all(leaves: &[(usize, &Leaf)], pieces: impl Fn(usize, &Leaf) -> Vec<Piece>) -> Vec<Piece> {
    let pieces = leaves.iter().flat_map(|(k, leaf)| pieces(*k, leaf));
    pieces.collect()
}

/// The lexicographically first pair of the first tuples.
fn first(pairs: &UnionMap) -> Result<Option<(Point, Point)>, Error> {
    let mut found: Option<(Point, Point)> = None;
    for map in pairs.maps()? {
        let Some(source) = map.domain()?.lexmin()?.sample()? else {
            continue;
        };
        let from = UnionSet::new(&[at(&source)])?;
        let sinks = map.to_union()?.intersect_domain(&from)?.range()?;
        let sink = sinks.lexmin()?.sample()?;
        let pair = sink.map(|sink| (source, sink));
        let earlier = |p: &(Point, Point)| {
            let key = |p: &(Point, Point)| (p.0.coordinates.clone(), p.1.coordinates.clone());
            found.as_ref().is_none_or(|f| key(p) < key(f))
        };
        if let Some(pair) = pair.filter(earlier) {
            found = Some(pair);
        }
    }
    Ok(found)
}

/// A single point.
pub(super) fn at(point: &Point) -> Piece {
    let variables: Vec<String> = (0..point.coordinates.len())
        .map(|k| format!("x{k}"))
        .collect();
    let tuple = point.tuple.as_deref().unwrap_or_default();
    let piece = Piece::set(tuple, variables.iter().map(String::as_str));
    let coordinates = variables.iter().zip(&point.coordinates);
    coordinates.fold(piece, |piece, (x, value)| {
        piece.constrain(x.as_str(), Relation::Equal, Linear::from(*value))
    })
}
