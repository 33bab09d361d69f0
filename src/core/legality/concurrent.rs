//! Whether parallel and vector loops run conflicting iterations at the same time. This is the exact
//! test for loops that [`super::independence`] cannot prove.

use super::limit::OPERATIONS;
use super::pairs::{Iteration, touching, touching_written};
use super::program::{Leaf, Program, What};
use super::reassociation::{Reductions, are_atomic};
use super::space::Space;
use super::verdict::{Question, Undecided};
use crate::ir::{Loop, Mode, Name};
use crate::poly::{self, Error, Linear, Map, Piece, Point, Relation, Set};

/// Two conflicting executions that a loop runs at the same time: both touch one element, and at
/// least one writes it.
pub(super) struct Conflict<'a> {
    pub(super) by: &'a Loop,
    pub(super) pair: (Point, Point),
}

/// A loop that runs several iterations at the same time.
pub(super) struct Marked<'p, 'a> {
    by: &'a Loop,
    /// One of the leaves in it.
    leaf: &'p Leaf<'a>,
    /// The number of loops around it.
    depth: usize,
    /// The number of iterations that run at the same time; `None` if all do.
    pub(super) lanes: Option<i64>,
    /// The policy on the order of atomic updates; `None` if updates are not atomic.
    pub(super) atomic: Option<Reductions>,
}

impl<'a> Marked<'_, 'a> {
    pub(super) fn name(&self) -> &'a Name {
        &self.by.name
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    pub(super) fn nest(&self) -> usize {
        self.leaf.place[0]
    }
}

/// The loops that run several iterations at the same time.
pub(super) fn marked<'p, 'a>(
    program: &'p Program<'a>,
    reductions: Reductions,
) -> Vec<Marked<'p, 'a>> {
    let mut found: Vec<Marked> = Vec::new();
    for leaf in &program.leaves {
        for (depth, by) in leaf.loops.iter().enumerate() {
            let collapses = |d: &usize| leaf.loops[*d].collapse() > depth - *d;
            let collapsed = (0..depth).find(collapses);
            let is_atomic = by.is_atomic() || collapsed.is_some_and(|d| leaf.loops[d].is_atomic());
            let collapsed = collapsed.is_some();
            let is_marked = !by.is_serial() || collapsed;
            let same = |m: &Marked| (m.leaf.place[0], m.name()) == (leaf.place[0], &by.name);
            if !is_marked || found.iter().any(same) {
                continue;
            }
            let lanes = by.at_a_time().filter(|_| !collapsed);
            found.push(Marked {
                by,
                leaf,
                depth,
                lanes,
                atomic: is_atomic.then_some(reductions),
            });
        }
    }
    found
}

/// The first conflict.
pub(super) fn conflict<'a>(
    program: &Program<'a>,
    reductions: Reductions,
) -> Result<Option<Conflict<'a>>, Undecided> {
    for marked in marked(program, reductions) {
        if !is_independent(program, &marked)? {
            let by = marked.by;
            let pair = poly::bounded(OPERATIONS, || first(program, &marked));
            let pair = pair.map_err(|error| marked.undecided(program, error))?;
            return Ok(pair.map(|pair| Conflict { by, pair }));
        }
    }
    Ok(None)
}

