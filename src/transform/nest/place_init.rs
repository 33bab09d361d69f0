//! `place_init` chooses where a reduction is initialized: at the start of a loop, or before all
//! loops.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let x = tensor([5]);
//! let y = eq(vsum(vmul(A, x, [[i, j], [j]]), [j]), [i]);
//! print(build(y).place_init("i"));
//! ```
//!
//! ```text
//! f64 y[4], A[4][5], x[5]
//! for i in 0..4
//!   fill y[i..+1] = 0
//!   for j in 0..5
//!     y[i] += A[i][j] * x[j]
//! ```
//!
//! The fill moves to the start of the loop's body, and sets there what one iteration of the loop
//! uses. Level 0 means no loop: the fill comes first in the nest. If several tensors are
//! initialized, the third argument selects one: `place_init("i", y)`.
//!
//! If the last iterations use less, as in a smaller last tile, a loop sets exactly the elements
//! that they use:
//!
//! ```rhai
//! let A = tensor([4, 25]);
//! let x = tensor([4]);
//! let y = eq(vsum(vmul(A, x, [[k, j], [k]]), [k]), [j]);
//! print(build(y).tile(["j", "k"], [20, 2]).place_init("j_o"));
//! ```
//!
//! ```text
//! f64 y[25], A[4][25], x[4]
//! for j_o in 0..2
//!   for y_init_1 in 20*j_o..min(20*j_o + 20, 25)
//!     fill y[y_init_1..+1] = 0
//!   for k_o in 0..2
//!     for j_i in 20*j_o..min(20*j_o + 20, 25)
//!       for k_i in 2*k_o..2*k_o + 2
//!         y[j_i] += A[k_i][j_i] * x[k_i]
//! ```
//!
//! If several loops use a part each, as after `peel`, list them; each initializes its part:
//!
//! ```rhai
//! let A = tensor([5, 4]);
//! let x = tensor([4]);
//! let y = eq(vsum(vmul(A, x, [[i, j], [j]]), [j]), [i]);
//! print(build(y).peel("i", 1, "back").place_init(["i", "i_b"]));
//! ```
//!
//! ```text
//! f64 y[5], A[5][4], x[4]
//! for i in 0..4
//!   fill y[i..+1] = 0
//!   for j in 0..4
//!     y[i] += A[i][j] * x[j]
//! for i_b in 4..5
//!   fill y[i_b..+1] = 0
//!   for j_2 in 0..4
//!     y[i_b] += A[i_b][j_2] * x[j_2]
//! ```
//!
//! Legal when the loop sets every element exactly once, which is checked: the same elements are set
//! before and after. The boxes that several loops set must be disjoint and cover all of it. Where
//! sizes decide these boxes, the proof of the nest compares them.
//!
//! Within the loops that are around it already, the fill moves to the front with all of its
//! elements, used or not.
//!
//! Refuses: a tensor that is not initialized at exactly one place; uses before the loop or the
//! fill; iterations, or loops, that share elements, as iterations of the reduction's own loops do;
//! iterations that use less than a box anywhere but at the end of a loop, as in a triangle.
//!
//! Source: TeML §4.2.3 for the initialization; TVM moves it with `decompose_reduction`.

use super::fills::{
    Opening, filled_twice, no_box, only_fill, repeats, sweep, used_before, used_box,
};
use super::parts::Names;
use super::place_inits::place_inits;
use super::resolve::{body_of, chain, find_scope, with_body_of};
use crate::analysis::footprint::{AccessKind, Use, uses};
use crate::analysis::outside;
use crate::analysis::position::{self, splice};
use crate::args::{LoopOrLoops, NEST, TensorName};
use crate::ir::{Loop, Nest, Tree};
use crate::{Error, LoopRef, Op, Param, Returns, Value, refusal};
use std::sync::Arc;

const LOOP: Param<LoopOrLoops> = Param::new("loop");
const TENSOR: Param<Option<TensorName>> = Param::new("tensor");

/// `place_init(nest, loop, tensor?)`.
pub static PLACE_INIT: Op = Op {
    name: "place_init",
    params: &[NEST.any(), LOOP.any(), TENSOR.any()],
    returns: Returns::Nest,
    file: include_str!("place_init.rs"),
    call: |args| {
        let (nest, tensor) = (args.get(&NEST)?, args.get(&TENSOR)?);
        match args.get(&LOOP)? {
            [] => Ok(nest.clone()),
            [one] => place_init(nest, one, tensor).or_else(|refused| {
                // Where sizes decide what the loop sets, the proof of the nest decides.
                let one = std::slice::from_ref(one);
                let has_sizes = !nest.sizes().is_empty();
                let placed = has_sizes.then(|| place_inits(nest, one, tensor).ok());
                placed.flatten().ok_or(refused)
            }),
            several => place_inits(nest, several, tensor),
        }
        .map(Value::Nest)
    },
};

