//! `move_before` moves a loop in front of another one in the same body.
//!
//! ```rhai
//! let A = tensor([4]);
//! let x = tensor([5]);
//! let B = eq(A, [i] -> [i]);
//! let y = eq(x, [j] -> [j]);
//! print(fuse_outer(build(B), build(y), 0).move_before("j", "i"));
//! ```
//!
//! ```text
//! f64 B[4], A[4], y[5], x[5]
//! for j in 0..5
//!   y[j] = x[j]
//! for i in 0..4
//!   B[i] = A[i]
//! ```
//!
//! Everything else keeps its order, so that `fuse` can merge loops that were not adjacent.
//!
//! Legal when the loop and what it moves past do not depend on each other. `check` proves it.
//!
//! Refuses: loops that are not in the same body, or a loop and itself.
//!
//! Source: statement reordering, Allen and Kennedy, Optimizing Compilers for Modern Architectures,
//! 2001.

use super::resolve::{chain, find};
use crate::analysis::position::splice;
use crate::args::{LOOP, NEST};
use crate::ir::{Nest, Tree};
use crate::{Error, LoopRef, Op, Param, Returns, Value, refusal};

const OTHER: Param<LoopRef> = Param::new("other");

/// `move_before(nest, loop, other)`.
pub static MOVE_BEFORE: Op = Op {
    name: "move_before",
    params: &[NEST.any(), LOOP.any(), OTHER.any()],
    returns: Returns::Nest,
    file: include_str!("move_before.rs"),
    call: |args| {
        move_before(args.get(&NEST)?, args.get(&LOOP)?, args.get(&OTHER)?).map(Value::Nest)
    },
};

/// The nest with a loop directly in front of another one.
///
/// # Errors
/// As the header says.
pub fn move_before(nest: &Nest, reference: &LoopRef, other: &LoopRef) -> Result<Nest, Error> {
    let (from, to) = (find(nest, reference, &LOOP)?, find(nest, other, &OTHER)?);
    let l = chain(nest, &from)[from.len() - 1].clone();
    if from == to || from[..from.len() - 1] != to[..to.len() - 1] {
        let (first, second) = (&l.name, &chain(nest, &to)[to.len() - 1].name);
        let text = format!("`{first}` and `{second}` are not two loops of one body");
        let error = refusal(text).help("move the loops around them, or distribute them, first");
        return Err(error.on(nest, [first.clone(), second.clone()]));
    }
    let target = chain(nest, &to)[to.len() - 1].clone();
    let pair = vec![Tree::Loop(l), Tree::Loop(target)];
    // The later position first: a change there does not move the earlier one.
    let trees = if from < to {
        splice(&splice(nest.trees(), &to, pair), &from, Vec::new())
    } else {
        splice(&splice(nest.trees(), &from, Vec::new()), &to, pair)
    };
    Ok(nest.with_trees(trees))
}
