//! `parallelize` runs the iterations of a loop on several threads, `vectorize` in vector lanes.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! print(build(B).parallelize("i").vectorize("j"));
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5]
//! parallel for i in 0..4
//!   vector for j in 0..5
//!     B[i][j] = A[i][j]
//! ```
//!
//! In C they become `#pragma omp parallel for` and `#pragma omp simd`. A loop may be both.
//!
//! Legal when no iteration writes an element that another one reads or writes; `codegen` proves
//! it and refuses otherwise.
//!
//! Refuses: a parallel or vector loop inside a vector loop.
//!
//! Source: TeML §3.3.3.

use super::resolve::{chain, find};
use crate::analysis::position::splice;
use crate::ir::{Loop, Nest, Tree};
use crate::transform::{Arg, Error, ErrorKind, Kind, LoopRef, Op, Param, Returns, Value};

const PARAMS: &[Param] = &[
    Param::new("nest", Kind::Nest),
    Param::new("loop", Kind::Loop),
];

/// `parallelize(nest, loop)`.
pub static PARALLELIZE: Op = Op {
    name: "parallelize",
    params: PARAMS,
    returns: Returns::Nest,
    file: include_str!("mode.rs"),
    call: |args| match args {
        [Arg::Nest(nest), Arg::Loop(l)] => parallelize(nest, l).map(Value::Nest),
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// `vectorize(nest, loop)`.
pub static VECTORIZE: Op = Op {
    name: "vectorize",
    params: PARAMS,
    returns: Returns::Nest,
    file: include_str!("mode.rs"),
    call: |args| match args {
        [Arg::Nest(nest), Arg::Loop(l)] => vectorize(nest, l).map(Value::Nest),
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The nest with a loop marked parallel.
///
/// # Errors
/// A loop that does not exist.
pub fn parallelize(nest: &Nest, reference: &LoopRef) -> Result<Nest, Error> {
    mark(nest, reference, |l| Loop {
        parallel: true,
        ..l
    })
}

/// The nest with a loop marked vector.
///
/// # Errors
/// A loop that does not exist.
pub fn vectorize(nest: &Nest, reference: &LoopRef) -> Result<Nest, Error> {
    mark(nest, reference, |l| Loop { vector: true, ..l })
}

fn mark(nest: &Nest, reference: &LoopRef, with: fn(Loop) -> Loop) -> Result<Nest, Error> {
    let position = find(nest, reference, 1)?;
    let l = chain(nest, &position)[position.len() - 1];
    let marked = Tree::of_loop(with((**l).clone()));
    Ok(nest.with_trees(splice(nest.trees(), &position, vec![marked])))
}
