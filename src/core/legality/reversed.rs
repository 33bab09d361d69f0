//! Leaves of nests, each with the leaf of the definition that it executes. For two of them, the
//! pairs of iterations that reverse the order of instances.

use super::pairs::{Iteration, Touching, constrained, orders, touching};
use super::program::Leaf;
use super::verdict::Question;
use crate::poly::{Constraint, Error, Linear, Map, Piece, Relation, UnionMap, is_stopped};

/// A leaf of the nests.
pub(super) struct Placed<'p, 'a> {
    pub(super) leaf: &'p Leaf<'a>,
    /// The leaf of the definition that it executes.
    pub(super) original: &'p Leaf<'a>,
    /// Whether the loops around it are also those of the definition.
    pub(super) in_place: bool,
    /// Whether it evidently executes each instance once.
    pub(super) executes_each: bool,
    /// How many of the outermost loops are those of the definition.
    settled: usize,
}

impl<'p, 'a> Placed<'p, 'a> {
    pub(super) fn of(leaf: &'p Leaf<'a>, original: &'p Leaf<'a>) -> Placed<'p, 'a> {
        Placed {
            leaf,
            original,
            in_place: leaf.is_in_place(original),
            executes_each: leaf.executes_each(original),
            settled: leaf.settled(original),
        }
    }
}

/// Executions of two leaves that touch one element, and execute instances of the definition in the
/// reverse order.
pub(super) struct Reversed {
    /// The places of the leaves.
    pub(super) places: [Vec<usize>; 2],
    iterations: Map,
}

impl Reversed {
    /// The coordinates of one execution of each leaf.
    pub(super) fn sample(&self) -> Result<Option<[Vec<i64>; 2]>, Error> {
        let pair = self.iterations.sample()?;
        Ok(pair.map(|(x, y)| [x.coordinates, y.coordinates]))
    }
}

/// Two leaves of the nests.
pub(super) struct Pair<'p, 'a> {
    pub(super) first: &'p Placed<'p, 'a>,
    pub(super) later: &'p Placed<'p, 'a>,
    /// The number of loops around both, and whether the first one comes first in an iteration of
    /// all of them: in the definition and in the nests.
    meant: (usize, bool),
    found: (usize, bool),
    /// The number of common outer loops that are the same in the definition and in the nests.
    shared: usize,
}

impl<'p, 'a> Pair<'p, 'a> {
    pub(super) fn of(first: &'p Placed<'p, 'a>, later: &'p Placed<'p, 'a>) -> Pair<'p, 'a> {
        let meant = first.original.around_both(later.original);
        let found = first.leaf.around_both(later.leaf);
        let settled = first.settled.min(later.settled);
        Pair {
            first,
            later,
            meant,
            found,
            shared: settled.min(meant.0).min(found.0),
        }
    }

    pub(super) fn question(&self) -> Question {
        Question::Order([self.first, self.later].map(|placed| placed.original.text()))
    }

    /// Whether the positions of the leaves rule out a reversal. Instances in different iterations
    /// of the shared loops are never reversed.
    pub(super) fn is_kept(&self) -> bool {
        let unordered = self.meant == (self.shared, false);
        let in_order = self.found == (self.shared, true);
        let same = self.first.in_place && self.later.in_place && self.meant == self.found;
        unordered || in_order || same
    }

    /// The pairs of iterations that touch one element, in one iteration of the shared loops. If
    /// `free`, commuting updates do not conflict.
    ///
    /// The quick test finds most that have no pair. The answer is the same for the leaves in the
    /// other order.
    pub(super) fn conflicts(&self, free: bool) -> Result<Vec<Touching>, Error> {
        let pair = Iteration::pair(self.first.leaf, self.later.leaf);
        let [s, t] = pair.each_ref().map(Iteration::iterators);
        let both = s.into_iter().zip(t).take(self.shared);
        let shared: Vec<Constraint> = both.map(|(s, t)| (s, Relation::Equal, t)).collect();
        let mut found = Vec::new();
        for touching in touching(&pair, free) {
            let touching = touching.constrained(&shared);
            if !touching.hull.is_contradictory()? {
                found.push(touching);
            }
        }
        Ok(found)
    }