/// Moves the initialization of `tensor` to the front of a loop. Without `tensor`, the nest has only
/// one.
///
/// # Errors
/// As the header says.
pub fn place_init(nest: &Nest, reference: &LoopRef, tensor: Option<&str>) -> Result<Nest, Error> {
    let goal = find_scope(nest, reference, &LOOP)?;
    let loops = chain(nest, &goal);
    let name = loops.last().map(|l| l.name.clone());
    let (from, fill) = &only_fill(nest, tensor)?;
    let label = fill.target.label();
    let around = chain(nest, &from[..from.len() - 1]);
    let mut uses = uses(nest, fill.target.label());
    uses.retain(|u| u.access != AccessKind::Fill);
    if uses.iter().any(|u| u.position < *from) {
        return Err(used_before(fill).on(nest, []));
    }
    // Within the same loops the fill sets the same elements, used or not.
    if from[..from.len() - 1] == goal[..] {
        if from.last() == Some(&0) {
            return Ok(nest.clone());
        }
        let rest = nest.with_trees(splice(nest.trees(), from, Vec::new()));
        return Ok(first_in(&rest, &goal, Tree::Fill(Arc::clone(fill))));
    }
    // The loops around both places stay as they are.
    let common = around
        .iter()
        .zip(&loops)
        .take_while(|(a, b)| a.name == b.name);
    let common = common.count();
    // A use after all iterations of the fill's new loops finds every element set.
    let entered = goal.get(..=common);
    let is_after = |u: &Use| {
        entered.is_some_and(|entered| !u.position.starts_with(entered) && *u.position > *entered)
    };
    for (place, l, later) in [
        (&from[..from.len() - 1], around.last(), false),
        (&goal[..], loops.last(), true),
    ] {
        let culprit = l.map(|l| l.name.clone());
        let is_there = |u: &Use| u.position.starts_with(place) || (later && is_after(u));
        if !uses.iter().all(is_there) {
            let error = match &culprit {
                Some(name) => refusal(format!("{label} is used outside of `{name}`")),
                None => used_before(fill),
            };
            return Err(error.on(nest, culprit));
        }
    }
    let no_box = |l: Option<&&Arc<Loop>>| {
        let place = l.map_or("the nest".to_owned(), |l| format!("`{}`", l.name));
        no_box(fill, &place).on(nest, name.clone())
    };
    let inside: Vec<Use> = uses
        .iter()
        .filter(|u| u.position.starts_with(&goal))
        .cloned()
        .collect();
    used_box(nest, &inside, &loops).ok_or_else(|| no_box(loops.last()))?;
    let here = used_box(nest, &uses, &around).ok_or_else(|| no_box(around.last()))?;
    let before = sweep(nest, fill, &around, common);
    let are_run = loops[common..].iter().all(|l| !l.range.is_never_entered());
    if here != fill.region || before.is_none() || !are_run {
        return Err(no_box(loops.last()));
    }
    let sets_the_same = |opening: &Opening| {
        let loops = opening.around(&loops);
        let around_it = nest.context().iter().chain(loops.iter().map(|l| &***l));
        let leaves = outside::leaves(&opening.fill, &around_it.collect::<Vec<_>>());
        !leaves && sweep(nest, &opening.fill, &loops, common) == before
    };
    let opening = Opening::whole(nest, fill, &inside, &loops).filter(sets_the_same);
    let mut names = Names::of(nest);
    let exact = || Opening::exact((nest, &mut names), fill, &inside, &loops).filter(sets_the_same);
    let opening = opening.or_else(exact).ok_or_else(|| no_box(loops.last()))?;
    let inner = opening.around(&loops);
    for (fill, loops) in [(fill.as_ref(), &around), (&opening.fill, &inner)] {
        if let Some(name) = repeats(nest, fill, &loops[common..], &loops[..common]) {
            return Err(filled_twice(fill, &name).on(nest, [name]));
        }
    }

    let rest = nest.with_trees(splice(nest.trees(), from, Vec::new()));
    // Trees before the loop may have been dropped.
    let goal = match name {
        Some(name) => position::named(&rest, name.as_str()).map_err(Error::from)?,
        None => goal,
    };
    Ok(first_in(&rest, &goal, opening.tree()))
}

/// Puts a tree at the front of a loop, or of the nest.
fn first_in(nest: &Nest, scope: &[usize], tree: Tree) -> Nest {
    let body = body_of(nest, scope).iter().cloned();
    with_body_of(nest, scope, [tree].into_iter().chain(body).collect())
}
