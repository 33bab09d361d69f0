//! `shift` adds a constant to the iterator of a loop.
//!
//! ```rhai
//! let A = tensor([10]);
//! let B = eq(A, [i] -> [i]);
//! print(build(B).shift("i", 2));
//! ```
//!
//! ```text
//! f64 B[10], A[10]
//! for i in 2..12
//!   B[i - 2] = A[i - 2]
//! ```
//!
//! Shift a loop to align it with another one, so that the two fuse. Negative amounts shift down.
//!
//! Always legal: iterations keep their order.
//!
//! Refuses: amounts beyond 2^40.
//!
//! Source: loop alignment, Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001.

use super::resolve::{chain, find};
use crate::analysis::position::splice;
use crate::args::{LOOP, NEST};
use crate::ir::{Affine, Loop, Name, Nest, Tree};
use crate::{Error, LoopRef, Op, Param, Returns, Value};

const AMOUNT: Param<i64> = Param::new("amount");

/// `shift(nest, loop, amount)`.
pub static SHIFT: Op = Op {
    name: "shift",
    params: &[NEST.any(), LOOP.any(), AMOUNT.any()],
    returns: Returns::Nest,
    file: include_str!("shift.rs"),
    call: |args| shift(args.get(&NEST)?, args.get(&LOOP)?, args.get(&AMOUNT)?).map(Value::Nest),
};

/// The nest with `amount` added to a loop's iterator.
///
/// # Errors
/// A loop that does not exist.
pub fn shift(nest: &Nest, reference: &LoopRef, amount: i64) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let l = chain(nest, &position)[position.len() - 1];
    let shifted = shifted(l, &Affine::constant(amount));
    Ok(nest.with_trees(splice(nest.trees(), &position, vec![shifted])))
}

/// The loop with `by` added to its iterator.
pub(super) fn shifted(l: &Loop, by: &Affine) -> Tree {
    let old = Affine::iterator(l.name.clone()).minus(by);
    let map = |name: &Name| (*name == l.name).then(|| old.clone());
    Tree::of_loop(Loop {
        range: l.range.shifted(by),
        body: l.body.iter().map(|t| t.substitute(&map)).collect(),
        ..l.clone()
    })
}
