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
use crate::ir::{Affine, Nest};
use crate::transform::{Arg, Error, ErrorKind, Kind, LoopRef, Op, Param, Returns, Value};

/// `skew(nest, inner, outer, factor)`.
pub static SKEW: Op = Op {
    name: "skew",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("inner", Kind::Loop),
        Param::new("outer", Kind::Loop),
        Param::new("factor", Kind::Int),
    ],
    returns: Returns::Nest,
    file: include_str!("skew.rs"),
    call: |args| match args {
        [
            Arg::Nest(nest),
            Arg::Loop(inner),
            Arg::Loop(outer),
            Arg::Int(factor),
        ] => skew(nest, inner, outer, *factor).map(Value::Nest),
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The nest with the loop `inner` shifted by `factor` times the iterator of `outer`.
///
/// # Errors
/// As the header says.
pub fn skew(nest: &Nest, inner: &LoopRef, outer: &LoopRef, factor: i64) -> Result<Nest, Error> {
    let position = find(nest, inner, 1)?;
    let around = find(nest, outer, 2)?;
    let l = chain(nest, &position)[position.len() - 1];
    let outer = chain(nest, &around)[around.len() - 1].name.clone();
    if around == position || !position.starts_with(&around) {
        let inner = l.name.clone();
        let culprits = [inner.clone(), outer.clone()];
        let kind = ErrorKind::NotInside { inner, outer };
        return Err(Error::from(kind).on(nest, culprits));
    }
    let skewed = shifted(l, &Affine::iterator(outer).times(factor));
    Ok(nest.with_trees(splice(nest.trees(), &position, vec![skewed])))
}
