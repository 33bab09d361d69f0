//! What could be done next at a loop, and whether it is legal.

use super::moves::Move;
use crate::analysis::bounds;
use crate::ir::{Arg, Loop, LoopRef, Name, Nest, Tree};
use crate::legality::Judge;
use crate::transform::Op;
use crate::transform::nest::distribute::DISTRIBUTE;
use crate::transform::nest::fuse::FUSE;
use crate::transform::nest::interchange::INTERCHANGE;
use crate::transform::nest::mode::{PARALLELIZE, VECTORIZE};
use crate::transform::nest::reorder::REORDER;
use crate::transform::nest::reverse::REVERSE;
use crate::transform::nest::rfactor::RFACTOR;
use crate::transform::nest::stripmine::STRIPMINE;
use crate::transform::nest::unroll_and_jam::UNROLL_AND_JAM;

/// The numbers of lanes that are tried where a loop cannot be vector in full.
const LANES: [i64; 6] = [2, 4, 8, 16, 32, 64];

/// The factors for which `unroll_and_jam` is tried: the first that divides the number of
/// iterations, since proofs take longer where there is a tail, or else the first.
const FACTORS: [i64; 3] = [4, 3, 2];

/// The size of the tiles; what is legal does not depend on it.
const TILE: i64 = 32;

/// Candidates for the next step of a nest.
pub(super) struct Candidates<'a> {
    pub(super) nest: &'a Nest,
    pub(super) judge: Judge<'a>,
    /// The loops of the bands that were found.
    pub(super) banded: Vec<Name>,
}

impl Candidates<'_> {
    /// The legal ones at the loop `l`, which is inside of `outer`.
    pub(super) fn at(&mut self, outer: &[&Loop], l: &Loop) -> Vec<Move> {
        let mut found = Vec::new();
        if !l.parallel {
            found.extend(self.one(l, &PARALLELIZE, None, vec![]));
        }
        if !l.vector {
            found.extend(self.vectorize(l));
        }
        for other in outer.iter().copied().chain(perfectly_inside(l)) {
            let (with, args) = (other.name.to_string(), vec![by_name(&other.name)]);
            found.extend(self.one(l, &INTERCHANGE, Some(with), args));
        }
        let holds_loop = l.body.iter().any(|t| t.as_loop().is_some());
        found.extend(self.tile(l));
        if let Some(next) = next_to(self.nest, outer, l) {
            let (with, args) = (next.name.to_string(), vec![by_name(&next.name)]);
            found.extend(self.one(l, &FUSE, Some(with), args));
        }
        if l.body.len() > 1 {
            found.extend(self.one(l, &DISTRIBUTE, None, vec![]));
        }
        found.extend(self.one(l, &REVERSE, None, vec![]));
        if holds_loop {
            found.extend(self.one(l, &UNROLL_AND_JAM, None, vec![Arg::Int(factor(l))]));
        }
        found.extend(self.one(l, &RFACTOR, None, vec![]));
        found
    }

    /// An operation whose first parameter after the nest is the loop.
    fn one(
        &mut self,
        l: &Loop,
        op: &'static Op,
        with: Option<String>,
        rest: Vec<Arg>,
    ) -> Option<Move> {
        let args: Vec<Arg> = [by_name(&l.name)].into_iter().chain(rest).collect();
        let shown: Vec<String> = args.iter().map(Arg::script).collect();
        self.legal(Move {
            op: op.name,
            at: l.name.clone(),
            with,
            call: format!("{}({})", op.name, shown.join(", ")),
            steps: [(op, args)].into(),
        })
    }

    /// With as many lanes as possible.
    fn vectorize(&mut self, l: &Loop) -> Option<Move> {
        let full = self.one(l, &VECTORIZE, None, vec![]);
        full.or_else(|| {
            let lanes = |n: i64| {
                let with = format!("{n} lanes");
                self.one(l, &VECTORIZE, Some(with), vec![Arg::Int(n)])
            };
            LANES.into_iter().map_while(lanes).last()
        })
    }

    /// Tiles of the widest band from this loop on whose loops may have any order: of which each
    /// may be the outermost.
    fn tile(&mut self, l: &Loop) -> Option<Move> {
        if self.banded.contains(&l.name) {
            return None;
        }
        let mut band: Vec<&Name> = vec![&l.name];
        for inner in perfectly_inside(l) {
            let order = [&inner.name].into_iter().chain(band.iter().copied());
            let order = order.map(reference).collect();
            let steps = [(&REORDER, vec![Arg::Loops(order)])].into();
            let rotated = Move {
                op: REORDER.name,
                at: l.name.clone(),
                with: None,
                call: String::new(),
                steps,
            };
            if self.legal(rotated).is_none() {
                break;
            }
            band.push(&inner.name);
        }
        if band.len() < 2 {
            return None;
        }
        self.banded.extend(band.iter().copied().cloned());
        let part = |name: &Name, suffix: &str| LoopRef::Name(format!("{name}_{suffix}"));
        let cuts = band.iter().map(|name| {
            let args = vec![by_name(name), Arg::Int(TILE)];
            (&STRIPMINE, args)
        });
        let blocks = band.iter().map(|name| part(name, "o"));
        let order = blocks.chain(band.iter().map(|name| part(name, "i")));
        let order = Arg::Loops(order.collect());
        let names: Vec<String> = band.iter().map(|name| name.to_string()).collect();
        let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        let sizes = vec![TILE.to_string(); names.len()];
        self.legal(Move {
            op: "tile",
            at: l.name.clone(),
            with: Some(names.join(", ")),
            call: format!("tile([{}], [{}])", quoted.join(", "), sizes.join(", ")),
            steps: cuts.chain([(&REORDER, vec![order])]).collect(),
        })
    }

    /// The move, if it can be taken and its result is proved.
    fn legal(&mut self, candidate: Move) -> Option<Move> {
        let after = candidate.apply(self.nest, None).ok()?;
        let legal = self.judge.is_legal(&after).unwrap_or(false);
        legal.then_some(candidate)
    }
}

fn factor(l: &Loop) -> i64 {
    let iterations = bounds::extent(&l.range).map(|(_, iterations)| iterations);
    let divides = |f: &i64| iterations.is_some_and(|n| n % f == 0);
    FACTORS.into_iter().find(divides).unwrap_or(FACTORS[0])
}

fn reference(name: &Name) -> LoopRef {
    LoopRef::Name(name.to_string())
}

fn by_name(name: &Name) -> Arg {
    Arg::Loop(reference(name))
}

/// The loops inside of one down to where there is more than a loop.
fn perfectly_inside(l: &Loop) -> impl Iterator<Item = &Loop> {
    fn next<'a>(l: &&'a Loop) -> Option<&'a Loop> {
        match l.body.as_slice() {
            [Tree::Loop(inner)] => Some(inner),
            _ => None,
        }
    }
    std::iter::successors(next(&l), next)
}

/// The loop that follows directly in the same sequence.
fn next_to<'a>(nest: &'a Nest, outer: &[&'a Loop], l: &Loop) -> Option<&'a Loop> {
    let sequence = outer.last().map_or(nest.trees(), |o| &o.body);
    let is_it = |t: &Tree| t.as_loop().is_some_and(|other| other.name == l.name);
    let k = sequence.iter().position(is_it)?;
    Some(sequence.get(k + 1)?.as_loop()?)
}
