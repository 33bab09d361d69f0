//! Which threads of a block exchange data, and whether a barrier lies between them.
//!
//! A block of a device runs its phases one after the other, and its threads run a phase in any
//! order ([`crate::analysis::launches`]). Two threads exchange data if both touch an element and at
//! least one of them writes it. The two accesses are in different phases, or in different iterations
//! of a serial loop around one phase. A barrier has to lie between them. Accesses of one phase are the
//! question of [`super::concurrent`].
//!
//! Threads of a processor that run a region together are the same: a phase is a loop whose iterations
//! they share. Nothing says which thread gets which iteration, so that any two may be on two threads.
//!
//! The lanes of a warp are threads that differ in their last coordinate only. They run in step, so that
//! a barrier of the warp is enough for them.
//!
//! [`exchanges`] finds them, for all sizes. If it is undecided whether there is one, there is.
//! [`Exchange::is_ordered`] decides about barriers. It knows nothing of who placed them.

use super::execution::Team;
use super::limit::OPERATIONS;
use super::pairs::{Iteration, touching_each};
use super::program::{Leaf, Program};
use super::sizes::for_all_sizes;
use crate::analysis::launches::{Launch, thread};
use crate::ir::{Axis, Loop, Name, Nest, Tensor, Tree};
use crate::poly::{self, Linear, Piece, Relation};
use std::ops::Range;

/// Two accesses of one element by different threads of a block, in different phases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    pub tensor: Name,
    /// The position of the statement that is executed first.
    pub from: Vec<usize>,
    /// The position of the other one.
    pub to: Vec<usize>,
    /// The number of loops around the loop in whose later iteration the other one is executed;
    /// `None` if both are executed in one iteration of all loops around both.
    pub carried: Option<usize>,
    /// Whether the threads are always lanes of one warp.
    pub is_in_warp: bool,
}

/// A place where threads wait for each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Barrier {
    /// Its position: before the tree there, or after the last tree of a sequence.
    pub at: Vec<usize>,
    pub of: Waiting,
}

/// The threads that wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Waiting {
    /// The lanes of each warp.
    Warp,
    /// All threads of a block.
    Block,
}

impl Exchange {
    /// Whether one of `barriers` that both threads wait at is always executed between the accesses.
    pub fn is_ordered(&self, barriers: &[Barrier]) -> bool {
        let (from, to) = (&self.from, &self.to);
        let both_wait = |barrier: &&Barrier| self.is_in_warp || barrier.of == Waiting::Block;
        barriers
            .iter()
            .filter(both_wait)
            .any(|barrier| is_between(&barrier.at, (from, to), self.carried))
    }
}

/// Whether a barrier is always executed between two leaves, as [`Exchange`] describes them.
fn is_between(barrier: &[usize], (from, to): (&[usize], &[usize]), carried: Option<usize>) -> bool {
    let Some((at, sequence)) = barrier.split_last() else {
        return false;
    };
    let same = from.iter().zip(to);
    let common = same.take_while(|(a, b)| a == b).count();
    let least = match carried {
        Some(depth) => depth + 1,
        None => common + 1,
    };
    let depth = sequence.len();
    let place = |of: &[usize]| of.get(depth).copied().filter(|_| of.starts_with(sequence));
    let after = place(from).is_some_and(|from| *at > from);
    let before = place(to).is_some_and(|to| *at <= to);
    match carried {
        None if depth == common => after && before,
        _ => depth >= least && (after || before),
    }
}

/// The exchanges of a launch through tensors that count. The launch is in `trees`, which are the trees
/// of `nest`. With `within`, accesses of one phase count as well.
pub fn exchanges(
    nest: &Nest,
    trees: &[Tree],
    launch: &Launch,
    counts: &dyn Fn(&Tensor) -> bool,
    within: bool,
) -> Vec<Exchange> {
    let asked = Asked {
        fixed: launch.around.len() + launch.grid.len(),
        is_phase: Loop::is_block,
        has_coordinates: true,
        within,
        barriers: &[],
        counts,
    };
    asked.exchanges(nest, trees, &|place| place.starts_with(&launch.position))
}

/// The exchanges of a team that none of `barriers` orders. The team is in `trees`, which are the
/// trees of `nest`.
pub(super) fn unordered(
    nest: &Nest,
    trees: &[Tree],
    team: &Team,
    barriers: &[Vec<usize>],
) -> Vec<Exchange> {
    let asked = Asked {
        fixed: team.sequence.len(),
        is_phase: Loop::is_parallel,
        has_coordinates: false,
        within: false,
        barriers,
        counts: &|_| true,
    };
    asked.exchanges(nest, trees, &|place| team.holds(place))
}

/// A question about the exchanges of some threads.
struct Asked<'q> {
    /// The number of loops around, whose iterations start the threads anew.
    fixed: usize,
    /// Whether threads share the iterations of a loop.
    is_phase: fn(&Loop) -> bool,
    /// Whether iterations of phases tell which thread runs them.
    has_coordinates: bool,
    /// Whether accesses of one phase count.
    within: bool,
    /// Exchanges across these are ordered.
    barriers: &'q [Vec<usize>],
    /// The tensors that count.
    counts: &'q dyn Fn(&Tensor) -> bool,
}

