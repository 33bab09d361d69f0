//! Candidates for the next step at a loop, and whether each is legal.
//!
//! Every candidate is applied, and judged where it changes the nest ([`Steps`]). If it only
//! permutes or reverses a band, the dependence directions of the band decide it first, where they
//! can.

use super::questions::{Question, What};
use super::step::Move;
use crate::Op;
use crate::analysis::bounds;
use crate::analysis::launches::is_on_device;
use crate::ir::{Arg, Loop, LoopRef, Name, Nest, Range, Tree};
use crate::legality::{BatchProver, Kept, Numbered, Reductions, Run, Steps};
use crate::nest::distribute::DISTRIBUTE;
use crate::nest::fuse::FUSE;
use crate::nest::interchange::INTERCHANGE;
use crate::nest::mode::{PARALLELIZE, VECTORIZE};
use crate::nest::reorder::REORDER;
use crate::nest::reverse::REVERSE;
use crate::nest::rfactor::RFACTOR;
use crate::nest::stripmine::STRIPMINE;
use crate::nest::unroll_and_jam::UNROLL_AND_JAM;
use std::collections::HashMap;

/// The numbers of lanes to try if a loop cannot be vectorized in full.
const LANES: [i64; 6] = [2, 4, 8, 16, 32, 64];

/// The factors to try for `unroll_and_jam`. The first one that divides the trip count is used,
/// since a tail slows proofs down; otherwise the first.
const FACTORS: [i64; 3] = [4, 3, 2];

/// The tile size; legality does not depend on it.
const TILE: i64 = 32;

/// The legal moves among the candidates of a question.
#[derive(Clone, Default)]
pub(super) struct Answer {
    pub(super) moves: Vec<Move>,
    /// The number of undecided candidates.
    pub(super) open: usize,
}

/// Candidates for the next step of a nest.
pub(super) struct Candidates<'a> {
    nest: &'a Nest,
    prover: BatchProver<'a>,
    /// Whether the nest itself is legal.
    is_legal: bool,
    /// The nest as its own definition, and its steps.
    numbered: &'a Numbered,
    steps: Steps<'a>,
    /// Whether to prove from the definition what the changed part leaves open.
    proves: bool,
    /// Whether two loops may be interchanged, by their names, the outer one first.
    exchanged: HashMap<[Name; 2], bool>,
    /// The loops of the bands found so far.
    banded: Vec<Name>,
    /// The number of undecided candidates.
    open: usize,
}

