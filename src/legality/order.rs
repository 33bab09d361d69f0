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
    let meaning = Meaning::of(program)?;
    let clock = Clock::of(&program.leaves);
    let pieces: Vec<_> = program
        .leaves
        .iter()
        .filter_map(|l| time(l, &clock))
        .collect();
    let time = UnionMap::new(&pieces)?;

    let executed = time.domain()?;
    if let Some(instance) = find::first(&meaning.instances.subtract(&executed)?)? {
        return Ok(Some(find::missing(program, &instance)));
    }
    if let Some(instance) = find::first(&executed.subtract(&meaning.instances)?)? {
        return Ok(Some(find::extra(program, &instance)));
    }
    if !time.is_single_valued()? {
        return find::twice(program, &time);
    }

    let dependences = meaning.dependences()?;
    let free = within_reductions(program, &dependences, reassociates)?;
    let ordered = dependences.subtract(&free)?;
    let reversed = in_order(&ordered, &time, UnionMap::lex_ge)?;
    if let Some(pair) = find::first_pair(&reversed)? {
        return find::reversed(program, &pair).map(Some);
    }
    Ok(None)
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
