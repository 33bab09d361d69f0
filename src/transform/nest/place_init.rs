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
//! Legal when the loop sets every element exactly once, which is checked: the same box is set
//! before and after. The boxes that several loops set must be disjoint and cover all of it.
//!
//! Refuses: a tensor that is not initialized at exactly one place; uses before the loop or the
//! fill; iterations, or loops, that share elements, as iterations of the reduction's own loops do;
//! iterations whose footprint is not a box of constant size, as in the last block of a guarded
//! loop.
//!
//! Source: TeML §4.2.3 for the initialization; TVM moves it with `decompose_reduction`.

use super::place_inits::place_inits;
use super::resolve::{body_of, chain, find_scope, tensor_name, with_body_of};
use crate::analysis::bounds::Bounds;
use crate::analysis::footprint::{Access, Use, footprint, uses};
use crate::analysis::outside;
use crate::analysis::position::{self, Position, splice};
use crate::analysis::relative::{Inner, Relative, offset_form, relative};
use crate::ir::{Affine, Fill, Loop, Name, Nest, Tree};
use crate::legality::race::race;
use crate::transform::{Arg, Error, ErrorKind, Kind, LoopRef, Op, Param, Returns, Value};
use std::sync::Arc;

/// `place_init(nest, loop, tensor?)`.
pub static PLACE_INIT: Op = Op {
    name: "place_init",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("loop", Kind::LoopOrLoops),
        Param::optional("tensor", Kind::Tensor),
    ],
    returns: Returns::Nest,
    file: include_str!("place_init.rs"),
    call: |args| match args {
        [Arg::Nest(nest), Arg::Loop(l)] => place_init(nest, l, None).map(Value::Nest),
        [Arg::Nest(nest), Arg::Loop(l), tensor] => {
            place_init(nest, l, Some(tensor_name(tensor, 2)?)).map(Value::Nest)
        }
        [Arg::Nest(nest), Arg::Loops(list)] => place_inits(nest, list, None).map(Value::Nest),
        [Arg::Nest(nest), Arg::Loops(list), tensor] => {
            place_inits(nest, list, Some(tensor_name(tensor, 2)?)).map(Value::Nest)
        }
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// Why an initialization stays where it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoInit {
    /// There is no fill, or there are several.
    #[error("{}", match .found.as_slice() {
        [] => "nothing is initialized here".to_owned(),
        _ => format!("there are several initializations: {}", .found.join("; ")),
    })]
    NotOne {
        /// The fills.
        found: Vec<String>,
    },
    /// The tensor is used where the fill would not be, or not yet.
    #[error("{tensor} is used {}", match .name {
        Some(name) => format!("outside of `{name}`"),
        None => "before it is initialized".to_owned(),
    })]
    UsedElsewhere {
        /// The tensor.
        tensor: String,
        /// The loop that does not hold all uses.
        name: Option<Name>,
    },
    /// Several iterations would set one element.
    #[error("iterations of `{name}` share elements of {tensor}, which are initialized once")]
    Repeats {
        /// The tensor.
        tensor: String,
        /// The loop.
        name: Name,
    },
    /// What is used, or what would be set in all, is not the box that it has to be.
    #[error("what {place} uses of {tensor} is not a box of constant size within `{fill}`")]
    NoBox {
        /// The tensor.
        tensor: String,
        /// The loop as a text.
        place: String,
        /// The fill.
        fill: String,
    },
}

/// The nest with the initialization of `tensor`, or of the only one that has one, first in a loop.
///
/// # Errors
/// As the header says.
pub fn place_init(nest: &Nest, reference: &LoopRef, tensor: Option<&str>) -> Result<Nest, Error> {
    let goal = find_scope(nest, reference, 1)?;
    let loops = chain(nest, &goal);
    let name = loops.last().map(|l| l.name.clone());
    let refuse = |kind: NoInit, culprits: Vec<Name>| Err(Error::from(kind).on(nest, culprits));

    let fills = fills(nest, tensor);
    let [(from, fill)] = fills.as_slice() else {
        let found = fills.iter().map(|(_, f)| f.to_string()).collect();
        let error = Error::from(NoInit::NotOne { found });
        return Err(error.on(nest, []));
    };
    let label = || fill.target.label().to_owned();
    let around = chain(nest, &from[..from.len() - 1]);
    let mut uses = uses(nest, fill.target.label());
    uses.retain(|u| u.access != Access::Fill);
    if uses.iter().any(|u| u.position < *from) {
        let (tensor, name) = (label(), None);
        return refuse(NoInit::UsedElsewhere { tensor, name }, vec![]);
    }
    // Where both places have loops around them in common, nothing changes.
    let common = around
        .iter()
        .zip(&loops)
        .take_while(|(a, b)| a.name == b.name);
    let common = common.count();
    // What comes after all iterations that the fill is moved into finds everything set.
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
            let (tensor, name) = (label(), culprit.clone());
            return refuse(
                NoInit::UsedElsewhere { tensor, name },
                culprit.into_iter().collect(),
            );
        }
    }
    let no_box = |l: Option<&&Arc<Loop>>| {
        let place = l.map_or("the nest".to_owned(), |l| format!("`{}`", l.name));
        let (tensor, fill) = (label(), fill.to_string());
        let kind = NoInit::NoBox {
            tensor,
            place,
            fill,
        };
        Error::from(kind).on(nest, name.clone())
    };
    let inside: Vec<Use> = uses
        .iter()
        .filter(|u| u.position.starts_with(&goal))
        .cloned()
        .collect();
    let region = used_box(nest, &inside, &loops).ok_or_else(|| no_box(loops.last()))?;
    let here = used_box(nest, &uses, &around).ok_or_else(|| no_box(around.last()))?;
    let placed = Fill {
        region,
        ..Fill::clone(fill)
    };
    let (before, after) = (
        sweep(nest, fill, &around, common),
        sweep(nest, &placed, &loops, common),
    );
    let are_run = loops[common..].iter().all(|l| !l.range.is_never_entered());
    let around_it = nest.context().iter().chain(loops.iter().map(|l| &***l));
    let leaves = outside::leaves(&placed, &around_it.collect::<Vec<_>>());
    if here != fill.region || before.is_none() || before != after || !are_run || leaves {
        return Err(no_box(loops.last()));
    }
    for (fill, loops) in [(fill.as_ref(), &around), (&placed, &loops)] {
        if let Some(name) = repeats(nest, fill, &loops[common..], &loops[..common]) {
            let (tensor, culprits) = (label(), vec![name.clone()]);
            return refuse(NoInit::Repeats { tensor, name }, culprits);
        }
    }

    let fill = Tree::Fill(Arc::new(placed));
    let rest = nest.with_trees(splice(nest.trees(), from, Vec::new()));
    // What stands before the loop may be gone.
    let goal = match name {
        Some(name) => position::named(&rest, name.as_str()).map_err(Error::from)?,
        None => goal,
    };
    let body = body_of(&rest, &goal).iter().cloned();
    Ok(with_body_of(
        &rest,
        &goal,
        [fill].into_iter().chain(body).collect(),
    ))
}

