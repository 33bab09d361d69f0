//! Conflicting pairs of iterations of two leaves: both touch one element, and at least one writes
//! it.
//!
//! Each pair of accesses is one polyhedron in the iterators around both. Composition, projection
//! and union would be slow with many statements, accesses and loops. The polyhedron is skipped if
//! the accessed boxes are disjoint, or if the GCD test separates the indices.

use super::constraints::linear;
use super::lookups::{Values, both};
use super::memory::{Memory, iterator, read_accesses};
use super::program::{Leaf, What, accesses};
use crate::analysis::bounds::Bounds;
use crate::ir::{Affine, Name, Tensor};
use crate::poly::{Constraint, Linear, Piece, Relation};

/// The suffix of the second iteration's iterators.
const SECOND: &str = " other";

/// One of two iterations of the loops around a leaf.
pub(super) struct Iteration<'p, 'a> {
    pub(super) leaf: &'p Leaf<'a>,
    mark: &'static str,
}

/// An element that a leaf touches.
struct Touch<'a> {
    tensor: &'a Tensor,
    memory: Memory,
    at: Vec<Linear>,
    /// The interval of each index.
    sides: Vec<Option<(i64, i64)>>,
    /// The number of the read; `None` for the write.
    read: Option<usize>,
    /// Whether it is the target of an update.
    updated: bool,
}

impl Leaf<'_> {
    /// The map from iterations to the instances that they execute, if any.
    pub(super) fn executes(&self) -> Option<Piece> {
        let instances = self.instances()?.name();
        let [own, _] = Iteration::pair(self, self);
        Some(self.domain("").to(&instances, own.executed()?))
    }
}

impl<'p, 'a> Iteration<'p, 'a> {
    /// One iteration of the first leaf and one of the second.
    pub(super) fn pair(first: &'p Leaf<'a>, second: &'p Leaf<'a>) -> [Iteration<'p, 'a>; 2] {
        let marks = [(first, ""), (second, SECOND)];
        marks.map(|(leaf, mark)| Iteration { leaf, mark })
    }

    pub(super) fn iterators(&self) -> Vec<Linear> {
        let loops = 0..self.leaf.loops.len();
        loops.map(|d| self.linear(&iterator(d))).collect()
    }

    /// The coordinates of the executed instance, without the element of a fill; `None` if the leaf
    /// executes no instance.
    pub(super) fn point(&self) -> Option<Vec<Linear>> {
        let origin = match self.leaf.what {
            What::Stmt(s) => s.origin.as_ref()?,
            What::Fill(fill) => fill.origin.as_ref()?,
        };
        Some(origin.point.iter().map(|a| self.affine(a)).collect())
    }

    /// All coordinates of the executed instance.
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

