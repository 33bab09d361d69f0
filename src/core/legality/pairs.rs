//! Pairs of iterations of two leaves that touch one element, which at least one of them writes.
//!
//! Each pair of accesses is one polyhedron in the iterators around both: nothing is composed,
//! projected or united, which is what takes time where there are many statements, accesses and
//! loops. Accesses whose boxes of elements have nothing in common, or whose indices differ by what
//! no multiples of the iterators make up for, are no pair.

use super::constraints::linear;
use super::memory::{Memory, iterator, read_accesses};
use super::program::{Leaf, What, accesses};
use super::relations::{fill, statement};
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
    /// The number of the read, or none if it is written.
    read: Option<usize>,
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

    /// An index of the leaf, in this iteration.
    pub(super) fn affine(&self, a: &Affine) -> Linear {
        linear(a, &|name: &Name| {
            Some(self.leaf.variable(name)? + self.mark)
        })
    }

    /// The same for an expression of the coordinates of [`Leaf::domain`].
    pub(super) fn marked(&self, a: &Linear) -> Linear {
        let terms = a.terms().iter();
        let terms = terms.map(|(c, name)| (*c, format!("{name}{}", self.mark)));
        Linear::new(terms, a.constant())
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
                    read: None,
                    updated: false,
                });
            }
            What::Stmt(s) => {
                let written = accesses(s).into_iter().take(1).map(|access| (None, access));
                let read = read_accesses(s)
                    .into_iter()
                    .map(|(r, access)| (Some(r), access));
                // What an update reads is what it writes.
                for (read, access) in written.chain(read.filter(|(r, _)| *r != Some(0))) {
                    let memory = self.leaf.memory(access.tensor);
                    let index = access.index.iter().map(|a| self.affine(a));
                    found.push(Touch {
                        at: around(&memory).into_iter().chain(index).collect(),
                        memory,
                        sides: access.index.iter().map(|a| bounds.interval(a)).collect(),
                        updated: read.is_none() && s.update.is_some(),
                        read,
                    });
                }
            }
        }
        found
    }
}

/// Pairs of iterations that touch one element with accesses that are the same but for constants.
pub(super) struct Touching {
    /// All of them, and others whose distances are between theirs.
    pub(super) hull: Piece,
    /// Those of each two accesses; one of these only is the hull.
    each: Vec<Piece>,
}

impl Touching {
    /// Those of each two accesses.
    pub(super) fn each(&self) -> &[Piece] {
        match self.each.as_slice() {
            [] => std::slice::from_ref(&self.hull),
            several => several,
        }
    }
}

/// The pairs of iterations that touch one element; where the updates of both are `free`, not those
/// that only update it both.
pub(super) fn touching(pair: &[Iteration; 2], free: bool) -> Vec<Touching> {
    meeting(pair, |one, other| {
        let counts = one.read.is_none() || other.read.is_none();
        counts && !(free && one.updated && other.updated)
    })
}

/// The pairs of iterations that read one element.
pub(super) fn reading(pair: &[Iteration; 2]) -> Vec<Touching> {
    meeting(pair, |one, other| {
        one.read.is_some() && other.read.is_some()
    })
}

/// The pairs of iterations that touch one element with accesses that count.
fn meeting(
    [first, second]: &[Iteration; 2],
    counts: impl Fn(&Touch, &Touch) -> bool,
) -> Vec<Touching> {
    let others = second.touched();
    let mut found: Vec<Vec<Linear>> = Vec::new();
    for one in first.touched() {
        for other in &others {
            if !counts(&one, other) {
                continue;
            }
            let new = one
                .meets(other)
                .filter(|equations| !found.contains(equations));
            found.extend(new);
        }
    }
    if found.is_empty() {
        return Vec::new();
    }
    let all = iterations(first, second);
    let alike =
        |a: &[Linear], b: &[Linear]| a.iter().map(Linear::terms).eq(b.iter().map(Linear::terms));
    let mut groups: Vec<Vec<Vec<Linear>>> = Vec::new();
    for equations in found {
        match groups.iter_mut().find(|g| alike(&g[0], &equations)) {
            Some(group) => group.push(equations),
            None => groups.push(vec![equations]),
        }
    }
    groups.iter().map(|group| together(&all, group)).collect()
}

/// The points of `all` at which the equations of one of the lists hold, which differ in constants.
fn together(all: &Piece, group: &[Vec<Linear>]) -> Touching {
    let (hull, each) = match group {
        [one] => (exact(all, one), Vec::new()),
        several => {
            let first = several.first().into_iter().flatten().enumerate();
            let hull = first.fold(all.clone(), |piece, (k, equation)| {
                let constants = several.iter().filter_map(|e| Some(e.get(k)?.constant()));
                let (least, greatest) =
                    constants.fold((i64::MAX, i64::MIN), |(l, g), c| (l.min(c), g.max(c)));
                let terms = Linear::new(equation.terms().iter().cloned(), 0);
                piece
                    .constrain(-greatest, Relation::LessOrEqual, terms.clone())
                    .constrain(terms, Relation::LessOrEqual, -least)
            });
            (hull, several.iter().map(|e| exact(all, e)).collect())
        }
    };
    Touching { hull, each }
}

/// The pairs of iterations that execute one instance of the definition, if they execute any.
pub(super) fn executing_one(pair: &[Iteration; 2]) -> Option<Piece> {
    let [first, second] = pair;
    let [x, y] = [first.executed()?, second.executed()?];
    let all = iterations(first, second);
    let equal = x.into_iter().zip(y);
    Some(equal.fold(all, |piece, (x, y)| piece.constrain(x, Relation::Equal, y)))
}

/// The pairs of iterations of which the first one writes an element that the second one touches, by
/// the numbers of what that reads; it has none of what it writes.
pub(super) fn touching_written([first, second]: &[Iteration; 2]) -> Vec<(Option<usize>, Piece)> {
    let all = iterations(first, second);
    let written = first.touched();
    let others = second.touched();
    let pairs = written.iter().filter(|one| one.read.is_none());
    let pairs = pairs.flat_map(|one| others.iter().map(move |other| (one, other)));
    let pieces =
        pairs.filter_map(|(one, other)| Some((other.read, exact(&all, &one.meets(other)?))));
    pieces.collect()
}

impl Touch {
    /// When both are the same element, as what is 0; `None` if they never are.
    fn meets(&self, other: &Touch) -> Option<Vec<Linear>> {
        let mut sides = self.sides.iter().zip(&other.sides);
        let boxes_meet = sides.all(|sides| match sides {
            (Some(a), Some(b)) => a.0 <= b.1 && b.0 <= a.1,
            _ => true,
        });
        if self.memory != other.memory || !boxes_meet {
            return None;
        }
        let pairs = self.at.iter().zip(&other.at);
        let equations = pairs.map(|(a, b)| a.minus(b).equation());
        let mut equations = equations.collect::<Option<Vec<Linear>>>()?;
        equations.retain(|e| !e.is_constant());
        equations.sort_unstable();
        equations.dedup();
        Some(equations)
    }
}

/// The points of `all` at which all equations hold.
fn exact(all: &Piece, equations: &[Linear]) -> Piece {
    let equations = equations.iter();
    equations.fold(all.clone(), |piece, e| {
        piece.constrain(e.clone(), Relation::Equal, 0)
    })
}

/// All pairs of iterations.
pub(super) fn iterations(first: &Iteration, second: &Iteration) -> Piece {
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
