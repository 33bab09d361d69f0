//! `interchange` swaps two loops of a perfect nest.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [j, i]);
//! print(build(B).interchange("i", "j"));
//! ```
//!
//! ```text
//! f64 B[5][4], A[4][5]
//! for i in 0..4
//!   for j in 0..5
//!     B[j][i] = A[i][j]
//! ```
//!
//! The loops between the two keep their places. The order of the two arguments does not matter, and
//! a list works as well: `interchange(nest, [2, 3])`.
//!
//! If bounds depend on a loop that moves inward, all loops from the outer one down to the inner one
//! get new bounds. Each iteration is still executed exactly once. A skewed nest thus becomes a
//! wavefront:
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! print(build(B).skew("j", "i", 1).interchange("i", "j"));
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5]
//! for j in 0..8
//!   for i in max(j - 4, 0)..min(j + 1, 4)
//!     B[i][j - i] = A[i][j - i]
//! ```
//!
//! Legal when every dependence keeps its direction. `check` proves it.
//!
//! Refuses: two loops neither of which is inside the other; anything beside the loops from the
//! outer one down to the inner one; bounds with a multiple of a loop that moves inward, as those of
//! blocks, since new bounds would need division; bounds that depend on such a loop if one of the
//! loops has a step other than 1.
//!
//! Source: TeML eq. 21, §5.3; the bounds: Fourier–Motzkin elimination, Ancourt and Irigoin,
//! Scanning Polyhedra with DO Loops, 1991.

use super::permute::permuted;
use super::resolve::{chain, find};
use super::skew::skews;
use crate::args::NEST;
use crate::ir::{Arg, Loop, Nest};
use crate::op::Alternatives;
use crate::refusals::not_nested;
use crate::{Error, LoopRef, Op, Param, Returns, Value, refusal};
use std::sync::Arc;

const FIRST: Param<LoopRef> = Param::new("first");
const SECOND: Param<LoopRef> = Param::new("second");

/// `interchange(nest, first, second)`.
pub static INTERCHANGE: Op = Op {
    name: "interchange",
    params: &[NEST.any(), FIRST.any(), SECOND.any()],
    returns: Returns::Nest,
    file: include_str!("interchange.rs"),
    call: |args| {
        interchange(args.get(&NEST)?, args.get(&FIRST)?, args.get(&SECOND)?).map(Value::Nest)
    },
};

/// Skewed loops may have another legal order.
pub fn alternatives(nest: &Nest, _: &[Arg]) -> Alternatives {
    Alternatives {
        first: skews(nest),
        instead: None,
    }
}

/// The nest with the loops `first` and `second` swapped.
///
/// # Errors
/// As the header says.
pub fn interchange(nest: &Nest, first: &LoopRef, second: &LoopRef) -> Result<Nest, Error> {
    let mut outer = find(nest, first, &FIRST)?;
    let mut inner = find(nest, second, &SECOND)?;
    if inner.len() < outer.len() {
        std::mem::swap(&mut outer, &mut inner);
    }
    let loops = chain(nest, &inner);
    if !inner.starts_with(&outer) {
        let first = &chain(nest, &outer)[outer.len() - 1].name;
        return Err(not_nested(nest, first, &loops[inner.len() - 1].name));
    }
    let band = &loops[outer.len() - 1..];
    check_perfect(nest, band)?;

    let last = band.len() - 1;
    let mut order: Vec<&Arc<Loop>> = band.to_vec();
    order.swap(0, last);
    permuted(nest, &outer, &loops, &order)
}

/// Checks that each loop of `band` contains only the next one.
pub(super) fn check_perfect(nest: &Nest, band: &[&Arc<Loop>]) -> Result<(), Error> {
    let Some((innermost, outer)) = band.split_last() else {
        return Ok(());
    };
    match outer.iter().find(|l| l.body.len() != 1) {
        None => Ok(()),
        Some(culprit) => {
            let text = format!(
                "`{}` and `{}` are not perfectly nested: `{}` has more in it than a single loop",
                band[0].name, innermost.name, culprit.name
            );
            let error = refusal(text).help("only loops with nothing beside them change places");
            Err(error.on(nest, [culprit.name.clone()]))
        }
    }
}
