//! `split_at` splits a loop at an index: the iterations before it, and those from there on.
//!
//! ```rhai
//! let p = nest(`
//!   f64 A[30][30]
//!   for k in 0..24
//!     for i in k + 1..30
//!       A[i][k] /= A[k][k]
//! `);
//! print(p.stripmine("k", 8).split_at("i", "8*k_o + 8"));
//! ```
//!
//! ```text
//! f64 A[30][30]
//! for k_o in 0..3
//!   for k_i in 8*k_o..8*k_o + 8
//!     for i in k_i + 1..8*k_o + 8
//!       A[i][k_i] /= A[k_i][k_i]
//!     for i_b in 8*k_o + 8..30
//!       A[i_b][k_i] /= A[k_i][k_i]
//! ```
//!
//! The index is a text, affine in the loops around. The iterations from it on become a loop `i_b`,
//! and the loops inside are copied there under the first free numbers. Bounds that others imply are
//! left out, and so is a part that has no iterations.
//!
//! Always legal: iterations keep their order.
//!
//! Refuses: a text that is not an index expression; iterators that are not around the loop; steps
//! other than 1; new names that are in use.
//!
//! Source: index-set splitting, Griebl, Feautrier and Lengauer, Index Set Splitting, 2000.

use super::parts::Names;
use super::peel::{End, part_as};
use super::resolve::{chain, check_step, find};
use crate::analysis::facts::is_nonnegative;
use crate::analysis::position::splice;
use crate::args::{LOOP, NEST, Place};
use crate::ir::{Affine, Loop, Name, Nest, Range, Role, Tree};
use crate::{Error, LoopRef, Op, Param, Returns, Value, mistake};

const INDEX: Param<Place> = Param::new("index");

/// `split_at(nest, loop, index)`.
pub static SPLIT_AT: Op = Op {
    name: "split_at",
    params: &[NEST.any(), LOOP.any(), INDEX.any()],
    returns: Returns::Nest,
    file: include_str!("split_at.rs"),
    call: |args| split_at(args.get(&NEST)?, args.get(&LOOP)?, &args.get(&INDEX)?).map(Value::Nest),
};

/// The nest with a loop split at an index.
///
/// # Errors
/// As the header says.
pub fn split_at(nest: &Nest, reference: &LoopRef, at: &Affine) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let loops = chain(nest, &position);
    let l = loops[position.len() - 1];
    check_step(nest, l)?;
    let around = loops[..position.len() - 1].iter().map(|l| &***l);
    let around: Vec<&Loop> = nest.context().iter().chain(around).collect();
    let is_around = |name: &Name| around.iter().any(|l| l.name == *name);
    if let Some((name, _)) = at.terms().iter().find(|(name, _)| !is_around(name)) {
        let outer: Vec<String> = around.iter().map(|l| format!("`{}`", l.name)).collect();
        let text = format!(
            "`{at}` uses `{name}`, and no loop around `{}` has this name",
            l.name
        );
        let error = mistake(text).at(&INDEX).on(nest, [l.name.clone()]);
        return Err(error.help(if outer.is_empty() {
            "an outermost loop is split at a number".to_owned()
        } else {
            format!("the index is affine in {}", outer.join(", "))
        }));
    }
    let no_less = |a: &Affine, b: &Affine| is_nonnegative(&a.minus(b), &around);
    let Range { lower, upper, .. } = &l.range;
    let mut trees = Vec::new();
    if !lower.iter().any(|b| no_less(b, at)) {
        let range = Range {
            upper: tightened(upper, at, &|a, b| no_less(b, a)),
            ..l.range.clone()
        };
        let l = (**l).clone();
        trees.push(Tree::of_loop(Loop { range, ..l }));
    }
    if !upper.iter().any(|b| no_less(at, b)) {
        let range = Range {
            lower: tightened(lower, at, &no_less),
            ..l.range.clone()
        };
        // If only one part has iterations, it keeps the loop's name.
        trees.push(if trees.is_empty() {
            Tree::of_loop(Loop {
                range,
                ..(**l).clone()
            })
        } else {
            part_as(Role::Tail, &mut Names::of(nest), l, range, End::Back)?
        });
    }
    Ok(nest.with_trees(splice(nest.trees(), &position, trees)))
}

/// Adds a bound unless others imply it, and drops the bounds that it implies.
fn tightened(
    bounds: &[Affine],
    with: &Affine,
    is_tighter: &dyn Fn(&Affine, &Affine) -> bool,
) -> Vec<Affine> {
    if bounds.iter().any(|b| is_tighter(b, with)) {
        return bounds.to_vec();
    }
    let others = bounds.iter().filter(|b| !is_tighter(with, b)).cloned();
    others.chain([with.clone()]).collect()
}
