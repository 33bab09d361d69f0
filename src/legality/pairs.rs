//! Pairs of executions of two leaves that touch one element, which at least one of them writes.
//!
//! Each pair of accesses is one polyhedron in the iterators around both: nothing is composed,
//! projected or united, which is what takes time where there are many statements, accesses and
//! loops. Accesses whose boxes of elements have nothing in common, or whose indices differ by what
//! no multiples of the iterators make up for, are no pair.

use super::memory::{Memory, iterator};
use super::program::{Leaf, What, accesses};
use super::relations::{fill, linear, statement};
use crate::analysis::bounds::Bounds;
use crate::ir::{Affine, Name};
use crate::poly::{Linear, Piece, Relation};

/// The iterators of the second one of two iterations have this behind their names.
const SECOND: &str = " other";

/// An iteration of the loops around a leaf, one of two.
pub(super) struct Iteration<'p, 'a> {
    pub(super) leaf: &'p Leaf<'a>,
    mark: &'static str,
}

/// An element that a leaf touches.
struct Touch {
    memory: Memory,
    at: Vec<Linear>,
    /// What the indices are at least and at most.
    sides: Vec<Option<(i64, i64)>>,
    write: bool,
    /// Whether it is what an update updates.
    updated: bool,
}

impl Leaf<'_> {
    /// The map from iterations to the instances that they execute, if they execute any.
    pub(super) fn executes(&self) -> Option<Piece> {
        let tuple = match self.what {
            What::Stmt(_) => statement(self.assignment?),
            What::Fill(_) => fill(self.assignment?),
        };
        let [own, _] = Iteration::pair(self, self);
        Some(self.domain("").to(&tuple, own.executed()?))
    }
}

impl<'p, 'a> Iteration<'p, 'a> {
    /// One of the first leaf and one of the second.
    pub(super) fn pair(first: &'p Leaf<'a>, second: &'p Leaf<'a>) -> [Iteration<'p, 'a>; 2] {
        let marks = [(first, ""), (second, SECOND)];
        marks.map(|(leaf, mark)| Iteration { leaf, mark })
    }

    /// The iterators around the leaf.
    pub(super) fn iterators(&self) -> Vec<Linear> {
        let loops = 0..self.leaf.loops.len();
        loops.map(|d| self.linear(&iterator(d))).collect()
    }

    /// The coordinates of the instance of the definition that is executed, but for the element of a
    /// fill; `None` if it is none.
    pub(super) fn point(&self) -> Option<Vec<Linear>> {
        let origin = match self.leaf.what {
            What::Stmt(s) => s.origin.as_ref()?,
            What::Fill(fill) => fill.origin.as_ref()?,
        };
        Some(origin.point.iter().map(|a| self.affine(a)).collect())
    }

    /// All coordinates of the instance that is executed.
    fn executed(&self) -> Option<Vec<Linear>> {
        let elements = self.leaf.coordinates(self.mark);
        let elements = elements.iter().skip(self.leaf.loops.len());
        let elements = elements.map(|x| Linear::from(x.as_str()));
        Some(self.point()?.into_iter().chain(elements).collect())
    }

    fn linear(&self, variable: &str) -> Linear {
        Linear::from(format!("{variable}{}", self.mark).as_str())
    }

    fn affine(&self, a: &Affine) -> Linear {
        linear(a, &|name: &Name| {
            Some(self.leaf.variable(name)? + self.mark)
        })
    }

