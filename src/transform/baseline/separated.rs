//! Takes guards, which fusion introduces, out of loops. Each part of a loop executes the statements
//! whose guards hold, as in the output of Pluto's code generator.
//!
//! A loop that dependences between statements serialize may be parallel in such a part, which has
//! fewer statements. Compilers discover this in Pluto's C. Here it is proved, and the loop becomes
//! a vector loop.
//!
//! Source: CLooG, which Pluto asks to separate all loops except those over tiles. Here those are
//! also separated.

use super::error::NoSchedule;
use super::kept::moves_through_neighbors;
use super::work::{Work, named};
use crate::Class;
use crate::ir::{Name, Nest, Role, Tree};
use crate::legality::{Reductions, Verdict, check};
use crate::nest::isolate::ISOLATE;
use crate::nest::mode::VECTORIZE;
use crate::nest::separate::SEPARATE;
use crate::nest::tighten::TIGHTEN;

/// Takes the guards out of all loops, outermost first. Returns the loops in parts, and the loops
/// inside of them.
pub(super) fn separate(work: &mut Work) -> Result<Vec<Name>, NoSchedule> {
    let (mut tried, mut parts): (Vec<Name>, Vec<Name>) = (Vec::new(), Vec::new());
    loop {
        let before: Vec<Name> = names(&work.nest);
        let Some(name) = before.iter().find(|name| !tried.contains(name)) else {
            return Ok(parts);
        };
        tried.push(name.clone());
        match work.step(&SEPARATE, vec![named(name)]) {
            Ok(()) => {
                let new = names(&work.nest)
                    .into_iter()
                    .filter(|n| !before.contains(n));
                parts.extend(new);
                let inside = work.find(name).map(|l| l.body.clone());
                parts.extend(inside.iter().flatten().flat_map(names_in));
                parts.push(name.clone());
            }
            Err(NoSchedule::NoPath(error)) if error.class == Class::Refusal => {}
            Err(other) => return Err(other),
        }
    }
}

/// Leaves out iterations and parts that execute nothing, as CLooG does, and parts the tiles that alone
/// run some statements from others. `parts` gets the loops in these.
pub(super) fn tighten(work: &mut Work, parts: &mut Vec<Name>) -> Result<(), NoSchedule> {
    tightened(work)?;
    let before = names(&work.nest);
    let loops = work.nest.loops();
    let blocks = loops.iter().map(|(_, l)| *l).filter(|l| l.is_serial());
    let blocks = blocks.filter(|l| l.birth().is_some_and(|b| b.role == Role::Outer));
    let blocks: Vec<Name> = blocks.map(|l| l.name.clone()).collect();
    for name in blocks {
        match work.step(&ISOLATE, vec![named(&name)]) {
            Ok(()) => tightened(work)?,
            Err(NoSchedule::NoPath(error)) if error.class == Class::Refusal => {}
            Err(other) => return Err(other),
        }
    }
    let all = names(&work.nest).into_iter();
    parts.extend(all.filter(|name| !before.contains(name)));
    Ok(())
}

fn tightened(work: &mut Work) -> Result<(), NoSchedule> {
    let before = work.nest.clone();
    work.step(&TIGHTEN, Vec::new())?;
    if work.nest == before {
        work.nest = before;
    }
    Ok(())
}

/// Vectorizes loops of `parts`, and returns the verdict on the result. A candidate executes one
/// statement, with unit-stride or invariant accesses, and writes another element in each iteration.
/// If the result is not legal, all loops stay as they are.
pub(super) fn with_vectors(work: &mut Work, parts: &[Name]) -> Result<Verdict, NoSchedule> {
    let check = |nest: &Nest| check(std::slice::from_ref(nest), Reductions::Strict);
    let plain = work.nest.clone();
    for name in parts {
        let Some(l) = work.find(name).filter(|l| l.is_serial()) else {
            continue;
        };
        let moves = |tree: &Tree| match tree {
            Tree::Stmt(s) => s.index.iter().any(|index| index.mentions(&l.name)),
            _ => false,
        };
        if l.body.len() == 1 && l.body.iter().all(moves) && moves_through_neighbors(&l) {
            match work.step(&VECTORIZE, vec![named(name)]) {
                // The guard in a vector loop is a loop that cannot also be vectorized.
                Ok(()) | Err(NoSchedule::NoPath(_)) => {}
                Err(other) => return Err(other),
            }
        }
    }
    if work.nest == plain {
        return Ok(check(&plain));
    }
    match check(&work.nest) {
        Verdict::Legal => Ok(Verdict::Legal),
        _ => {
            work.nest = plain;
            Ok(check(&work.nest))
        }
    }
}

fn names(nest: &Nest) -> Vec<Name> {
    nest.loops().iter().map(|(_, l)| l.name.clone()).collect()
}

fn names_in(tree: &Tree) -> Vec<Name> {
    match tree {
        Tree::Loop(l) => {
            let inside = l.body.iter().flat_map(names_in);
            [l.name.clone()].into_iter().chain(inside).collect()
        }
        _ => Vec::new(),
    }
}
