//! `repeat` wraps a nest in a loop that executes it several times: time steps.
//!
//! ```rhai
//! let A = tensor([8]);
//! let B = tensor([8]);
//! B = eq(vstencil(A, [[-1], [1]], [0.5, 0.5]), [i] -> [i], [8]);
//! let first = build(B);
//! A = eq(B, [i] -> [i]);
//! let steps = fuse_outer(first, build(A), 0).repeat("t", 100);
//! print(steps);
//! ```
//!
//! ```text
//! f64 B[8], A[8]
//! for t in 0..100
//!   for i in 1..7
//!     B[i] = 0.5 * A[i - 1] + 0.5 * A[i + 1]
//!   for i_2 in 0..8
//!     A[i_2] = B[i_2]
//! ```
//!
//! `repeat(nest, iterator, steps)` also changes what the nest should compute from then on: its
//! definition, executed `steps` times.
//!
//! Always legal.
//!
//! Refuses: fewer than one step; an iterator with the name of a loop of the nest.
//!
//! Source: the time loops of stencil codes.

use super::resolve::check_positive;
use crate::args::NEST;
use crate::ir::{Loop, Name, Nest, Range};
use crate::refusals::name_clash;
use crate::{Error, Op, Param, Returns, Value};

const ITERATOR: Param<Name> = Param::new("iterator");
const STEPS: Param<i64> = Param::new("steps");

/// `repeat(nest, iterator, steps)`.
pub static REPEAT: Op = Op {
    name: "repeat",
    params: &[NEST.any(), ITERATOR.any(), STEPS.any()],
    returns: Returns::Nest,
    file: include_str!("repeat.rs"),
    call: |args| repeat(args.get(&NEST)?, args.get(&ITERATOR)?, args.get(&STEPS)?).map(Value::Nest),
};

/// The nest in a loop of `steps` iterations.
///
/// # Errors
/// As the header says.
pub fn repeat(nest: &Nest, name: Name, steps: i64) -> Result<Nest, Error> {
    check_positive(steps, &STEPS)?;
    let original = |nest: &Nest| nest.untransformed().iter().any(|n| n.has_loop(&name));
    if nest.has_loop(&name) || original(nest) {
        return Err(name_clash(&name).at(&ITERATOR).on(nest, [name]));
    }
    let time = Loop::serial(name, Range::constant(0, steps), Vec::new());
    Ok(nest.repeated(&time))
}
