//! `skew` shifts an inner loop by a multiple of an outer iterator.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! print(build(B).skew("j", "i", 2));
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5]
//! for i in 0..4
//!   for j in 2*i..2*i + 5
//!     B[i][j - 2*i] = A[i][j - 2*i]
//! ```
//!
//! `skew(nest, inner, outer, factor)` adds `factor * outer` to the iterator `inner`. Negative
//! factors skew back.
//!
//! Always legal: iterations keep their order.
//!
//! Refuses: a loop that is not inside the other one; coefficients beyond 2^40.
//!
//! Source: loop skewing, Wolfe, Loop Skewing: The Wavefront Method Revisited, 1986. TeML
//! cannot express it.

use super::resolve::{chain, find};
use super::shift::shifted;
use crate::analysis::position::splice;
use crate::args::NEST;
use crate::ir::{Affine, Arg, Name, Nest};
use crate::op::Call;
use crate::refusals::not_inside;
use crate::{Error, LoopRef, Op, Param, Returns, Value};

const INNER: Param<LoopRef> = Param::new("inner");
const OUTER: Param<LoopRef> = Param::new("outer");
const FACTOR: Param<i64> = Param::new("factor");

/// `skew(nest, inner, outer, factor)`.
pub static SKEW: Op = Op {
    name: "skew",
    params: &[NEST.any(), INNER.any(), OUTER.any(), FACTOR.any()],
    returns: Returns::Nest,
    file: include_str!("skew.rs"),
    call: |args| {
        skew(
            args.get(&NEST)?,
            args.get(&INNER)?,
            args.get(&OUTER)?,
            args.get(&FACTOR)?,
        )
        .map(Value::Nest)
    },
};

/// A few skews of a loop by the one around it, by 1 and by 2. Another order of the loops may then
/// be legal.
pub(super) fn skews(nest: &Nest) -> Vec<Call> {
    let by_name = |name: &Name| Arg::Loop(LoopRef::Name(name.to_string()));
    let loops = nest.loops();
    let pairs = loops
        .iter()
        .filter_map(|(outer, l)| Some((outer.last()?, l)));
    let skewed = pairs.flat_map(|(outer, inner)| {
        let by = |k| vec![by_name(&inner.name), by_name(&outer.name), Arg::Int(k)];
        [1, 2].map(|k| (&SKEW, by(k)))
    });
    skewed.take(6).collect()
}

/// The nest with the loop `inner` shifted by `factor` times the iterator of `outer`.
///
/// # Errors
/// As the header says.
pub fn skew(nest: &Nest, inner: &LoopRef, outer: &LoopRef, factor: i64) -> Result<Nest, Error> {
    let position = find(nest, inner, &INNER)?;
    let around = find(nest, outer, &OUTER)?;
    let l = chain(nest, &position)[position.len() - 1];
    let outer = chain(nest, &around)[around.len() - 1].name.clone();
    if around == position || !position.starts_with(&around) {
        return Err(not_inside(nest, &l.name, &outer));
    }
    let skewed = shifted(l, &Affine::iterator(outer).times(factor));
    Ok(nest.with_trees(splice(nest.trees(), &position, vec![skewed])))
}