    /// The pairs of iterations, the first leaf's first, that execute two conflicting instances in
    /// the reverse order.
    pub(super) fn reversed(&self, conflicts: &[Touching]) -> Result<Vec<Map>, Error> {
        let pair = Iteration::pair(self.first.leaf, self.later.leaf);
        let [Some(x), Some(y)] = pair.each_ref().map(Iteration::point) else {
            return Ok(Vec::new());
        };
        let [s, t] = pair.each_ref().map(Iteration::iterators);
        let after = |all: Vec<Linear>| all.into_iter().skip(self.shared).collect::<Vec<_>>();
        let [x, y, s, t] = [x, y, s, t].map(after);
        let reversed = self.reversing((&x, &y), (&s, &t));
        let mut found = Vec::new();
        for touching in conflicts {
            if is_empty(&touching.hull.clone().one_of(reversed.clone()))? {
                continue;
            }
            for touching in touching.each() {
                for order in &reversed {
                    let piece = constrained(touching, order);
                    if !is_empty(&piece)? {
                        found.push(Map::new(&[piece])?);
                    }
                }
            }
        }
        Ok(found)
    }

    /// The ways in which instance `x` is meant to come before `y`, but iteration `s` does not come
    /// before `t`.
    fn reversing(
        &self,
        (x, y): (&[Linear], &[Linear]),
        (s, t): (&[Linear], &[Linear]),
    ) -> Vec<Vec<Constraint>> {
        let meant = self.meant.0 - self.shared;
        // In one iteration of all loops it comes later, or is the same execution.
        let found = self.found.0 - self.shared;
        let later = orders((t, s), found, !self.found.1);
        let earlier = orders((x, y), meant, self.meant.1).into_iter().enumerate();
        let both = earlier.flat_map(|(k, earlier)| {
            let order = Ordered::of(x, y, meant, k);
            let later = later.iter().enumerate();
            later.filter_map(move |(k, later)| {
                let other = Ordered::of(t, s, found, k);
                (!order.contradicts(&other)).then(|| [&earlier[..], later].concat())
            })
        });
        both.collect()
    }

    /// The leaves with pairs of their iterations.
    pub(super) fn with(&self, iterations: Map) -> Reversed {
        let places = [self.first, self.later].map(|placed| placed.leaf.place.clone());
        Reversed { places, iterations }
    }

    /// The instances that are executed in pairs of iterations.
    pub(super) fn instances(&self, iterations: &Map) -> Result<UnionMap, Error> {
        let [first, later] = [self.first, self.later].map(|placed| {
            let executes: Vec<Piece> = placed.leaf.executes().into_iter().collect();
            UnionMap::new(&executes)
        });
        let iterations = iterations.to_union()?;
        iterations.apply_domain(&first?)?.apply_range(&later?)
    }
}

/// One of the [`orders`], as conditions on two points: coordinates that are equal, and one that is
/// less.
struct Ordered<'l> {
    equal: (&'l [Linear], &'l [Linear]),
    less: Option<(&'l Linear, &'l Linear)>,
}

impl<'l> Ordered<'l> {
    /// The conditions of order number `k` on `x` and `y`.
    fn of(x: &'l [Linear], y: &'l [Linear], count: usize, k: usize) -> Ordered<'l> {
        let is_less = k < count.min(x.len()).min(y.len());
        Ordered {
            equal: (x.get(..k).unwrap_or(x), y.get(..k).unwrap_or(y)),
            less: x.get(k).zip(y.get(k)).filter(|_| is_less),
        }
    }

    /// Whether both cannot hold, since one coordinate is less and not less. The second one compares
    /// the points the other way around.
    fn contradicts(&self, other: &Ordered) -> bool {
        let turned = other.less.map(|(y, x)| (x, y));
        let is_equal = |(xs, ys): (&[Linear], &[Linear]), less: Option<(&Linear, &Linear)>| {
            let mut all = xs.iter().zip(ys);
            less.is_some_and(|less| all.any(|equal| equal == less))
        };
        self.less.is_some() && self.less == turned
            || is_equal(self.equal, turned)
            || is_equal((other.equal.1, other.equal.0), self.less)
    }
}

/// Whether a piece has no pair. There are many pieces, and their quick test does not ask whether it
/// is stopped.
fn is_empty(piece: &Piece) -> Result<bool, Error> {
    if is_stopped() {
        return Err(Error::Stopped);
    }
    piece.is_empty()
}
