//! The order of nests whose statements are those of the definition.
//!
//! They compute what the definition says if every instance is executed exactly once, nothing else
//! is, and of two instances that touch the same element, which one of them writes, the one that
//! the definition executes first is executed first.
//!
//! Source: Kelly and Pugh, A Unifying Framework for Iteration Reordering Transformations, 1995.

use super::find;
use super::program::Program;
use super::relations::{Meaning, in_order, instances, time};
use super::violation::Violation;
use crate::poly::{Error, UnionMap, UnionSet};

/// The first instance that is not executed, executed twice or executed in the wrong order.
pub(super) fn violation(
    program: &Program,
    reassociates: &dyn Fn(usize) -> bool,
) -> Result<Option<Violation>, Error> {
    let meaning = Meaning::of(program)?;
    let depth = program.depth();
    let pieces: Vec<_> = program
        .leaves
        .iter()
        .filter_map(|l| time(l, depth))
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

/// The dependences among the updates of reductions whose order does not matter.
fn within_reductions(
    program: &Program,
    dependences: &UnionMap,
    reassociates: &dyn Fn(usize) -> bool,
) -> Result<UnionMap, Error> {
    let mut within = UnionMap::new(&[])?;
    for (a, original) in program.originals.iter().enumerate() {
        if !reassociates(a) {
            continue;
        }
        let one = UnionSet::new(&[instances(a, original)])?;
        let own = dependences.intersect_domain(&one)?.intersect_range(&one)?;
        within = within.union(&own)?;
    }
    Ok(within)
}
