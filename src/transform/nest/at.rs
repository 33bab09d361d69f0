//! `at` transforms one loop of a nest as if it were a nest of its own.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! let C = eq(B, [i, j] -> [i, j]);
//! let both = fuse_outer(build(B), build(C), 1);
//! print(both.at("j_2", |sub| sub.stripmine(1, 2).vectorize(2)));
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5], C[4][5]
//! for i in 0..4
//!   for j in 0..5
//!     B[i][j] = A[i][j]
//!   for j_2_o in 0..3
//!     vector for j_2_i in 2*j_2_o..min(2*j_2_o + 2, 5)
//!       C[i][j_2_i] = B[i][j_2_i]
//! ```
//!
//! `at(nest, loop, steps)`: `steps` is a function of a nest, or the path of another nest. It gets
//! the loop as a nest whose levels count from that loop. The result replaces the loop. New
//! buffers and numbered loops have names that are free in all of the nest.
//!
//! Legal when the steps are legal.
//!
//! Refuses: steps that refuse; steps that change the definition by a law, as `regroup` does; new loop
//! names that are in use elsewhere in the nest.
//!
//! Source: TeML's outlook (§7), which asks for control at this granularity; the form is that of a
//! lens.

use super::resolve::{chain, find};
use crate::analysis::position::splice;
use crate::args::{LOOP, NEST, Replay};
use crate::ir::{Loop, Name, Nest, Path, Tree};
use crate::refusals::name_clash;
use crate::{Error, LoopRef, Op, Param, Returns, Value, refusal};

const STEPS: Param<Path> = Param::new("steps");

/// `at(nest, loop, steps)`.
pub static AT: Op = Op {
    name: "at",
    params: &[NEST.any(), LOOP.any(), STEPS.any()],
    returns: Returns::Nest,
    file: include_str!("at.rs"),
    call: |args| {
        let steps = (args.get(&STEPS)?, args.replay());
        at(args.get(&NEST)?, args.get(&LOOP)?, steps).map(Value::Nest)
    },
};

/// The loop `reference` as a nest of its own, which keeps the loops around it as context.
///
/// # Errors
/// The loop does not exist.
pub fn focus(nest: &Nest, reference: &LoopRef) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let loops = chain(nest, &position);
    let outer: Vec<&Loop> = loops[..position.len() - 1].iter().map(|l| &***l).collect();
    let trees = vec![Tree::Loop(loops[position.len() - 1].clone())];
    let inside = names(&Nest::of_trees(trees.clone()));
    let mut beside = names(nest);
    beside.retain(|name| !inside.contains(name));
    Ok(nest.part(trees, &outer, beside))
}

/// The names of loops and local tensors in a nest.
fn names(nest: &Nest) -> Vec<Name> {
    let loops = nest.loops().into_iter().map(|(_, l)| l.name.clone());
    let locals = nest.locals().into_iter().filter_map(|t| t.name().cloned());
    loops.chain(locals).collect()
}

/// Applies steps to one loop of the nest; `replay` takes them.
///
/// # Errors
/// As the header says.
fn at(nest: &Nest, reference: &LoopRef, (steps, replay): (&Path, Replay)) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let part = replay(steps, &focus(nest, reference)?)?;
    if part.laws() != nest.laws() {
        let error = refusal("a law changes the definition of the whole nest, and this is a part");
        let error = error.help("regroup the loop outside of `at`");
        return Err(error.at(&STEPS).on(nest, []));
    }
    let result = nest.with_trees(splice(nest.trees(), &position, part.trees().to_vec()));
    let mut names: Vec<Name> = result.loops().iter().map(|(_, l)| l.name.clone()).collect();
    names.sort();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(result),
        Some(pair) => {
            let name = pair[0].clone();
            Err(name_clash(&name).at(&STEPS).on(nest, [name]))
        }
    }
}