impl<'a> Candidates<'a> {
    /// The candidates of a nest; `is_legal` tells whether the nest is legal.
    pub(super) fn of(
        nest: &'a Nest,
        is_legal: bool,
        numbered: &'a Numbered,
        reductions: Reductions,
    ) -> Candidates<'a> {
        Candidates {
            nest,
            prover: BatchProver::of(std::slice::from_ref(nest), reductions),
            is_legal,
            numbered,
            steps: Steps::of(numbered, reductions),
            proves: false,
            exchanged: HashMap::new(),
            banded: Vec::new(),
            open: 0,
        }
    }

    /// The answers that follow from the changed parts of the nest.
    pub(super) fn decided<'n>(&mut self, band: &[Question<'n>]) -> Vec<(Question<'n>, Answer)> {
        let mut tiles_wait = false;
        let answered = band.iter().map(|question| {
            let is_tile = question.what == What::Tile;
            let answer = if is_tile && tiles_wait {
                Answer {
                    open: 1,
                    ..Answer::default()
                }
            } else {
                self.answer(question)
            };
            tiles_wait |= is_tile && answer.open > 0;
            (question.clone(), answer)
        });
        answered.collect()
    }

    /// The answers that also use proofs from the definition.
    pub(super) fn proved(&mut self, question: &Question) -> Answer {
        self.proves = true;
        self.answer(question)
    }

    fn answer(&mut self, question: &Question) -> Answer {
        let Question { outer, l, .. } = question;
        self.open = 0;
        // A device runs neither threads nor lanes of the processor.
        let is_of_processor = matches!(question.what, What::Parallelize | What::Vectorize);
        if is_of_processor && is_on_device(self.nest.trees()) {
            return Answer::default();
        }
        let found = match question.what {
            What::Interchange => {
                let moves = self.interchanges(outer, l);
                let open = self.open;
                return Answer { moves, open };
            }
            What::Parallelize | What::Vectorize if l.range.single().is_some() => None,
            What::Parallelize if l.is_parallel() => None,
            What::Parallelize => self.one(l, &PARALLELIZE, None, vec![], None),
            What::Vectorize if l.is_vector() => None,
            What::Vectorize => self.vectorize(l),
            What::Tile => self.tile(l),
            What::Fuse => self.fuse(outer, l),
            What::Distribute if l.body.len() < 2 => None,
            What::Distribute => self.one(l, &DISTRIBUTE, None, vec![], None),
            What::Reverse => {
                let known = self.allowed_runs(&[run(&l.name, true)]);
                self.one(l, &REVERSE, None, vec![], known)
            }
            What::UnrollAndJam => self.unroll_and_jam(l),
            What::Rfactor => self.one(l, &RFACTOR, None, vec![], None),
        };
        Answer {
            moves: found.into_iter().collect(),
            open: self.open,
        }
    }

    /// Fuses with the following loop.
    fn fuse(&mut self, outer: &[&Loop], l: &Loop) -> Option<Move> {
        let next = next_to(self.nest, outer, l)?;
        let (with, args) = (next.name.to_string(), vec![by_name(&next.name)]);
        self.one(l, &FUSE, Some(with), args, None)
    }

    fn unroll_and_jam(&mut self, l: &Loop) -> Option<Move> {
        if !l.body.iter().any(|t| t.as_loop().is_some()) {
            return None;
        }
        let known = self.jams(l);
        let args = vec![Arg::Int(factor(l))];
        self.one(l, &UNROLL_AND_JAM, None, args, known)
    }

    /// Interchanges with each loop of the same band.
    fn interchanges(&mut self, outer: &[&Loop], l: &Loop) -> Vec<Move> {
        let perfect = outer.iter().rev().take_while(|o| o.body.len() == 1);
        let around = &outer[outer.len() - perfect.count()..];
        let own = around.len();
        let band = around.iter().copied().chain([l]).chain(perfectly_inside(l));
        let band: Vec<&Name> = band.map(|l| &l.name).collect();
        let mut found = Vec::new();
        for (k, other) in band.iter().enumerate().filter(|(k, _)| *k != own) {
            let between = &band[k.min(own)..=k.max(own)];
            let pair = [between[0].clone(), between[between.len() - 1].clone()];
            let (with, args) = (other.to_string(), vec![by_name(other)]);
            let candidate = simple(l, &INTERCHANGE, Some(with), args);
            // Interchanging is symmetric.
            let exchanged = self.exchanged.get(&pair).copied();
            let open = self.open;
            let legal = match exchanged {
                Some(legal) => legal.then_some(candidate),
                None => {
                    let mut order = between.to_vec();
                    order.swap(0, between.len() - 1);
                    let known = self.allowed(order);
                    self.legal(candidate, known)
                }
            };
            if self.open == open {
                self.exchanged.insert(pair, legal.is_some());
            }
            found.extend(legal);
        }
        found
    }

    /// Whether perfectly nested loops may have this order; `None` if that needs a proof.
    fn allowed<'n>(&mut self, order: impl IntoIterator<Item = &'n Name>) -> Option<bool> {
        let runs: Vec<Run> = order.into_iter().map(|name| run(name, false)).collect();
        self.allowed_runs(&runs)
    }

    fn allowed_runs(&mut self, runs: &[Run]) -> Option<bool> {
        self.prover.allows(runs).filter(|_| self.is_legal)
    }

    /// Whether the iterations of a loop may be jammed. They may if the loop may be innermost;
    /// `None` if that needs a proof.
    fn jams(&mut self, l: &Loop) -> Option<bool> {
        let inside: Vec<&Loop> = perfectly_inside(l).collect();
        let innermost = inside.last()?;
        if !matches!(innermost.body.as_slice(), [Tree::Stmt(_)]) {
            return None;
        }
        let order = inside.iter().map(|l| &l.name).chain([&l.name]);
        self.allowed(order).filter(|allowed| *allowed)
    }

    /// A move of one operation, whose first parameter after the nest is the loop. `known` tells
    /// whether it keeps the order, if known.
    fn one(
        &mut self,
        l: &Loop,
        op: &'static Op,
        with: Option<String>,
        rest: Vec<Arg>,
        known: Option<bool>,
    ) -> Option<Move> {
        self.legal(simple(l, op, with, rest), known)
    }

    /// Vectorizes with as many lanes as possible.
    fn vectorize(&mut self, l: &Loop) -> Option<Move> {
        let full = self.one(l, &VECTORIZE, None, vec![], None);
        full.or_else(|| {
            let lanes = |n: i64| {
                let with = format!("{n} lanes");
                self.one(l, &VECTORIZE, Some(with), vec![Arg::Int(n)], None)
            };
            LANES.into_iter().map_while(lanes).last()
        })
    }

    /// Tiles the widest permutable band that starts with this loop: each of its loops may be
    /// outermost.
    fn tile(&mut self, l: &Loop) -> Option<Move> {
        if self.banded.contains(&l.name) {
            return None;
        }
        let mut band: Vec<&Name> = vec![&l.name];
        let mut ranges = vec![&l.range];
        let mut known = Some(true);
        for inner in perfectly_inside(l) {
            let order = [&inner.name].into_iter().chain(band.iter().copied());
            let allowed = self.allowed(order.clone());
            let order = order.map(reference).collect();
            let steps = [(&REORDER, vec![Arg::Loops(order)])].into();
            let rotated = Move {
                op: REORDER.name,
                at: l.name.clone(),
                with: None,
                call: String::new(),
                steps,
            };
            if self.legal(rotated, allowed).is_none() {
                break;
            }
            band.push(&inner.name);
            ranges.push(&inner.range);
            known = known.and(allowed);
        }
        // Then no loop carries a dependence backwards. Nor does one lead to an earlier tile, if
        // tiles have the same origin in all iterations of the other loops.
        let starts = |r: &&Range| {
            r.lower
                .iter()
                .any(|a| band.iter().any(|name| a.mentions(name)))
        };
        if ranges.iter().any(starts) {
            known = None;
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
        let tiled = Move {
            op: What::Tile.name(),
            at: l.name.clone(),
            with: Some(names.join(", ")),
            call: format!("tile([{}], [{}])", quoted.join(", "), sizes.join(", ")),
            steps: cuts.chain([(&REORDER, vec![order])]).collect(),
        };
        self.legal(tiled, known)
    }

    /// The move, if it applies and its result is legal. `known` tells whether it keeps the order,
    /// if known.
    fn legal(&mut self, candidate: Move, known: Option<bool>) -> Option<Move> {
        if known == Some(false) {
            return None;
        }
        if self.is_legal {
            let after = candidate.apply(self.numbered.nest(), None).ok()?;
            match self.steps.keep(&after, known == Some(true)) {
                Kept::Yes => return Some(candidate),
                Kept::No => return None,
                Kept::Unknown => {}
            }
        }
        if !self.proves {
            self.open += 1;
            return None;
        }
        let after = candidate.apply(self.nest, None).ok()?;
        let variant = std::slice::from_ref(&after);
        let legal = match known {
            Some(true) => self.prover.is_independent(variant),
            _ => self.prover.is_legal(variant),
        };
        self.open += usize::from(legal.is_err());
        legal.unwrap_or(false).then_some(candidate)
    }
}

/// A move of one operation, whose first parameter after the nest is the loop.
fn simple(l: &Loop, op: &'static Op, with: Option<String>, rest: Vec<Arg>) -> Move {
    let args: Vec<Arg> = [by_name(&l.name)].into_iter().chain(rest).collect();
    let shown: Vec<String> = args.iter().map(Arg::script).collect();
    Move {
        op: op.name,
        at: l.name.clone(),
        with,
        call: format!("{}({})", op.name, shown.join(", ")),
        steps: [(op, args)].into(),
    }
}

fn factor(l: &Loop) -> i64 {
    let iterations = bounds::extent(&l.range).map(|(_, iterations)| iterations);
    let divides = |f: &i64| iterations.is_some_and(|n| n % f == 0);
    FACTORS.into_iter().find(divides).unwrap_or(FACTORS[0])
}

fn run(name: &Name, backwards: bool) -> Run {
    let iterator = name.clone();
    Run {
        iterator,
        backwards,
    }
}

fn reference(name: &Name) -> LoopRef {
    LoopRef::Name(name.to_string())
}

fn by_name(name: &Name) -> Arg {
    Arg::Loop(reference(name))
}

/// The loops directly nested in a loop, down to the first body that is not a single loop.
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
