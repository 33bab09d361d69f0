//! `peel` splits the first or the last iterations of a loop off into a loop of their own.
//!
//! ```rhai
//! let A = tensor([10, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! print(build(B).peel("i", 2, "front"));
//! ```
//!
//! ```text
//! f64 B[10][5], A[10][5]
//! for i_f in 0..2
//!   for j_2 in 0..5
//!     B[i_f][j_2] = A[i_f][j_2]
//! for i in 2..10
//!   for j in 0..5
//!     B[i][j] = A[i][j]
//! ```
//!
//! `peel(nest, loop, count, end)` makes a loop `i_f` of the first `count` iterations, or a loop
//! `i_b` of the last ones; `unroll` dissolves it. The loops inside are copied there under the first
//! free numbers. A part without iterations is left out. If the trip count varies, bounds inside
//! that others then imply are left out: tiles beside the diagonal of a triangle are whole.
//!
//! ```rhai
//! let A = tensor([8, 8]);
//! let C = tensor([8, 8]);
//! C = eq(2 * A, [i, j] -> [i, j], #{j: 0..i + 1});
//! let tiles = build(C).stripmine("i", 4).stripmine("j", 4);
//! tiles = tiles.reorder(["i_o", "j_o", "i_i", "j_i"]);
//! print(tiles.peel("j_o", 1, "back"));
//! ```
//!
//! ```text
//! f64 C[8][8], A[8][8]
//! for i_o in 0..2
//!   for j_o in 0..i_o
//!     for i_i in 4*i_o..4*i_o + 4
//!       for j_i in 4*j_o..4*j_o + 4
//!         C[i_i][j_i] = 2 * A[i_i][j_i]
//!   for j_o_b in i_o..i_o + 1
//!     for i_i_2 in 4*i_o..4*i_o + 4
//!       for j_i_2 in 4*j_o_b..i_i_2 + 1
//!         C[i_i_2][j_i_2] = 2 * A[i_i_2][j_i_2]
//! ```
//!
//! With the end `"rest"`, the peeled iterations are those after the last whole block of `count`: for
//! sizes, their number is known when the kernel is called.
//!
//! ```rhai
//! let n = size("N");
//! let A = tensor([n]);
//! let B = eq(2 * A, [i] -> [i]);
//! print(build(B).peel("i", 8, "rest"));
//! ```
//!
//! ```text
//! size N
//! size N_8 = N / 8
//! f64 B[N], A[N]
//! for i in 0..8*N_8
//!   B[i] = 2 * A[i]
//! for i_b in 8*N_8..N
//!   B[i_b] = 2 * A[i_b]
//! ```
//!
//! With `least`, a last block with at least so many iterations stays:
//!
//! ```rhai
//! let n = size("N");
//! let A = tensor([n]);
//! let B = eq(2 * A, [i] -> [i]);
//! print(build(B).peel("i", 8, "rest", 5));
//! ```
//!
//! ```text
//! size N
//! size N_p3_8 = (N + 3) / 8
//! f64 B[N], A[N]
//! for i in 0..min(8*N_p3_8, N)
//!   B[i] = 2 * A[i]
//! for i_b in 8*N_p3_8..N
//!   B[i_b] = 2 * A[i_b]
//! ```
//!
//! Always legal: iterations keep their order.
//!
//! Refuses: counts below 1; ends other than `"front"`, `"back"` and `"rest"`; steps other than 1; a
//! loop whose trip count varies and that has several bounds at this end, or for `"rest"` does not
//! depend on sizes alone; a `least` above `count`, or with another end; new names that are in use.
//!
//! Source: loop peeling, Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001.

use super::parts::Names;
use super::resolve::{chain, check_positive, check_step, find};
use super::stripmine::{from_whole, sized_extent};
use crate::analysis::bounds;
use crate::analysis::implied::simplified;
use crate::analysis::position::splice;
use crate::args::{LOOP, NEST};
use crate::ir::{Affine, Loop, Nest, Range, Role, Tree};
use crate::words::words;
use crate::{Error, LoopRef, Op, Param, Returns, Value, mistake, refusal};

const COUNT: Param<i64> = Param::new("count");
const END: Param<End> = Param::new("end");
const LEAST: Param<Option<i64>> = Param::new("least");

/// `peel(nest, loop, count, end)`.
pub static PEEL: Op = Op {
    name: "peel",
    params: &[NEST.any(), LOOP.any(), COUNT.any(), END.any(), LEAST.any()],
    returns: Returns::Nest,
    file: include_str!("peel.rs"),
    call: |args| {
        peel(
            args.get(&NEST)?,
            args.get(&LOOP)?,
            args.get(&COUNT)?,
            args.get(&END)?,
            args.get(&LEAST)?,
        )
        .map(Value::Nest)
    },
};

