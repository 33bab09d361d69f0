//! The order of nests whose statements are those of the definition.
//!
//! Such nests are correct if every instance is executed exactly once, and nothing else is. They
//! also have to keep the order of two instances that touch the same element, unless both only read
//! it.
//!
//! The positions of two statements decide most pairs. The others take one polyhedron for each pair
//! of accesses ([`super::pairs`]).
//!
//! Source: Kelly and Pugh, A Unifying Framework for Iteration Reordering Transformations, 1995.

use super::clock::Clock;
use super::pairs::{Iteration, executing_one, orders};
use super::program::{Leaf, Original, Program, What};
use super::relations::{executed, time};
use super::reversed::{Pair, Placed, Reversed};
use super::space::Space;
use super::verdict::Question;
use super::violation::Violation;
use super::witness;
use crate::ir::{BinaryOp, Name};
use crate::poly::{Error, Map, Piece, UnionMap, UnionSet};
use std::collections::{HashMap, HashSet};

/// An undecided question, and the reason.
pub(super) struct Unknown {
    pub(super) question: Question,
    pub(super) error: Error,
}

/// Whether a program executes all instances of its definition, each once and in a legal order.
pub(super) enum Kept {
    Yes,
    /// Some are in the wrong order: here they are, if known.
    No(Option<Reversed>),
    /// Some are executed several times.
    Repeated,
}

/// The first instance that is not executed, executed twice or executed in the wrong order.
pub(super) fn violation(
    program: &Program,
    reassociates: &dyn Fn(usize) -> bool,
) -> Result<Option<Violation>, Unknown> {
    let order = Order::of(program);
    if let Some(violation) = order.not_once().map_err(instances)? {
        return Ok(Some(violation));
    }
    let mut reversed = UnionMap::new(&[]).map_err(instances)?;
    let mut question = Question::Instances;
    order.each_reversed(reassociates, &mut |pair, iterations| {
        question = pair.question();
        reversed = reversed.union(&pair.instances(&iterations)?)?;
        Ok(true)
    })?;
    let first = || match witness::first_pair(program, &reversed)? {
        Some(pair) => Ok(Some(witness::reversed(program, &pair)?)),
        None => Ok(None),
    };
    first().map_err(|error| Unknown { question, error })
}

/// Whether there is no violation. This is quicker than finding the first one.
pub(super) fn holds(
    program: &Program,
    reassociates: &dyn Fn(usize) -> bool,
) -> Result<Kept, Unknown> {
    let order = Order::of(program);
    let executed = || -> Result<Kept, Error> {
        let mut kept = Kept::Yes;
        for instances in order.executed()? {
            if !instances.are_executed()? {
                return Ok(Kept::No(None));
            }
            if instances.are_repeated()? {
                kept = Kept::Repeated;
            }
        }
        Ok(kept)
    };
    match executed().map_err(instances)? {
        Kept::Yes => {
            let mut found = None;
            order.each_reversed(reassociates, &mut |pair, iterations| {
                found = Some(pair.with(iterations));
                Ok(false)
            })?;
            Ok(found.map_or(Kept::Yes, |found| Kept::No(Some(found))))
        }
        other => Ok(other),
    }
}

/// Executions in the wrong order, searched among the first `count` pairs of leaves that may have
/// some.
pub(super) fn some_reversed(
    program: &Program,
    reassociates: &dyn Fn(usize) -> bool,
    count: usize,
) -> Result<Option<Reversed>, Error> {
    let order = Order::of(program);
    let all = order.leaves.iter();
    let pairs = all.flat_map(|first| order.leaves.iter().map(move |later| (first, later)));
    let pairs = pairs.map(|(first, later)| Pair::of(first, later));
    for pair in pairs.filter(|pair| !pair.is_kept()).take(count) {
        let free = order.is_free(pair.first, pair.later, reassociates);
        let reversed = pair.reversed(&pair.conflicts(free)?)?;
        if let Some(iterations) = reversed.into_iter().next() {
            return Ok(Some(pair.with(iterations)));
        }
    }
    Ok(None)
}