/// Whether no two iterations that a loop runs at the same time conflict.
pub(super) fn is_independent(program: &Program, marked: &Marked) -> Result<bool, Undecided> {
    let decide = || {
        let inside = marked.inside(program);
        for (_, one) in &inside {
            for (_, other) in &inside {
                if !marked.is_independent(&Iteration::pair(one, other))? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    };
    poly::bounded(OPERATIONS, decide).map_err(|error| marked.undecided(program, error))
}

/// The lexicographically first pair of conflicting accesses. Its first access is a write.
fn first(program: &Program, marked: &Marked) -> Result<Option<(Point, Point)>, Error> {
    let mut found: Option<(Point, Point)> = None;
    let inside = marked.inside(program);
    for (k, one) in &inside {
        for (m, other) in &inside {
            let pair = Iteration::pair(one, other);
            for (access, touching) in touching_written(&pair) {
                if access.is_none() && marked.is_atomic(&pair) {
                    continue;
                }
                let later = match access {
                    Some(access) => Space::Read { leaf: *m, access },
                    None => Space::Write(*m),
                };
                for back in [false, true] {
                    let piece = marked.at_once(&pair, &touching, back);
                    let earlier = |p: &(Point, Point)| {
                        let key =
                            |p: &(Point, Point)| (p.0.coordinates.clone(), p.1.coordinates.clone());
                        found.as_ref().is_none_or(|f| key(p) < key(f))
                    };
                    let pair = first_pair(piece, [&Space::Write(*k), &later])?;
                    if let Some(pair) = pair.filter(earlier) {
                        found = Some(pair);
                    }
                }
            }
        }
    }
    Ok(found)
}

/// The first pair between points of these spaces.
fn first_pair(pairs: Piece, [from, to]: [&Space; 2]) -> Result<Option<(Point, Point)>, Error> {
    if pairs.is_empty()? {
        return Ok(None);
    }
    let pairs = Map::new(&[pairs])?;
    let Some(source) = pairs.domain()?.lexmin()?.sample()? else {
        return Ok(None);
    };
    let sinks = pairs
        .intersect_domain(&Set::new(&[at(&source)])?)?
        .range()?;
    let sink = sinks.lexmin()?.sample()?;
    let named = |point: Point, space: &Space| Point {
        tuple: Some(space.name()),
        ..point
    };
    Ok(sink.map(|sink| (named(source, from), named(sink, to))))
}

impl<'p, 'a> Marked<'p, 'a> {
    /// The leaves in the loop, and their numbers.
    fn inside(&self, program: &'p Program<'a>) -> Vec<(usize, &'p Leaf<'a>)> {
        let name = |l: &Leaf| l.loops.get(self.depth).map(|l| l.name.clone());
        let is_inside =
            |other: &Leaf| self.leaf.place[0] == other.place[0] && name(self.leaf) == name(other);
        let leaves = program.leaves.iter().enumerate();
        leaves.filter(|(_, leaf)| is_inside(leaf)).collect()
    }

    fn is_independent(&self, pair: &[Iteration; 2]) -> Result<bool, Error> {
        for touching in touching(pair, self.is_atomic(pair)) {
            if self.at_once(pair, &touching.hull, false).is_empty()? {
                continue;
            }
            for touching in touching.each() {
                if !self.at_once(pair, touching, false).is_empty()? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether both iterations only update elements, by atomic operations whose order does not
    /// matter.
    fn is_atomic(&self, pair: &[Iteration; 2]) -> bool {
        let [one, other] = pair.each_ref().map(|iteration| &iteration.leaf.what);
        match (one, other, self.atomic) {
            (What::Stmt(one), What::Stmt(other), Some(reductions)) => {
                are_atomic(one, other, reductions)
            }
            _ => false,
        }
    }

    fn undecided(&self, program: &Program, error: Error) -> Undecided {
        let question = Question::Independence {
            by: self.by.name.clone(),
            // A collapsed loop takes its mark from the loop that collapses it.
            parallel: !matches!(self.by.mode, Mode::Vector { .. }),
        };
        Undecided::of(program, question, error)
    }

    /// Restricts `touching` to pairs that run at the same time, in one iteration of the outer
    /// loops. `back` tells whether the second iteration is the earlier one.
    fn at_once(&self, pair: &[Iteration; 2], touching: &Piece, back: bool) -> Piece {
        let [s, t] = pair.each_ref().map(Iteration::iterators);
        let outer = s.iter().zip(&t).take(self.depth);
        let piece = outer.fold(touching.clone(), |piece, (a, b)| {
            piece.constrain(a.clone(), Relation::Equal, b.clone())
        });
        let (low, high) = if back {
            (&t[self.depth], &s[self.depth])
        } else {
            (&s[self.depth], &t[self.depth])
        };
        let piece = piece.constrain(low.clone(), Relation::Less, high.clone());
        match self.lanes {
            Some(lanes) => piece.constrain(high.minus(low), Relation::Less, lanes),
            None => piece,
        }
    }
}

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