words! {
    /// The end of a loop.
    pub enum End {
        Front = "front",
        Back = "back",
        /// The back, from the last whole block on.
        Rest = "rest",
    }
}

/// The nest with `count` iterations of a loop peeled off.
///
/// # Errors
/// As the header says.
pub fn peel(
    nest: &Nest,
    reference: &LoopRef,
    count: i64,
    end: End,
    least: Option<i64>,
) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    check_positive(count, &COUNT)?;
    if least.is_some_and(|least| least < 1 || least > count || end != End::Rest) {
        let text = format!("`least` is a number from 1 to {count}, with the end \"rest\"");
        return Err(mistake(text).at(&LEAST));
    }
    // So many iterations may be missing in a block that stays.
    let missing = count - least.unwrap_or(count);
    let l = chain(nest, &position)[position.len() - 1];
    check_step(nest, l)?;
    let Some((first, second)) = split(&l.range, (count, missing), end) else {
        let end = match end {
            End::Front => "front",
            End::Back | End::Rest => "back",
        };
        let text = format!("`{}` has several bounds at its {end}: {}", l.name, l.range);
        return Err(refusal(text).on(nest, [l.name.clone()]));
    };
    let main = |range| {
        let l = (**l).clone();
        Tree::of_loop(Loop { range, ..l })
    };
    let mut names = Names::of(nest);
    let trees = match end {
        End::Front => [
            first
                .map(|r| part(&mut names, l, r, End::Front))
                .transpose()?,
            second.map(main),
        ],
        End::Back | End::Rest => [
            first.map(main),
            second
                .map(|r| part(&mut names, l, r, End::Back))
                .transpose()?,
        ],
    };
    let trees: Vec<Tree> = trees.into_iter().flatten().collect();
    let peeled = nest.with_trees(splice(nest.trees(), &position, trees.clone()));
    if bounds::extent(&l.range).is_some() {
        return Ok(peeled);
    }
    // In parts of a triangle, some bounds imply others. Parts may end at sizes that are new.
    let chain = chain(nest, &position);
    let outer = chain[..position.len() - 1].iter().map(|l| &***l);
    let around: Vec<&Loop> = peeled.context().iter().chain(outer).collect();
    let trees = simplified(&trees, &around);
    Ok(nest.with_trees(splice(nest.trees(), &position, trees)))
}

/// The iterations `range` at one end of `l` as a loop of their own.
pub(super) fn part(names: &mut Names, l: &Loop, range: Range, end: End) -> Result<Tree, Error> {
    part_as(Role::Peeled, names, l, range, end)
}

/// As [`part`], with another role.
pub(super) fn part_as(
    role: Role,
    names: &mut Names,
    l: &Loop,
    range: Range,
    end: End,
) -> Result<Tree, Error> {
    let suffix = match end {
        End::Front => "f",
        End::Back | End::Rest => "b",
    };
    let name = names.derive(&l.name, suffix)?;
    Ok(names.part(l, role, name, range))
}

/// The two parts of a range, without a part that may be empty. `None` if a part's bounds are not
/// affine.
fn split(
    range: &Range,
    (count, missing): (i64, i64),
    end: End,
) -> Option<(Option<Range>, Option<Range>)> {
    if let Some((lower, extent)) = bounds::extent(range) {
        let first = match end {
            End::Front => count.min(extent),
            End::Back => (extent - count).max(0),
            End::Rest => ((extent + missing) / count * count).min(extent),
        };
        let part = |start: i64, extent: i64| {
            let lower = lower.plus_constant(start);
            (extent > 0).then(|| Range::of_extent(&lower, extent))
        };
        return Some((part(0, first), part(first, extent - first)));
    }
    let moved = |bounds: &[Affine], by: i64| -> Vec<Affine> {
        bounds.iter().map(|b| b.plus_constant(by)).collect()
    };
    let (mut first, mut second) = (range.clone(), range.clone());
    if end == End::Rest {
        let (lower, extent) = sized_extent(range, count)?;
        let blocks = extent.plus_constant(missing).quotient_of_sizes(count)?;
        let whole = lower.plus(&blocks.times(count));
        first.upper.insert(0, whole.clone());
        if missing == 0 {
            first.upper.truncate(1);
        }
        second.lower = from_whole(&whole, lower);
        return Some((
            Some(first),
            Some(second).filter(|_| extent.divided(count).is_none()),
        ));
    }
    match (end, range.lower.as_slice(), range.upper.as_slice()) {
        (End::Front, [lower], _) => {
            first.upper.push(lower.plus_constant(count));
            second.lower = moved(&range.lower, count);
        }
        (End::Back, _, [upper]) => {
            first.upper = moved(&range.upper, -count);
            second.lower.push(upper.plus_constant(-count));
        }
        _ => return None,
    }
    Some((Some(first), Some(second)))
}
