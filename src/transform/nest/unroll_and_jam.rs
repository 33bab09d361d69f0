//! `unroll_and_jam` runs several iterations of a loop side by side in its innermost loops.
//!
//! ```rhai
//! let A = tensor([7, 5]);
//! let x = tensor([5]);
//! let y = eq(vsum(vmul(A, x, [[i, j], [j]]), [j]), [i]);
//! print(build(y).unroll_and_jam("i", 3));
//! ```
//!
//! ```text
//! f64 y[7], A[7][5], x[5]
//! fill y[0..7] = 0
//! for i_o in 0..2
//!   for j in 0..5
//!     y[3*i_o] += A[3*i_o][j] * x[j]
//!     y[3*i_o + 1] += A[3*i_o + 1][j] * x[j]
//!     y[3*i_o + 2] += A[3*i_o + 2][j] * x[j]
//! for i_r in 6..7
//!   for j_2 in 0..5
//!     y[i_r] += A[i_r][j_2] * x[j_2]
//! ```
//!
//! The loop is stripmined with the tail `"cut"`. The loop within blocks is unrolled, and the copies
//! of each loop and each statement inside are brought together.
//!
//! Legal when the iterations of a block may be interleaved in any way that keeps the order within
//! each. `check` proves it.
//!
//! Refuses: factors below 1; steps other than 1; a trip count whose remainder depends on outer
//! loops; inner loops whose bounds depend on this one; results that are too large; new names that
//! are in use.
//!
//! Source: Callahan, Cocke and Kennedy, Estimating Interlock and Improving Balance for Pipelined
//! Architectures, 1988; in TeML unroll (eq. 25) and fuse_inner (eq. 23).

use super::resolve::{chain, find};
use super::skew::skews;
use super::stripmine::cut;
use super::unroll::{UNROLL, copied_local, declared};
use crate::analysis::bounds;
use crate::analysis::position::{self, splice};
use crate::analysis::verify::{Invalid, MAX_TREES};
use crate::args::{LOOP, NEST};
use crate::ir::{Affine, Arg, Loop, Name, Nest, Tree};
use crate::op::Alternatives;
use crate::refusals::bounds_depend;
use crate::{Error, LoopRef, Op, Param, Returns, Value};

const FACTOR: Param<i64> = Param::new("factor");

/// `unroll_and_jam(nest, loop, factor)`.
pub static UNROLL_AND_JAM: Op = Op {
    name: "unroll_and_jam",
    params: &[NEST.any(), LOOP.any(), FACTOR.any()],
    returns: Returns::Nest,
    file: include_str!("unroll_and_jam.rs"),
    call: |args| {
        unroll_and_jam(args.get(&NEST)?, args.get(&LOOP)?, args.get(&FACTOR)?).map(Value::Nest)
    },
};

/// Dependences may allow it after a skew, and the loop can be unrolled as it is.
pub fn alternatives(nest: &Nest, args: &[Arg]) -> Alternatives {
    Alternatives {
        first: skews(nest),
        instead: Some((&UNROLL, args.to_vec())),
    }
}

/// The nest with `factor` iterations of a loop side by side.
///
/// # Errors
/// As the header says.
pub fn unroll_and_jam(nest: &Nest, reference: &LoopRef, factor: i64) -> Result<Nest, Error> {
    let cut = cut(nest, reference, factor)?;
    let position = find(nest, reference, &LOOP)?;
    let unrolled = &chain(nest, &position)[position.len() - 1].name;
    // With fewer iterations than the factor, the remainder is the whole loop.
    let Ok(position) = position::named(&cut, unrolled.derived("i").as_str()) else {
        return Ok(cut);
    };
    let l = chain(&cut, &position)[position.len() - 1];
    let size: usize = l.body.iter().map(Tree::size).sum();
    let trees = size
        .max(1)
        .saturating_mul(usize::try_from(factor).unwrap_or(usize::MAX));
    if trees > MAX_TREES {
        return Err(Error::from(Invalid::TooLarge { trees }).on(nest, [unrolled.clone()]));
    }
    let first = bounds::extent(&l.range).map_or(Affine::constant(0), |(lower, _)| lower);
    let values: Vec<Affine> = (0..factor).map(|k| first.plus_constant(k)).collect();
    match jam(&l.body, &l.name, &values, &declared(&l.body)) {
        Ok(body) => Ok(cut.with_trees(splice(cut.trees(), &position, body))),
        Err(inner) => Err(bounds_depend(nest, &inner, unrolled)),
    }
}

/// Repeats each statement and fill for all values of `iterator`. The error is a loop whose bounds
/// depend on it.
fn jam(
    trees: &[Tree],
    iterator: &Name,
    values: &[Affine],
    locals: &[&Name],
) -> Result<Vec<Tree>, Name> {
    let mut jammed = Vec::new();
    for tree in trees {
        match tree {
            Tree::Loop(l) if l.range.mentions(iterator) => return Err(l.name.clone()),
            Tree::Loop(l) => jammed.push(Tree::of_loop(Loop {
                body: jam(&l.body, iterator, values, locals)?,
                ..(**l).clone()
            })),
            Tree::Stmt(_) | Tree::Fill(_) | Tree::Local(_) => {
                jammed.extend(values.iter().enumerate().map(|(copy, value)| {
                    let tree = tree.substitute(&|name| (name == iterator).then(|| value.clone()));
                    tree.rename_tensors(&|name| copied_local(locals, name, copy, values.len()))
                }))
            }
        }
    }
    Ok(jammed)
}
