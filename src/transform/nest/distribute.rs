//! `distribute` splits a loop: each loop and each statement in its body gets a loop of its own.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! let C = eq(B, [i, j] -> [i, j]);
//! print(fuse_outer(build(B), build(C), 2).distribute("j"));
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5], C[4][5]
//! for i in 0..4
//!   for j in 0..5
//!     B[i][j] = A[i][j]
//!   for j_2 in 0..5
//!     C[i][j_2] = B[i][j_2]
//! ```
//!
//! The first loop keeps the name; the others get the first free numbers.
//!
//! `distribute(nest, loop, starts)` makes fewer parts: a new one begins at each loop of the list,
//! with everything up to the next one.
//!
//! ```rhai
//! let A = tensor([4]);
//! let B = eq(A, [i] -> [i]);
//! let C = eq(B, [i] -> [i]);
//! let D = eq(C, [i] -> [i]);
//! let all = [build(B), build(C), build(D)].map(|l| l.stripmine("i", 2));
//! let both = fuse_outer(all[0], all[1], 1);
//! print(fuse_outer(both, all[2], 1).distribute("i_o", ["i_i_3"]));
//! ```
//!
//! ```text
//! f64 B[4], A[4], C[4], D[4]
//! for i_o in 0..2
//!   for i_i in 2*i_o..2*i_o + 2
//!     B[i_i] = A[i_i]
//!   for i_i_2 in 2*i_o..2*i_o + 2
//!     C[i_i_2] = B[i_i_2]
//! for i_o_2 in 0..2
//!   for i_i_3 in 2*i_o_2..2*i_o_2 + 2
//!     D[i_i_3] = C[i_i_3]
//! ```
//!
//! Legal when no iteration depends on a statement further down in the body of an earlier iteration.
//! `check` proves it.
//!
//! Refuses: a loop whose body is a single loop or statement; a start that is not inside of the
//! loop.
//!
//! Source: loop distribution, Allen and Kennedy, Optimizing Compilers for Modern Architectures,
//! 2001; it undoes TeML eqs. 22 and 23.

use super::parts::{Names, with_body};
use super::resolve::{chain, find};
use crate::analysis::position::splice;
use crate::args::{LOOP, NEST};
use crate::ir::{Loop, Nest, Role, Tree};
use crate::refusals::not_inside;
use crate::{Error, LoopRef, Op, Param, Returns, Value, refusal};

const STARTS: Param<Option<Vec<LoopRef>>> = Param::new("starts");

/// `distribute(nest, loop, starts?)`.
pub static DISTRIBUTE: Op = Op {
    name: "distribute",
    params: &[NEST.any(), LOOP.any(), STARTS.any()],
    returns: Returns::Nest,
    file: include_str!("distribute.rs"),
    call: |args| {
        distribute(args.get(&NEST)?, args.get(&LOOP)?, args.get(&STARTS)?).map(Value::Nest)
    },
};

/// Splits a loop before each tree in its body, or only before each of `starts`.
///
/// # Errors
/// As the header says.
pub fn distribute(
    nest: &Nest,
    reference: &LoopRef,
    starts: Option<&[LoopRef]>,
) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let l = chain(nest, &position)[position.len() - 1];
    if l.body.len() < 2 {
        let name = &l.name;
        let text = format!(
            "there is only one loop or statement in `{name}`, so there is nothing to distribute"
        );
        return Err(refusal(text).on(nest, [name.clone()]));
    }
    let mut cuts: Vec<usize> = (0..l.body.len()).collect();
    if let Some(starts) = starts {
        cuts = vec![0];
        for start in starts {
            let inside = find(nest, start, &STARTS)?;
            if inside.len() <= position.len() || !inside.starts_with(&position) {
                let inner = &chain(nest, &inside)[inside.len() - 1].name;
                return Err(not_inside(nest, inner, &l.name).at(&STARTS));
            }
            cuts.push(inside[position.len()]);
        }
        cuts.sort_unstable();
        cuts.dedup();
    }
    let ends = cuts[1..].iter().copied().chain([l.body.len()]);
    let mut names = Names::of(nest);
    let mut loops = Vec::new();
    for (start, end) in cuts.iter().copied().zip(ends) {
        let body = l.body[start..end].to_vec();
        loops.push(match start {
            0 => Tree::of_loop(Loop {
                body,
                ..(**l).clone()
            }),
            _ => {
                let name = names.number(&l.name);
                with_body(l, Role::Part, name, l.range.clone(), body)
            }
        });
    }
    Ok(nest.with_trees(splice(nest.trees(), &position, loops)))
}