    /// The iterators of loops whose bounds are read.
    fn read(&self) -> Vec<Values<'a>> {
        let loops = self.leaf.loops.iter().enumerate();
        let values = loops.filter_map(|(d, l)| {
            let value = self.linear(&iterator(d));
            let segment = l.range.within.as_ref()?;
            Values::of(segment, &value, &|a| self.affine(a), &self.leaf.loops)
        });
        values.collect()
    }

    fn touched(&self) -> Vec<Touch<'a>> {
        let bounds = Bounds::of_chain(self.leaf.loops.iter().copied());
        let around = |memory: &Memory| -> Vec<Linear> {
            (0..memory.loops)
                .map(|d| self.linear(&iterator(d)))
                .collect()
        };
        let mut found: Vec<Touch<'a>> = Vec::new();
        match self.leaf.what {
            What::Fill(fill) => {
                let memory = self.leaf.memory(&fill.target);
                let elements = 0..fill.region.len();
                let elements = elements.map(|d| self.linear(&super::memory::element(d)));
                let side = |(low, extent): &(Affine, Affine)| {
                    let (first, _) = bounds.interval(low)?;
                    let (_, end) = bounds.interval(&low.plus(extent))?;
                    Some((first, end.checked_sub(1)?))
                };
                found.push(Touch {
                    tensor: &fill.target,
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
                // The read of an update's target is merged with its write.
                for (read, access) in written.chain(read.filter(|(r, _)| *r != Some(0))) {
                    let memory = self.leaf.memory(access.tensor);
                    let index = access.index.iter().map(|a| self.affine(a));
                    found.push(Touch {
                        tensor: access.tensor,
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

/// Pairs of iterations that touch one element through accesses that differ only by constants.
pub(super) struct Touching {
    /// A superset of all pairs: the constants fill an interval.
    pub(super) hull: Piece,
    /// The pairs of each two accesses; empty if there is only one, which is the hull.
    each: Vec<Piece>,
}

impl Touching {
    /// The pairs that satisfy more constraints.
    pub(super) fn constrained(&self, constraints: &[Constraint]) -> Touching {
        let each = self.each.iter();
        Touching {
            hull: constrained(&self.hull, constraints),
            each: each.map(|piece| constrained(piece, constraints)).collect(),
        }
    }

    /// The pairs of each two accesses.
    pub(super) fn each(&self) -> &[Piece] {
        match self.each.as_slice() {
            [] => std::slice::from_ref(&self.hull),
            several => several,
        }
    }
}

/// The conflicting pairs of iterations. If `free`, pairs that only update the element by commuting
/// updates do not conflict.
pub(super) fn touching(pair: &[Iteration; 2], free: bool) -> Vec<Touching> {
    meeting(pair, |one, other| {
        let counts = one.read.is_none() || other.read.is_none();
        counts && !(free && one.updated && other.updated)
    })
}

/// The conflicting pairs of iterations, for each tensor that `counts`.
pub(super) fn touching_each<'a>(
    [first, second]: &[Iteration<'_, 'a>; 2],
    counts: &dyn Fn(&Tensor) -> bool,
) -> Vec<(&'a Tensor, Piece)> {
    let all = iterations(first, second);
    let others = second.touched();
    let touched = first.touched();
    let pairs = touched.iter().filter(|one| counts(one.tensor));
    let pairs = pairs.flat_map(|one| others.iter().map(move |other| (one, other)));
    let pairs = pairs.filter(|(one, other)| one.read.is_none() || other.read.is_none());
    let pieces =
        pairs.filter_map(|(one, other)| Some((one.tensor, exact(&all, &one.meets(other)?))));
    pieces.collect()
}

/// The pairs of iterations where the second one reads what the first one writes.
pub(super) fn read_after([first, second]: &[Iteration; 2]) -> Vec<Piece> {
    let all = iterations(first, second);
    let others = second.touched();
    let others = || others.iter().filter(|o| o.read.is_some() || o.updated);
    let written = first.touched();
    let written = written.iter().filter(|one| one.read.is_none());
    let meet = written.flat_map(|one| others().filter_map(|other| one.meets(other)));
    meet.map(|equations| exact(&all, &equations)).collect()
}

/// The pairs of iterations that read one element.
pub(super) fn reading(pair: &[Iteration; 2]) -> Vec<Touching> {
    meeting(pair, |one, other| {
        one.read.is_some() && other.read.is_some()
    })
}

/// The pairs of iterations that touch one element through accesses selected by `counts`.
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

/// The points of `all` that satisfy one of the lists of equations, which differ only in constants.
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

/// The pairs of iterations that execute one instance of the definition, if any.
pub(super) fn executing_one(pair: &[Iteration; 2]) -> Option<Piece> {
    let [first, second] = pair;
    let [x, y] = [first.executed()?, second.executed()?];
    let all = iterations(first, second);
    let equal = x.into_iter().zip(y);
    Some(equal.fold(all, |piece, (x, y)| piece.constrain(x, Relation::Equal, y)))
}

/// Flow and output pairs, by access number (`None`: the write).
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

impl Touch<'_> {
    /// The expressions that vanish if both are the same element; `None` if they never are.
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

fn exact(all: &Piece, equations: &[Linear]) -> Piece {
    let equations = equations.iter();
    equations.fold(all.clone(), |piece, e| {
        piece.constrain(e.clone(), Relation::Equal, 0)
    })
}

pub(super) fn iterations(first: &Iteration, second: &Iteration) -> Piece {
    let [from, to] = [first, second].map(|e| e.leaf.coordinates(e.mark));
    let to = to.iter().map(|x| Linear::from(x.as_str()));
    let all = Piece::set("", from.iter().map(String::as_str)).to("", to);
    let parameters = first.leaf.parameters.iter();
    let all = parameters.fold(all, |piece, name| piece.parameter(name.as_str()));
    let all = [first, second]
        .into_iter()
        .fold(all, |piece, e| e.leaf.bound(piece, e.mark));
    let [own, others] = [first, second].map(Iteration::read);
    let pairs = own
        .iter()
        .flat_map(|one| others.iter().map(move |other| both(one, other)));
    pairs.flatten().fold(all, Piece::one_of)
}

/// The points of `piece` at which `x` precedes `y`, as in [`orders`].
pub(super) fn before(
    piece: &Piece,
    points: (&[Linear], &[Linear]),
    count: usize,
    or_equal: bool,
) -> Vec<Piece> {
    let orders = orders(points, count, or_equal).into_iter();
    orders.map(|order| constrained(piece, &order)).collect()
}

/// The ways in which `x` precedes `y` lexicographically in the first `count` coordinates. If
/// `or_equal`, points with equal prefixes are included.
pub(super) fn orders(
    (x, y): (&[Linear], &[Linear]),
    count: usize,
    or_equal: bool,
) -> Vec<Vec<Constraint>> {
    let mut found = Vec::new();
    let mut same = Vec::new();
    for (a, b) in x.iter().zip(y).take(count) {
        let mut less: Vec<Constraint> = same.clone();
        less.push((a.clone(), Relation::Less, b.clone()));
        found.push(less);
        same.push((a.clone(), Relation::Equal, b.clone()));
    }
    if or_equal {
        found.push(same);
    }
    found
}

/// The points of `piece` that satisfy more constraints.
pub(super) fn constrained(piece: &Piece, constraints: &[Constraint]) -> Piece {
    let constraints = constraints.iter().cloned();
    constraints.fold(piece.clone(), |piece, (a, relation, b)| {
        piece.constrain(a, relation, b)
    })
}