/// The fills of `tensor`, or all, with their positions.
pub(super) fn fills<'a>(nest: &'a Nest, tensor: Option<&str>) -> Vec<(Position, &'a Arc<Fill>)> {
    let mut found = Vec::new();
    position::walk(nest.trees(), &mut |position, _, tree| {
        if let Tree::Fill(fill) = tree
            && tensor.is_none_or(|name| fill.target.label() == name)
        {
            found.push((position.to_vec(), fill));
        }
    });
    found
}

/// The box of elements that one iteration of the last of `outer` uses, in terms of their
/// iterators.
pub(super) fn used_box(
    nest: &Nest,
    uses: &[Use],
    outer: &[&Arc<Loop>],
) -> Option<Vec<(Affine, u64)>> {
    let sides = footprint(nest, uses, outer.len())?;
    Some(sides.into_iter().map(|s| (s.low, s.extent)).collect())
}

/// The iterators of the loops from number `from` on.
fn inner(nest: &Nest, loops: &[&Arc<Loop>], from: usize) -> Vec<Inner> {
    let mut bounds = Bounds::around(nest, []);
    let mut inner = Vec::new();
    for (k, l) in loops.iter().enumerate() {
        if k >= from {
            inner.push(Inner::new(l, &inner, &bounds));
        }
        bounds.enter(l);
    }
    inner
}

/// The box that a fill sets in all iterations of the loops from number `from` on, if it sets
/// one without holes.
pub(super) fn sweep(
    nest: &Nest,
    fill: &Fill,
    loops: &[&Arc<Loop>],
    from: usize,
) -> Option<Vec<(Affine, i64)>> {
    let inner = inner(nest, loops, from);
    let swept = fill.region.iter().map(|(low, extent)| {
        check_dense(nest, (low, *extent), loops, from)?;
        let Relative { base, low, high } = relative(low, &inner);
        let extent = high.checked_sub(low)?.checked_add_unsigned(*extent)?;
        Some((base.plus_constant(low), extent))
    });
    swept.collect()
}

/// That the iterations of loops leave no holes between `extent` values from `low` on.
fn check_dense(
    nest: &Nest,
    (low, extent): (&Affine, u64),
    loops: &[&Arc<Loop>],
    from: usize,
) -> Option<()> {
    let (mut low, mut extent) = (low.clone(), i64::try_from(extent).ok()?);
    for (k, l) in loops.iter().enumerate().skip(from).rev() {
        let c = low.coefficient(&l.name).saturating_abs();
        if c == 0 {
            continue;
        }
        if c.saturating_mul(l.range.step) > extent {
            return None;
        }
        let around = Bounds::around(nest, loops[..k].iter().map(|l| &***l));
        let (lower, rest) = offset_form(l, &around)?;
        low = low.substitute(&|name| (*name == l.name).then(|| lower.clone()));
        extent = extent.saturating_add(c.saturating_mul(rest));
    }
    Some(())
}

/// The loop of `loops`, which are inside of `outer`, whose iterations fill one element twice.
pub(super) fn repeats(
    nest: &Nest,
    fill: &Fill,
    loops: &[&Arc<Loop>],
    outer: &[&Arc<Loop>],
) -> Option<Name> {
    let mut tree = Tree::Fill(Arc::new(fill.clone()));
    let marked = loops.iter().map(|l| (l, true));
    for (l, parallel) in outer.iter().map(|l| (l, false)).chain(marked).rev() {
        tree = Tree::of_loop(Loop {
            parallel,
            vector: false,
            lanes: None,
            body: vec![tree],
            ..(***l).clone()
        });
    }
    race(&nest.with_trees(vec![tree])).map(|race| race.name)
}
