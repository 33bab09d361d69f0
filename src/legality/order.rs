//! The order of nests whose statements are those of the definition.
//!
//! They compute what the definition says if every instance is executed exactly once, nothing else
//! is, and of two instances that touch the same element, which one of them writes, the one that
//! the definition executes first is executed first.
//!
//! Source: Kelly and Pugh, A Unifying Framework for Iteration Reordering Transformations, 1995.

use super::find;
use super::memory::{Clock, iterator};
use super::program::{Leaf, Original, Program};
use super::relations::{Meaning, instances, iterations, statement, time};
use super::violation::Violation;
use crate::ir::{BinaryOp, Name};
use crate::poly::{Error, Linear, Piece, Relation, UnionMap, UnionSet};
use std::cmp::Ordering;

/// The first instance that is not executed, executed twice or executed in the wrong order.
pub(super) fn violation(
    program: &Program,
    reassociates: &dyn Fn(usize) -> bool,
) -> Result<Option<Violation>, Error> {
    let order = Order::of(program, reassociates)?;
    let time = times(program)?;
    let executed = time.domain()?;
    if let Some(instance) = find::first(program, &order.instances.subtract(&executed)?)? {
        return Ok(Some(find::missing(program, &instance)));
    }
    if let Some(instance) = find::first(program, &executed.subtract(&order.instances)?)? {
        return Ok(Some(find::extra(program, &instance)));
    }
    if !time.is_single_valued()? {
        return find::twice(program, &time);
    }
    if let Some(pair) = find::first_pair(program, &reversed(program, &order.dependences)?)? {
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
            && reversed(program, &self.dependences)?.is_empty()?)
    }
}

/// When each instance is executed.
fn times(program: &Program) -> Result<UnionMap, Error> {
    let clock = Clock::of(&program.leaves);
    let leaves = program.leaves.iter();
    let pieces: Vec<_> = leaves.filter_map(|l| time(l, &clock)).collect();
    UnionMap::new(&pieces)
}

/// The dependences whose sink the nests execute first. Each two leaves are compared by
/// themselves: where they stand decides for most of them, and so no relation between all points in
/// time is needed, which is large.
fn reversed(program: &Program, dependences: &UnionMap) -> Result<UnionMap, Error> {
    let mut found = UnionMap::new(&[])?;
    let mut leaves = Vec::new();
    for leaf in &program.leaves {
        if let Some(piece) = iterations(leaf, leaf.loops.len()) {
            leaves.push((leaf, UnionMap::new(&[piece])?));
        }
    }
    for (first, from) in &leaves {
        let sinks = from.reverse()?.apply_range(dependences)?;
        if sinks.is_empty()? {
            continue;
        }
        for (later, to) in &leaves {
            let not_before = not_before(first, later);
            if not_before.is_empty() {
                continue;
            }
            let pairs = sinks.apply_range(to)?;
            if pairs.is_empty()? {
                continue;
            }
            let wrong = pairs.intersect(&UnionMap::new(&not_before)?)?;
            if wrong.is_empty()? {
                continue;
            }
            let wrong = from.apply_range(&wrong)?.apply_range(&to.reverse()?)?;
            found = found.union(&wrong.intersect(dependences)?)?;
        }
    }
    Ok(found)
}

/// From iterations of the loops around `first` to those of the loops around `later` in which
/// `later` is executed no later than `first`.
fn not_before(first: &Leaf, later: &Leaf) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let places = first.place.iter().zip(&later.place);
    for (k, (a, b)) in places.enumerate() {
        // The loops further out, in all of which the iterations are the same.
        let common = k.saturating_sub(1);
        let is_loop = k > 0 && common < first.loops.len() && common < later.loops.len();
        match a.cmp(b) {
            Ordering::Less => return pieces,
            Ordering::Equal if k == 0 => {}
            Ordering::Equal if is_loop => {
                let (last, other) = (iterator(common), other(common));
                let piece = same(first, later, common);
                pieces.push(piece.constrain(other.as_str(), Relation::Less, last.as_str()));
            }
            Ordering::Equal | Ordering::Greater => {
                pieces.push(same(first, later, common));
                return pieces;
            }
        }
    }
    pieces
}

/// From iterations around `first` to those around `later` that are the same in the outermost
/// `common` loops.
fn same(first: &Leaf, later: &Leaf, common: usize) -> Piece {
    let variables: Vec<String> = (0..first.loops.len()).map(iterator).collect();
    let values = (0..later.loops.len()).map(|d| match d < common {
        true => Linear::from(iterator(d).as_str()),
        false => Linear::from(other(d).as_str()),
    });
    Piece::set("", variables.iter().map(String::as_str)).to("", values)
}

fn other(depth: usize) -> String {
    format!("{} other", iterator(depth))
}

/// The dependences among updates whose order does not matter: those of one reduction, and of
/// several ones that add to the same tensor.
fn within_reductions(
    program: &Program,
    dependences: &UnionMap,
    reassociates: &dyn Fn(usize) -> bool,
) -> Result<UnionMap, Error> {
    let mut groups: Vec<((&Name, BinaryOp), Vec<usize>)> = Vec::new();
    for (a, original) in program.originals.iter().enumerate() {
        let Some(accumulator) = accumulator(original).filter(|_| reassociates(a)) else {
            continue;
        };
        match groups.iter_mut().find(|(key, _)| *key == accumulator) {
            Some((_, group)) => group.push(a),
            None => groups.push((accumulator, vec![a])),
        }
    }
    let mut within = UnionMap::new(&[])?;
    for ((target, _), group) in groups {
        let pieces: Vec<Piece> = group
            .iter()
            .map(|a| instances(*a, &program.originals[*a]))
            .collect();
        let all = UnionSet::new(&pieces)?;
        let own = dependences.intersect_domain(&all)?.intersect_range(&all)?;
        let needed = operands(program, target, &group)?;
        within = within.union(&own.subtract(&needed)?)?;
    }
    Ok(within)
}

/// From updates of `target` to those whose value reads what they update, and back.
fn operands(program: &Program, target: &Name, group: &[usize]) -> Result<UnionMap, Error> {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for a in group {
        let mut reads_own = false;
        let value = &program.originals[*a].stmt.value;
        value.for_each_access(&mut |tensor, _| reads_own |= tensor.name() == Some(target));
        let Some(leaf) = program.original_leaf(*a, false) else {
            continue;
        };
        // The target, what the update reads of it, and the accesses of the value.
        let touched = leaf.touched(&leaf.domain(&statement(*a)));
        let mut touched = touched.into_iter().map(|(piece, _)| piece);
        writes.extend(touched.next());
        if reads_own {
            reads.extend(touched.skip(1));
        }
    }
    if reads.is_empty() {
        return UnionMap::new(&[]);
    }
    let readers = UnionMap::new(&reads)?.reverse()?;
    let needed = UnionMap::new(&writes)?.apply_range(&readers)?;
    needed.union(&needed.reverse()?)
}

/// What an assignment updates, and how.
fn accumulator<'a>(original: &Original<'a>) -> Option<(&'a Name, BinaryOp)> {
    let target = original.stmt.target.name()?;
    let op = match original.stmt.update? {
        BinaryOp::Sub => BinaryOp::Add,
        op => op,
    };
    Some((target, op))
}