impl Asked<'_> {
    fn exchanges(
        &self,
        nest: &Nest,
        trees: &[Tree],
        is_inside: &dyn Fn(&[usize]) -> bool,
    ) -> Vec<Exchange> {
        let trees = [trees.to_vec()];
        let nests = std::slice::from_ref(nest);
        let program = Program::of(nests, &trees);
        let leaves = program.leaves.iter();
        let leaves: Vec<&Leaf> = leaves.filter(|leaf| is_inside(&leaf.place[1..])).collect();
        let mut found = Vec::new();
        for_all_sizes(nests, || {
            for first in &leaves {
                for second in &leaves {
                    let leaves = [*first, *second];
                    Pair {
                        leaves,
                        asked: self,
                    }
                    .exchanges(&mut found);
                }
            }
        });
        found
    }
}

/// Two leaves that the threads run.
struct Pair<'p, 'q, 'a> {
    leaves: [&'p Leaf<'a>; 2],
    asked: &'q Asked<'q>,
}

impl Pair<'_, '_, '_> {
    /// The exchanges from the first leaf to the second.
    fn exchanges(&self, found: &mut Vec<Exchange>) {
        let Pair { leaves, asked } = self;
        let [first, second] = *leaves;
        let uniform = |leaf: &Leaf| {
            let mut inside = leaf.loops.iter().skip(asked.fixed);
            let phase = inside.position(|l| (asked.is_phase)(l));
            phase.map_or(leaf.loops.len(), |phase| asked.fixed + phase)
        };
        let (around, _) = first.around_both(second);
        let shared = around.min(uniform(first)).min(uniform(second));
        // Both are in one phase if they share a loop of it.
        let one_phase = around > shared;
        let is_earlier = first.place < second.place;
        let (from, to) = (&first.place[1..], &second.place[1..]);
        let counts = |level: &Option<usize>| {
            let is_asked = match level {
                Some(d) => *d >= asked.fixed,
                None if one_phase => asked.within,
                None => is_earlier,
            };
            let mut barriers = asked.barriers.iter();
            is_asked && !barriers.any(|barrier| is_between(barrier, (from, to), *level))
        };
        let levels = (0..shared).map(Some).chain([None]);
        if !levels.clone().any(|level| counts(&level)) {
            return;
        }
        let pair = Iteration::pair(first, second);
        let [s, t] = pair.each_ref().map(Iteration::iterators);
        for (tensor, piece) in touching_each(&pair, asked.counts) {
            let Some(name) = tensor.name() else {
                continue;
            };
            let mut same = piece;
            for level in levels.clone() {
                let at_level = match level {
                    Some(d) => {
                        let carried =
                            same.clone()
                                .constrain(s[d].clone(), Relation::Less, t[d].clone());
                        same = same.constrain(s[d].clone(), Relation::Equal, t[d].clone());
                        carried
                    }
                    None => same.clone(),
                };
                if !counts(&level) || !self.has_two_threads(&pair, &at_level) {
                    continue;
                }
                let beside = 0..Axis::LANE;
                let is_in_warp =
                    asked.has_coordinates && !self.may_be_apart(&pair, &at_level, beside);
                let new = Exchange {
                    tensor: name.clone(),
                    from: from.to_vec(),
                    to: to.to_vec(),
                    carried: level,
                    is_in_warp,
                };
                if !found.contains(&new) {
                    found.push(new);
                }
            }
        }
    }

    /// Whether pairs of iterations may belong to different threads.
    fn has_two_threads(&self, pair: &[Iteration; 2], pairs: &Piece) -> bool {
        match self.asked.has_coordinates {
            true => self.may_be_apart(pair, pairs, 0..Axis::OF_THREADS),
            false => may_be(pairs.clone()),
        }
    }

    /// Whether threads of pairs of iterations may differ in one of these coordinates.
    fn may_be_apart(
        &self,
        pair: &[Iteration; 2],
        pairs: &Piece,
        mut coordinates: Range<usize>,
    ) -> bool {
        coordinates.any(|d| {
            let bound = pair.each_ref().map(|iteration| coordinate(iteration, d));
            if bound.iter().all(Option::is_none) {
                return false;
            }
            let [a, b] = bound.map(|coordinate| coordinate.unwrap_or(Linear::from(0)));
            [(&a, &b), (&b, &a)].into_iter().any(|(low, high)| {
                let apart = pairs
                    .clone()
                    .constrain(low.clone(), Relation::Less, high.clone());
                may_be(apart)
            })
        })
    }
}

/// Whether there may be such pairs: there are, it is undecided, or it depends on sizes.
fn may_be(pairs: Piece) -> bool {
    !matches!(poly::bounded(OPERATIONS, || pairs.is_empty()), Ok(true))
}

/// The coordinate of the thread of an iteration. Where no loop is bound to it, that is 0.
fn coordinate(iteration: &Iteration, dimension: usize) -> Option<Linear> {
    let is_bound =
        |l: &&&Loop| l.is_block() && l.axis().is_some_and(|axis| axis.dimension == dimension);
    let l = iteration.leaf.loops.iter().find(is_bound)?;
    Some(iteration.affine(&thread(l)))
}
