//! Which threads of a block exchange data, and whether a barrier lies between them.
//!
//! A block of a device runs its phases one after the other, and its threads run a phase in any
//! order ([`crate::analysis::launches`]). Two threads exchange data if both touch an element and at
//! least one of them writes it. The two accesses are in different phases, or in different iterations
//! of a serial loop around one phase. A barrier has to lie between them. Accesses of one phase are the
//! question of [`super::concurrent`].
//!
//! [`exchanges`] finds them, for all sizes. If it is undecided whether there is one, there is.
//! [`Exchange::is_ordered`] decides about barriers. It knows nothing of who placed them.

use super::limit::OPERATIONS;
use super::pairs::{Iteration, touching_each};
use super::program::{Leaf, Program};
use super::sizes::for_all_sizes;
use crate::analysis::launches::{Launch, thread};
use crate::ir::{Axis, Loop, Name, Nest, Tensor, Tree};
use crate::poly::{self, Linear, Piece, Relation};

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
}

impl Exchange {
    /// Whether one of `barriers` is always executed between the accesses. A barrier is before the
    /// tree at its position, or after the last tree of a sequence.
    pub fn is_ordered(&self, barriers: &[Vec<usize>]) -> bool {
        let same = self.from.iter().zip(&self.to);
        let common = same.take_while(|(a, b)| a == b).count();
        let least = match self.carried {
            Some(depth) => depth + 1,
            None => common + 1,
        };
        barriers.iter().any(|barrier| {
            let Some((at, sequence)) = barrier.split_last() else {
                return false;
            };
            let depth = sequence.len();
            let place = |of: &[usize]| of.get(depth).copied().filter(|_| of.starts_with(sequence));
            let (from, to) = (place(&self.from), place(&self.to));
            let after = from.is_some_and(|from| *at > from);
            let before = to.is_some_and(|to| *at <= to);
            match self.carried {
                None if depth == common => after && before,
                _ => depth >= least && (after || before),
            }
        })
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
    let trees = [trees.to_vec()];
    let nests = std::slice::from_ref(nest);
    let program = Program::of(nests, &trees);
    let is_inside = |leaf: &&Leaf| leaf.place[1..].starts_with(&launch.position);
    let leaves: Vec<&Leaf> = program.leaves.iter().filter(is_inside).collect();
    let fixed = launch.around.len() + launch.grid.len();
    let mut found = Vec::new();
    for_all_sizes(nests, || {
        for first in &leaves {
            for second in &leaves {
                let asked = Pair {
                    leaves: [*first, *second],
                    fixed,
                };
                asked.exchanges(counts, within, &mut found);
            }
        }
    });
    found
}

/// Two leaves of a launch.
struct Pair<'p, 'a> {
    leaves: [&'p Leaf<'a>; 2],
    /// The number of loops whose iterations are launches or blocks.
    fixed: usize,
}

impl Pair<'_, '_> {
    /// The exchanges from the first leaf to the second.
    fn exchanges(&self, counts: &dyn Fn(&Tensor) -> bool, within: bool, found: &mut Vec<Exchange>) {
        let [first, second] = self.leaves;
        let uniform = |leaf: &Leaf| {
            let phase = leaf.loops.iter().position(|l| l.is_block());
            phase.unwrap_or(leaf.loops.len())
        };
        let (around, _) = first.around_both(second);
        let shared = around.min(uniform(first)).min(uniform(second));
        // Both are in one phase if they share a loop of it.
        let one_phase = around > shared;
        let is_earlier = first.place < second.place;
        let pair = Iteration::pair(first, second);
        let [s, t] = pair.each_ref().map(Iteration::iterators);
        for (tensor, piece) in touching_each(&pair, counts) {
            let Some(name) = tensor.name() else {
                continue;
            };
            let mut same = piece;
            let levels = (0..shared).map(Some).chain([None]);
            for level in levels {
                let at_level = match level {
                    Some(d) => {
                        let carried =
                            same.clone()
                                .constrain(s[d].clone(), Relation::Less, t[d].clone());
                        same = same.constrain(s[d].clone(), Relation::Equal, t[d].clone());
                        if d < self.fixed {
                            continue;
                        }
                        carried
                    }
                    None if one_phase && !within || !one_phase && !is_earlier => continue,
                    None => same.clone(),
                };
                if !self.has_two_threads(&pair, &at_level) {
                    continue;
                }
                let new = Exchange {
                    tensor: name.clone(),
                    from: first.place[1..].to_vec(),
                    to: second.place[1..].to_vec(),
                    carried: level,
                };
                if !found.contains(&new) {
                    found.push(new);
                }
            }
        }
    }

    /// Whether pairs of iterations may belong to different threads.
    fn has_two_threads(&self, pair: &[Iteration; 2], pairs: &Piece) -> bool {
        let threads = pair
            .each_ref()
            .map(|iteration| (0..Axis::DIMENSIONS).map(|d| coordinate(iteration, d)));
        let [one, other] = threads;
        one.zip(other).any(|(a, b)| {
            [(&a, &b), (&b, &a)].into_iter().any(|(low, high)| {
                let apart = pairs
                    .clone()
                    .constrain(low.clone(), Relation::Less, high.clone());
                // It is undecided, or depends on sizes, otherwise.
                !matches!(poly::bounded(OPERATIONS, || apart.is_empty()), Ok(true))
            })
        })
    }
}

/// The coordinate of the thread of an iteration. Where no loop is bound to it, that is 0.
fn coordinate(iteration: &Iteration, dimension: usize) -> Linear {
    let is_bound =
        |l: &&&Loop| l.is_block() && l.axis().is_some_and(|axis| axis.dimension == dimension);
    match iteration.leaf.loops.iter().find(is_bound) {
        Some(l) => iteration.affine(&thread(l)),
        None => Linear::from(0),
    }
}
