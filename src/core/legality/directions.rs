//! Dependence directions in a perfect band of loops. They decide which loop orders are legal,
//! mostly without a proof for each.
//!
//! The loops around the band carry some dependences, whatever the order in the band. The band has
//! to keep the others, whose instances lie in one iteration of the outer loops. For these, the
//! later instance stays later in the band or in the same iteration of it.
//!
//! Source: Wolf and Lam, A Loop Transformation Theory and an Algorithm to Maximize Parallelism,
//! 1991.

use super::inplace::Run;
use super::memory::iterator;
use super::program::{Leaf, Program, What};
use super::reordered::is_reordered;
use crate::ir::Name;
use crate::poly::{Error, Piece, Relation, UnionMap, UnionSet};

/// The dependence directions in a band. The sign for each loop tells whether the sink is in a later
/// iteration (1), the same (0) or an earlier one (-1).
pub(super) struct Directions {
    loops: Vec<Name>,
    /// The number of loops around the band.
    around: usize,
    signs: Vec<Vec<i64>>,
    /// Whether every order that violates one of them is illegal.
    exact: bool,
}

/// The most direction vectors; beyond that, a proof is quicker.
const MAX_SIGNS: usize = 256;

impl Directions {
    /// The directions in the widest band around the loop `name`. `reassociates` tells whether an
    /// assignment's updates of one element may run in any order.
    pub(super) fn of(
        program: &Program,
        name: &Name,
        reassociates: &dyn Fn(usize) -> bool,
    ) -> Result<Option<Directions>, Error> {
        let Some((leaves, first, last)) = band(program, name) else {
            return Ok(None);
        };
        let reordered = is_reordered(program);
        let is_free = |leaf: &Leaf| leaf.assignment.is_some_and(reassociates) && leaf.updates();
        let mut touched = Vec::new();
        for leaf in &leaves {
            touched.push(Touched::of(leaf, last)?);
        }
        let mut distances = UnionSet::new(&[])?;
        for (k, (leaf, own)) in leaves.iter().zip(&touched).enumerate() {
            let unordered = reordered && is_free(leaf) && !leaf.reads_target();
            let others = touched.iter().skip(if unordered { k + 1 } else { k });
            for other in others {
                distances = distances.union(&own.conflicts(other)?.deltas()?)?;
            }
        }
        let exact = match leaves.as_slice() {
            leaves if reordered => !leaves.iter().any(|leaf| is_free(leaf)),
            // Values may reach a reader along several paths, but not from update to update.
            [leaf] => leaf.assignment.is_some() && leaf.updates() && !is_free(leaf),
            _ => false,
        };
        let loops = leaves[0].loops[first..=last].iter();
        let mut directions = Directions {
            loops: loops.map(|l| l.name.clone()).collect(),
            around: first,
            signs: Vec::new(),
            exact,
        };
        if !directions.collect(&distances, &mut vec![0; first])? {
            // No order keeps this dependence.
            directions.signs = vec![vec![0; directions.loops.len()]];
            directions.exact = false;
        }
        Ok(Some(directions))
    }