    fn touched(&self) -> Vec<Touch> {
        let bounds = Bounds::of_chain(self.leaf.loops.iter().copied());
        let around = |memory: &Memory| -> Vec<Linear> {
            (0..memory.loops)
                .map(|d| self.linear(&iterator(d)))
                .collect()
        };
        let mut found: Vec<Touch> = Vec::new();
        match self.leaf.what {
            What::Fill(fill) => {
                let memory = self.leaf.memory(&fill.target);
                let elements = 0..fill.region.len();
                let elements = elements.map(|d| self.linear(&super::memory::element(d)));
                let side = |(low, extent): &(Affine, u64)| {
                    let (first, last) = bounds.interval(low)?;
                    Some((first, last.checked_add_unsigned(extent.checked_sub(1)?)?))
                };
                found.push(Touch {
                    at: around(&memory).into_iter().chain(elements).collect(),
                    memory,
                    sides: fill.region.iter().map(side).collect(),
                    write: true,
                    updated: false,
                });
            }
            What::Stmt(s) => {
                for (k, access) in accesses(s).into_iter().enumerate() {
                    // What an update reads is what it writes.
                    if k == 1 && s.update.is_some() {
                        continue;
                    }
                    let memory = self.leaf.memory(access.tensor);
                    let index = access.index.iter().map(|a| self.affine(a));
                    found.push(Touch {
                        at: around(&memory).into_iter().chain(index).collect(),
                        memory,
                        sides: access.index.iter().map(|a| bounds.interval(a)).collect(),
                        write: access.write,
                        updated: k == 0 && s.update.is_some(),
                    });
                }
            }
        }
        found
    }
}

/// The pairs of executions that touch one element; where the updates of both are `free`, not those
/// that only update it both.
pub(super) fn touching([first, second]: &[Iteration; 2], free: bool) -> Vec<Piece> {
    let others = second.touched();
    let mut found: Vec<Vec<Linear>> = Vec::new();
    for one in first.touched() {
        let meets = |other: &&Touch| {
            let counts = (one.write || other.write) && !(free && one.updated && other.updated);
            counts && one.memory == other.memory && one.may_be(other)
        };
        for other in others.iter().filter(meets) {
            let pairs = one.at.iter().zip(&other.at);
            let equations = pairs.map(|(a, b)| a.minus(b).equation());
            let Some(mut equations) = equations.collect::<Option<Vec<Linear>>>() else {
                continue;
            };
            equations.retain(|e| !e.is_constant());
            equations.sort_unstable();
            equations.dedup();
            if !found.contains(&equations) {
                found.push(equations);
            }
        }
    }
    if found.is_empty() {
        return Vec::new();
    }
    let all = executions(first, second);
    let pieces = found.into_iter().map(|equations| {
        let equations = equations.into_iter();
        equations.fold(all.clone(), |piece, e| {
            piece.constrain(e, Relation::Equal, 0)
        })
    });
    pieces.collect()
}

/// The pairs of iterations that execute one instance of the definition, if they execute any.
pub(super) fn executing_one(pair: &[Iteration; 2]) -> Option<Piece> {
    let [first, second] = pair;
    let [x, y] = [first.executed()?, second.executed()?];
    let all = executions(first, second);
    let equal = x.into_iter().zip(y);
    Some(equal.fold(all, |piece, (x, y)| piece.constrain(x, Relation::Equal, y)))
}

impl Touch {
    /// Whether the boxes of elements have something in common.
    fn may_be(&self, other: &Touch) -> bool {
        let mut sides = self.sides.iter().zip(&other.sides);
        sides.all(|sides| match sides {
            (Some(a), Some(b)) => a.0 <= b.1 && b.0 <= a.1,
            _ => true,
        })
    }
}

/// All pairs of executions.
fn executions(first: &Iteration, second: &Iteration) -> Piece {
    let [from, to] = [first, second].map(|e| e.leaf.coordinates(e.mark));
    let to = to.iter().map(|x| Linear::from(x.as_str()));
    let all = Piece::set("", from.iter().map(String::as_str)).to("", to);
    let parameters = first.leaf.parameters.iter();
    let all = parameters.fold(all, |piece, name| piece.parameter(name.as_str()));
    [first, second]
        .into_iter()
        .fold(all, |piece, e| e.leaf.bound(piece, e.mark))
}

/// The points of `piece` at which `x` comes before `y` lexicographically in the first `count`
/// coordinates, or, if they are the same in these, where they are if `or_equal`.
pub(super) fn before(
    piece: &Piece,
    (x, y): (&[Linear], &[Linear]),
    count: usize,
    or_equal: bool,
) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut same = piece.clone();
    for (a, b) in x.iter().zip(y).take(count) {
        found.push(same.clone().constrain(a.clone(), Relation::Less, b.clone()));
        same = same.constrain(a.clone(), Relation::Equal, b.clone());
    }
    if or_equal {
        found.push(same);
    }
    found
}