/// Whether two updates of one element are reversed, although only updates set it and their values
/// read nothing that is written. An update then adds to another partial sum.
pub(super) fn reverses_updates(
    program: &Program,
    reassociates: &dyn Fn(usize) -> bool,
) -> Result<bool, Error> {
    let order = Order::of(program);
    let memory = |leaf: &Leaf| leaf.memory(leaf.target());
    let updates = |leaf: &Leaf| matches!(leaf.what, What::Stmt(s) if s.update.is_some());
    let reads_written = |leaf: &Leaf| {
        let mut found = false;
        if let What::Stmt(s) = leaf.what {
            s.value.for_each_tensor(&mut |tensor| {
                let read = leaf.memory(tensor);
                found |= program.leaves.iter().any(|other| memory(other) == read);
            });
        }
        found
    };
    let only_adds = |leaf: &Leaf| {
        let mut all = program.leaves.iter();
        all.all(|other| memory(other) != memory(leaf) || updates(other) && !reads_written(other))
    };
    for first in order.leaves.iter().filter(|placed| only_adds(placed.leaf)) {
        for later in &order.leaves {
            let pair = Pair::of(first, later);
            let is_one = memory(first.leaf) == memory(later.leaf);
            if is_one
                && !pair.is_kept()
                && !order.is_free(first, later, reassociates)
                && !pair.reversed(&pair.conflicts(false)?)?.is_empty()
            {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// It is undecided whether all instances are executed once.
fn instances(error: Error) -> Unknown {
    Unknown {
        question: Question::Instances,
        error,
    }
}

/// The leaves of a program, each with the leaf of the definition that it executes.
struct Order<'p, 'a> {
    program: &'p Program<'a>,
    leaves: Vec<Placed<'p, 'a>>,
}

/// The instances of one leaf of the definition.
struct Instances<'p, 'a> {
    original: &'p Leaf<'a>,
    space: Space,
    leaves: Vec<&'p Leaf<'a>>,
}

impl<'p, 'a> Order<'p, 'a> {
    fn of(program: &'p Program<'a>) -> Order<'p, 'a> {
        let key = |leaf: &Leaf| Some((leaf.assignment?, matches!(leaf.what, What::Fill(_))));
        let originals = program.definition.iter().filter_map(|l| Some((key(l)?, l)));
        let originals: HashMap<(usize, bool), &Leaf> = originals.collect();
        let placed = program.leaves.iter().filter_map(|leaf| {
            let original = *originals.get(&key(leaf)?)?;
            Some(Placed::of(leaf, original))
        });
        let leaves = placed.collect();
        Order { program, leaves }
    }

    /// The instances of each leaf of the definition. Skips a leaf that one leaf of the program
    /// executes in the same loops, in any order.
    fn executed(&self) -> Result<Vec<Instances<'p, 'a>>, Error> {
        let mut by_original: HashMap<*const Leaf, Vec<&Placed<'p, 'a>>> = HashMap::new();
        for placed in &self.leaves {
            let key = std::ptr::from_ref(placed.original);
            by_original.entry(key).or_default().push(placed);
        }
        let mut found = Vec::new();
        for original in &self.program.definition {
            let Some(space) = original.instances() else {
                continue;
            };
            let own = by_original.remove(&std::ptr::from_ref(original));
            let own = own.unwrap_or_default();
            if let [placed] = own.as_slice()
                && (placed.in_place || placed.executes_each)
            {
                continue;
            }
            found.push(Instances {
                original,
                space,
                leaves: own.iter().map(|placed| placed.leaf).collect(),
            });
        }
        Ok(found)
    }

    /// The first instance that is not executed, or that is executed twice.
    fn not_once(&self) -> Result<Option<Violation>, Error> {
        let executed = self.executed()?;
        let mut missing = UnionSet::new(&[])?;
        let mut extra = UnionSet::new(&[])?;
        for instances in &executed {
            let all = UnionSet::new(&[instances.original.domain(&instances.space.name())])?;
            let found = UnionSet::new(&instances.executed())?;
            missing = missing.union(&all.subtract(&found)?)?;
            extra = extra.union(&found.subtract(&all)?)?;
        }
        if let Some(instance) = witness::first(self.program, &missing)? {
            return Ok(Some(witness::missing(self.program, &instance)));
        }
        if let Some(instance) = witness::first(self.program, &extra)? {
            return Ok(Some(witness::extra(self.program, &instance)));
        }
        for instances in &executed {
            if instances.are_repeated()? {
                return witness::twice(self.program, &instances.times()?);
            }
        }
        Ok(None)
    }

    /// Passes each pair of leaves with reversed instances to `more`, with the pairs of iterations,
    /// while it returns true.
    ///
    /// The positions of the leaves decide most pairs, and so do disjoint sets of tensors. The
    /// polyhedral library sees only the others.
    fn each_reversed(
        &self,
        reassociates: &dyn Fn(usize) -> bool,
        more: &mut dyn FnMut(&Pair, Map) -> Result<bool, Error>,
    ) -> Result<(), Unknown> {
        // Pairs of leaves, the second one later, that touch no common element.
        let mut apart: HashSet<(usize, usize)> = HashSet::new();
        for (k, first) in self.leaves.iter().enumerate() {
            for (m, later) in self.leaves.iter().enumerate() {
                let pair = Pair::of(first, later);
                if pair.is_kept() || apart.contains(&(m, k)) {
                    continue;
                }
                let free = self.is_free(first, later, reassociates);
                let mut goes_on = || -> Result<bool, Error> {
                    let conflicts = pair.conflicts(free)?;
                    if conflicts.is_empty() {
                        apart.insert((k, m));
                    }
                    for iterations in pair.reversed(&conflicts)? {
                        if !more(&pair, iterations)? {
                            return Ok(false);
                        }
                    }
                    Ok(true)
                };
                let unknown = |error| Unknown {
                    question: pair.question(),
                    error,
                };
                if !goes_on().map_err(unknown)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Whether the updates of two leaves commute: those of one reduction, or of several reductions
    /// that add to the same tensor.
    fn is_free(
        &self,
        first: &Placed,
        later: &Placed,
        reassociates: &dyn Fn(usize) -> bool,
    ) -> bool {
        let accumulator = |placed: &Placed| {
            let a = placed.leaf.assignment.filter(|a| reassociates(*a))?;
            match placed.leaf.what {
                What::Stmt(_) => accumulator(self.program.originals.get(a)?),
                What::Fill(_) => None,
            }
        };
        accumulator(first).is_some_and(|a| accumulator(later) == Some(a))
    }
}

impl Instances<'_, '_> {
    /// The instances that the leaves execute.
    fn executed(&self) -> Vec<Piece> {
        self.leaves.iter().filter_map(|l| executed(l)).collect()
    }

    /// Whether the leaves execute all instances, and no others.
    fn are_executed(&self) -> Result<bool, Error> {
        let found = self.executed();
        let all = [self.original.domain(&self.space.name())];
        let within = |some: &[Piece], others: &[Piece]| {
            let others = others.iter().cloned().map(Piece::without_assumptions);
            let others = UnionSet::new(&others.collect::<Vec<_>>())?;
            UnionSet::new(some)?.is_subset(&others)
        };
        Ok(within(&found, &all)? && within(&all, &found)?)
    }

    /// From instances to the times of their executions.
    fn times(&self) -> Result<UnionMap, Error> {
        let clock = Clock::of(self.leaves.iter().copied());
        let pieces = self.leaves.iter().filter_map(|l| time(l, &clock));
        UnionMap::new(&pieces.collect::<Vec<_>>())
    }

    /// Whether an instance is executed twice.
    fn are_repeated(&self) -> Result<bool, Error> {
        for (k, one) in self.leaves.iter().enumerate() {
            for (m, other) in self.leaves.iter().enumerate().skip(k) {
                let pair = Iteration::pair(one, other);
                let Some(same) = executing_one(&pair) else {
                    continue;
                };
                let loops = if k == m { one.loops.len() } else { 0 };
                let [s, t] = pair.each_ref().map(Iteration::iterators);
                let twice = same.one_of(orders((&s, &t), loops, k != m));
                if !twice.is_empty()? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// The tensor that an assignment updates, and the operation.
fn accumulator<'a>(original: &Original<'a>) -> Option<(&'a Name, BinaryOp)> {
    let target = original.stmt.target.name()?;
    let op = match original.stmt.update? {
        BinaryOp::Sub => BinaryOp::Add,
        op => op,
    };
    Some((target, op))
}
