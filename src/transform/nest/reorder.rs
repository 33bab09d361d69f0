//! `reorder` puts loops of a perfect nest into the listed order.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = tensor([5, 6]);
//! let C = eq(vsum(vmul(A, B, [[i, k], [k, j]]), [k]), [i, j]);
//! print(build(C).reorder(["k", "i", "j"]));
//! ```
//!
//! ```text
//! f64 C[4][6], A[4][5], B[5][6]
//! fill C[0..4][0..6] = 0
//! for k in 0..5
//!   for i in 0..4
//!     for j in 0..6
//!       C[i][j] += A[i][k] * B[k][j]
//! ```
//!
//! The listed loops share the places that they have; other loops keep theirs. If bounds depend on a
//! loop that moves inward, the loops get new bounds, as with `interchange`. They also do if bounds
//! depend on several of the loops: tiles of a triangle run only where they hold iterations.
//!
//! ```rhai
//! let A = tensor([8, 8]);
//! let C = tensor([8, 8]);
//! C = eq(2 * A, [i, j] -> [i, j], #{j: 0..i + 1});
//! let tiles = build(C).stripmine("i", 4).stripmine("j", 4);
//! print(tiles.reorder(["i_o", "j_o", "i_i", "j_i"]));
//! ```
//!
//! ```text
//! f64 C[8][8], A[8][8]
//! for i_o in 0..2
//!   for j_o in 0..i_o + 1
//!     for i_i in 4*i_o..4*i_o + 4
//!       for j_i in 4*j_o..min(4*j_o + 4, i_i + 1)
//!         C[i_i][j_i] = 2 * A[i_i][j_i]
//! ```
//!
//! Legal when every dependence keeps its direction. `check` proves it.
//!
//! Refuses: a loop listed twice; two loops neither of which is inside the other; anything beside
//! the loops from the outermost one listed down to the innermost; bounds that `interchange`
//! refuses.
//!
//! Source: the sequence of interchanges that TeML composes (eqs. 21 and 28), in one step.

use super::interchange::check_perfect;
use super::permute::permuted;
use super::resolve::{chain, find};
use crate::analysis::position::Position;
use crate::args::NEST;
use crate::ir::{Loop, Nest};
use crate::refusals::{not_nested, repeated};
use crate::{Error, LoopRef, Op, Param, Returns, Value};
use std::sync::Arc;

const LOOPS: Param<Vec<LoopRef>> = Param::new("loops");

/// `reorder(nest, loops)`.
pub static REORDER: Op = Op {
    name: "reorder",
    params: &[NEST.any(), LOOPS.any()],
    returns: Returns::Nest,
    file: include_str!("reorder.rs"),
    call: |args| reorder(args.get(&NEST)?, args.get(&LOOPS)?).map(Value::Nest),
};

/// The nest with the `listed` loops in this order.
///
/// # Errors
/// As the header says.
pub fn reorder(nest: &Nest, listed: &[LoopRef]) -> Result<Nest, Error> {
    let mut positions: Vec<Position> = Vec::with_capacity(listed.len());
    for reference in listed {
        let position = find(nest, reference, &LOOPS)?;
        if positions.contains(&position) {
            let name = &chain(nest, &position)[position.len() - 1].name;
            return Err(repeated(name).at(&LOOPS).on(nest, []));
        }
        positions.push(position);
    }
    let deepest = positions.iter().max_by_key(|p| p.len());
    let outermost = positions.iter().min_by_key(|p| p.len());
    let (Some(deepest), Some(outermost)) = (deepest, outermost) else {
        return Ok(nest.clone());
    };
    let loops = chain(nest, deepest);
    if let Some(aside) = positions.iter().find(|p| !deepest.starts_with(p)) {
        let [first, second] = [aside, deepest].map(|p| &chain(nest, p)[p.len() - 1].name);
        return Err(not_nested(nest, first, second));
    }
    let top = outermost.len() - 1;
    let band = &loops[top..];
    check_perfect(nest, band)?;

    let mut places: Vec<usize> = positions.iter().map(|p| p.len() - 1 - top).collect();
    let chosen: Vec<&Arc<Loop>> = places.iter().map(|p| band[*p]).collect();
    places.sort_unstable();
    let mut order = band.to_vec();
    for (place, l) in places.into_iter().zip(chosen) {
        order[place] = l;
    }
    permuted(nest, outermost, &loops, &order)
}
