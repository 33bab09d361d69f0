//! `redefine` gives a nest the definition of another nest, which computes the same in other steps.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let x = tensor([5]);
//! let y = eq(1 - vsum(vmul(A, x, [[i, j], [j]]), [j]), [i]);
//! let naive = build(y);
//! let steps = split_sums(naive);
//! let both = fuse_outer(build(steps[0]), build(steps[1]), 0).localize(steps[0]);
//! print(naive);
//! print(both.redefine(naive));
//! ```
//!
//! ```text
//! f64 y[4], A[4][5], x[5]
//! for i in 0..4
//!   local f64 y_sum[]
//!   fill y_sum[] = 0
//!   for j in 0..5
//!     y_sum[] += A[i][j] * x[j]
//!   y[i] = 1 - y_sum[]
//! f64 y[4], A[4][5], x[5]
//! local f64 y_sum[4]
//! fill y_sum[0..4] = 0
//! for i in 0..4
//!   for j in 0..5
//!     y_sum[i] += A[i][j] * x[j]
//! for i_2 in 0..4
//!   y[i_2] = 1 - y_sum[i_2]
//! ```
//!
//! `redefine(nest, original)`: the loops stay as they are. Statements of the nest execute those of
//! the definition that have the same number, in the same iterations.
//!
//! Legal when each statement gets the values that it has in the other definition. `check` proves
//! it.
//!
//! Refuses: an `original` with another number of statements, or without a definition; a nest with
//! arguments that the `original` does not have.
//!
//! Source: equivalence of static affine programs; Verdoolaege, Janssens and Bruynooghe, Equivalence
//! Checking of Static Affine Programs, 2009.

use crate::args::NEST;
use crate::ir::{Nest, Tensor};
use crate::{Error, Op, Param, Returns, Value, refusal};

const ORIGINAL: Param<Nest> = Param::new("original");

/// `redefine(nest, original)`.
pub static REDEFINE: Op = Op {
    name: "redefine",
    params: &[NEST.any(), ORIGINAL.any()],
    returns: Returns::Nest,
    file: include_str!("redefine.rs"),
    call: |args| redefine(args.get(&NEST)?, args.get(&ORIGINAL)?).map(Value::Nest),
};

/// The nest with the definition of `original`.
///
/// # Errors
/// As the header says.
pub fn redefine(nest: &Nest, original: &Nest) -> Result<Nest, Error> {
    if original.definition().is_empty() {
        return Err(refusal("the other nest has no definition").at(&ORIGINAL));
    }
    let (own, meant) = (nest.steps(), original.steps());
    if own != meant {
        let text = format!("the nest computes {own} statements, and the definition has {meant}");
        return Err(refusal(text).at(&ORIGINAL).on(nest, []));
    }
    let known = original.tensors();
    let is_new = |tensor: &&Tensor| !known.contains(tensor);
    if let Some(tensor) = nest.tensors().iter().find(is_new) {
        let text = format!("the definition does not have {}", tensor.label());
        let help = "`localize` makes a tensor local that the nest computes for itself";
        return Err(refusal(text).help(help).at(&NEST).on(nest, []));
    }
    Ok(nest.redefined(original))
}