    /// Collects the signs of the distances in the band and the loops around it; `signs` is their
    /// prefix. Returns whether there are at most [`MAX_SIGNS`].
    fn collect(&mut self, distances: &UnionSet, signs: &mut Vec<i64>) -> Result<bool, Error> {
        let variables: Vec<String> = (0..self.around + self.loops.len()).map(iterator).collect();
        let all = Piece::set("", variables.iter().map(String::as_str));
        let fit = signs
            .iter()
            .zip(&variables)
            .fold(all, |piece, (sign, own)| match sign {
                -1 => piece.constrain(own.as_str(), Relation::Less, 0),
                0 => piece.constrain(own.as_str(), Relation::Equal, 0),
                _ => piece.constrain(0, Relation::Less, own.as_str()),
            });
        let fitting = distances.intersect(&UnionSet::new(&[fit])?)?;
        if fitting.is_empty()? {
            return Ok(true);
        }
        if signs.len() == variables.len() {
            let signs = &signs[self.around..];
            // From the earlier instance to the later one.
            if let Some(forward) = signs.iter().find(|sign| **sign != 0) {
                let signs = signs.iter().map(|sign| sign * forward).collect();
                if !self.signs.contains(&signs) {
                    self.signs.push(signs);
                }
            }
            return Ok(self.signs.len() <= MAX_SIGNS);
        }
        for sign in [-1, 0, 1] {
            signs.push(sign);
            let complete = self.collect(&fitting, signs)?;
            signs.pop();
            if !complete {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The same if loops that are not `is_whole` contain more iterations than the loop in question.
    /// An order that violates these directions may then be legal.
    pub(super) fn of_parts(self, is_whole: impl Fn(&Name) -> bool) -> Directions {
        Directions {
            exact: self.exact && self.loops.iter().all(is_whole),
            ..self
        }
    }

    /// Whether the loop `name` is in the band.
    pub(super) fn concern(&self, name: &Name) -> bool {
        self.loops.contains(name)
    }

    /// Whether this order of directly nested loops of the band is legal. `None` if the directions
    /// do not decide it, or if other loops are given.
    pub(super) fn allow(&self, runs: &[Run]) -> Option<bool> {
        let place = |run: &Run| self.loops.iter().position(|name| *name == run.iterator);
        let places: Option<Vec<usize>> = runs.iter().map(place).collect();
        let places = places?;
        let first = *places.iter().min()?;
        let mut sorted = places.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(first..first + runs.len()) {
            return None;
        }
        let stays = |signs: &Vec<i64>| {
            let own = places.iter().zip(runs).map(|(place, run)| {
                if run.backwards {
                    -signs[*place]
                } else {
                    signs[*place]
                }
            });
            let after = signs.iter().skip(first + runs.len()).copied();
            let mut order = signs.iter().take(first).copied().chain(own).chain(after);
            order.find(|sign| *sign != 0) == Some(1)
        };
        if self.signs.iter().all(stays) {
            Some(true)
        } else {
            self.exact.then_some(false)
        }
    }
}

/// The elements that a leaf touches in iterations of the loops around it.
struct Touched {
    writes: UnionMap,
    all: UnionMap,
}

impl Touched {
    /// The accesses in iterations of the loops down to depth `last`.
    fn of(leaf: &Leaf, last: usize) -> Result<Touched, Error> {
        let domain = leaf.domain("");
        let touched = leaf.touched(&domain);
        let writes = touched.iter().filter(|(_, write)| *write);
        let writes: Vec<Piece> = writes.map(|(piece, _)| piece.clone()).collect();
        let all: Vec<Piece> = touched.into_iter().map(|(piece, _)| piece).collect();
        let outer = leaf.iterators().into_iter().take(last + 1);
        let outer = UnionMap::new(&[domain.to("", outer)])?;
        Ok(Touched {
            writes: UnionMap::new(&writes)?.apply_domain(&outer)?,
            all: UnionMap::new(&all)?.apply_domain(&outer)?,
        })
    }

    /// From iterations to those in which another leaf accesses the same element, at least one
    /// access being a write.
    fn conflicts(&self, other: &Touched) -> Result<UnionMap, Error> {
        let first = self.writes.apply_range(&other.all.reverse()?)?;
        first.union(&self.all.apply_range(&other.writes.reverse()?)?)
    }
}

impl Leaf<'_> {
    fn updates(&self) -> bool {
        matches!(self.what, What::Stmt(s) if s.update.is_some())
    }

    /// Whether the value of the leaf's statement reads the tensor that it writes.
    fn reads_target(&self) -> bool {
        let mut found = false;
        if let What::Stmt(s) = self.what {
            let target = s.target.label();
            s.value
                .for_each_tensor(&mut |tensor| found |= tensor.label() == target);
        }
        found
    }
}

/// The leaves in the widest band around a loop, and the depths of its first and last loop.
fn band<'p, 'a>(
    program: &'p Program<'a>,
    name: &Name,
) -> Option<(Vec<&'p Leaf<'a>>, usize, usize)> {
    let at = |leaf: &Leaf| leaf.loops.iter().position(|l| l.name == *name);
    let leaf = program.leaves.iter().find(|leaf| at(leaf).is_some())?;
    let depth = at(leaf)?;
    let inside = |d: usize| {
        let around = leaf.place.iter().take(d + 2);
        let is_inside = move |other: &&Leaf| {
            other.loops.len() > d && other.place.iter().take(d + 2).eq(around.clone())
        };
        program.leaves.iter().filter(is_inside).collect::<Vec<_>>()
    };
    let own = inside(depth);
    let is_same = |d: &usize| inside(*d).len() == own.len();
    let first = (0..=depth).rev().take_while(is_same).last()?;
    let last = (depth..leaf.loops.len()).take_while(is_same).last()?;
    Some((own, first, last))
}
