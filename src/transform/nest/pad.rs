//! `pad` rounds the trip count of a loop up to a multiple, and guards the iterations that it had
//! before.
//!
//! ```rhai
//! let A = tensor([13, 10]);
//! let B = eq(A, [i, j] -> [i, j]);
//! print(build(B).pad("i", 8));
//! ```
//!
//! ```text
//! f64 B[13][10], A[13][10]
//! for i in 0..16
//!   for j in 0..10
//!     for i_g in i..min(i + 1, 13)
//!       B[i_g][j] = A[i_g][j]
//! ```
//!
//! The added iterations execute nothing: a loop `i_g` of one iteration or none guards each innermost
//! body. So no tensor grows, and the loops around the guards stay perfectly nested. Further guards
//! get the first free numbers. A loop whose trip count is a multiple stays as it is.
//!
//! Guards take time and keep innermost loops from vectors. `stripmine` with the tail `"cut"` makes
//! blocks of one size without them.
//!
//! Blocks of a padded loop have no remainder:
//!
//! ```rhai
//! let A = tensor([13]);
//! let B = eq(A, [i] -> [i]);
//! print(build(B).pad("i", 8).stripmine("i", 8, "exact"));
//! ```
//!
//! ```text
//! f64 B[13], A[13]
//! for i_o in 0..2
//!   for i_i in 8*i_o..8*i_o + 8
//!     for i_g in i_i..min(i_i + 1, 13)
//!       B[i_g] = A[i_g]
//! ```
//!
//! Each upper bound is rounded whose remainder does not depend on outer loops. Others are left to the
//! guards. So the last block of a tiled loop also gets whole multiples:
//!
//! ```rhai
//! let A = tensor([13]);
//! let B = eq(A, [i] -> [i]);
//! print(build(B).stripmine("i", 8).pad("i_i", 4));
//! ```
//!
//! ```text
//! f64 B[13], A[13]
//! for i_o in 0..2
//!   for i_i in 8*i_o..8*i_o + 8
//!     for i_i_g in i_i..min(i_i + 1, 13)
//!       B[i_i_g] = A[i_i_g]
//! ```
//!
//! Always legal: the iterations that execute something keep their order.
//!
//! Refuses: multiples below 1; steps other than 1; several lower bounds; a trip count whose remainder
//! depends on outer loops.
//!
//! Source: Chen et al., TVM, OSDI 2018, whose loops over blocks have such guards.

use super::guard::{around_of, guard};
use super::parts::Names;
use super::resolve::{chain, check_positive, check_step, find};
use crate::analysis::position::splice;
use crate::args::{LOOP, NEST};
use crate::ir::{Affine, Loop, Nest, Range, Tree};
use crate::refusals::not_constant;
use crate::{Error, LoopRef, Op, Param, Returns, Value};

const MULTIPLE: Param<i64> = Param::new("multiple");

/// `pad(nest, loop, multiple)`.
pub static PAD: Op = Op {
    name: "pad",
    params: &[NEST.any(), LOOP.any(), MULTIPLE.any()],
    returns: Returns::Nest,
    file: include_str!("pad.rs"),
    call: |args| pad(args.get(&NEST)?, args.get(&LOOP)?, args.get(&MULTIPLE)?).map(Value::Nest),
};

/// The nest with the trip count of a loop rounded up to a multiple.
///
/// # Errors
/// As the header says.
pub fn pad(nest: &Nest, reference: &LoopRef, multiple: i64) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    check_positive(multiple, &MULTIPLE)?;
    let loops = chain(nest, &position);
    let l = loops[position.len() - 1];
    check_step(nest, l)?;
    let around = around_of(nest, &position[..position.len() - 1]);
    let own = around.needed(&l.range);
    let [lower] = own.lower.as_slice() else {
        return Err(not_constant(nest, l));
    };
    // The end of the loop is the least of these; a bound whose remainder varies is left to the guards.
    let rounded = |upper: &Affine| -> Option<Affine> {
        let extent = upper.minus(lower);
        let even = extent.terms().iter().all(|(_, c)| c % multiple == 0);
        let added = extent.offset().wrapping_neg().rem_euclid(multiple);
        even.then(|| upper.plus_constant(added))
    };
    let upper: Vec<Affine> = own.upper.iter().filter_map(rounded).collect();
    if upper.is_empty() {
        return Err(not_constant(nest, l));
    }
    let cut = own.upper.iter().filter(|bound| !upper.contains(bound));
    let guards = Range {
        lower: Vec::new(),
        upper: cut.cloned().collect(),
        step: 1,
        within: None,
    };
    if guards.upper.is_empty() {
        return Ok(nest.clone());
    }
    let padded = Range {
        upper,
        ..own.clone()
    };
    let padded = Tree::of_loop(Loop {
        range: around.needed(&padded),
        body: guard(&mut Names::of(nest), &l.body, l, &guards),
        ..(**l).clone()
    });
    Ok(nest.with_trees(splice(nest.trees(), &position, vec![padded])))
}
