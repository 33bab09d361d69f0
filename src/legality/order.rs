//! The order of nests whose statements are those of the definition.
//!
//! They compute what the definition says if every instance is executed exactly once, nothing else
//! is, and of two instances that touch the same element, which one of them writes, the one that
//! the definition executes first is executed first.
//!
//! Source: Kelly and Pugh, A Unifying Framework for Iteration Reordering Transformations, 1995.

use super::find;
use super::memory::Clock;
use super::program::{Original, Program};
use super::relations::{Meaning, in_order, instances, time};
use super::violation::Violation;
use crate::ir::{BinaryOp, Name, Tensor};
use crate::poly::{Error, Piece, UnionMap, UnionSet};

/// The first instance that is not executed, executed twice or executed in the wrong order.
pub(super) fn violation(
    program: &Program,
    reassociates: &dyn Fn(usize) -> bool,
) -> Result<Option<Violation>, Error> {
    let order = Order::of(program, reassociates)?;
    let time = times(program)?;
    let executed = time.domain()?;
    if let Some(instance) = find::first(&order.instances.subtract(&executed)?)? {
        return Ok(Some(find::missing(program, &instance)));
    }
    if let Some(instance) = find::first(&executed.subtract(&order.instances)?)? {
        return Ok(Some(find::extra(program, &instance)));
    }
    if !time.is_single_valued()? {
        return find::twice(program, &time);
    }
    let reversed = in_order(&order.dependences, &time, UnionMap::lex_ge)?;
    if let Some(pair) = find::first_pair(&reversed)? {
        return find::reversed(program, &pair).map(Some);
    }
    Ok(None)
}

/// What a definition asks of the order of every nest that has it.
pub(super) struct Order {
    /// What is to be executed, exactly once.
    instances: UnionSet,
    /// What is to be executed before what.
    dependences: UnionMap,
}

impl Order {
    pub(super) fn of(
        program: &Program,
        reassociates: &dyn Fn(usize) -> bool,
    ) -> Result<Order, Error> {
        let meaning = Meaning::of(program)?;
        let dependences = meaning.dependences()?;
        let free = within_reductions(program, &dependences, reassociates)?;
        Ok(Order {
            instances: meaning.instances,
            dependences: dependences.subtract(&free)?,
        })
    }

    /// Whether a nest keeps it: no more than [`violation`] being `None`, and quicker.
    pub(super) fn holds(&self, program: &Program) -> Result<bool, Error> {
        let time = times(program)?;
        Ok(time.domain()?.is_equal(&self.instances)?
            && time.is_single_valued()?
            && in_order(&self.dependences, &time, UnionMap::lex_ge)?.is_empty()?)
    }
}

/// When each instance is executed.
fn times(program: &Program) -> Result<UnionMap, Error> {
    let clock = Clock::of(&program.leaves);
    let leaves = program.leaves.iter();
    let pieces: Vec<_> = leaves.filter_map(|l| time(l, &clock)).collect();
    UnionMap::new(&pieces)
}

/// The dependences among updates whose order does not matter: those of one reduction, and of
/// several ones that add to the same tensor.
fn within_reductions(
    program: &Program,
    dependences: &UnionMap,
    reassociates: &dyn Fn(usize) -> bool,
) -> Result<UnionMap, Error> {
    let mut groups: Vec<((&Name, BinaryOp), Vec<Piece>)> = Vec::new();
    for (a, original) in program.originals.iter().enumerate() {
        let Some(accumulator) = accumulator(original).filter(|_| reassociates(a)) else {
            continue;
        };
        let piece = instances(a, original);
        match groups.iter_mut().find(|(key, _)| *key == accumulator) {
            Some((_, pieces)) => pieces.push(piece),
            None => groups.push((accumulator, vec![piece])),
        }
    }
    let mut within = UnionMap::new(&[])?;
    for (_, pieces) in groups {
        let group = UnionSet::new(&pieces)?;
        let own = dependences
            .intersect_domain(&group)?
            .intersect_range(&group)?;
        within = within.union(&own)?;
    }
    Ok(within)
}

/// What an assignment updates, and how, if its value does not depend on that.
fn accumulator<'a>(original: &Original<'a>) -> Option<(&'a Name, BinaryOp)> {
    let target = original.stmt.target.name()?;
    let op = match original.stmt.update? {
        BinaryOp::Sub => BinaryOp::Add,
        op => op,
    };
    let mut reads = false;
    let mut visit = |tensor: &Tensor| reads |= tensor.name() == Some(target);
    original
        .stmt
        .value
        .for_each_access(&mut |tensor, _| visit(tensor));
    (!reads).then_some((target, op))
}
