//! Initializations in several loops that each use a part of the tensor: `place_init` with a list.
//! Where sizes decide which elements these are, the proof of the nest compares them.

use super::fills::{
    Opening, filled_twice, no_box, only_fill, repeats, sweep, used_before, used_box,
};
use super::parts::Names;
use super::resolve::{body_of, chain, find, with_body_of};
use crate::analysis::footprint::{AccessKind, Use, uses};
use crate::analysis::outside;
use crate::analysis::position::{self, Position, splice};
use crate::args::LOOP;
use crate::ir::{Affine, Fill, Name, Nest};
use crate::{Error, LoopRef};

/// Moves the initialization of `tensor` to the front of each of several loops. Without `tensor`,
/// the nest has only one.
///
/// # Errors
/// As the header says.
pub fn place_inits(
    nest: &Nest,
    references: &[LoopRef],
    tensor: Option<&str>,
) -> Result<Nest, Error> {
    let (from, fill) = &only_fill(nest, tensor)?;
    let goals = references
        .iter()
        .map(|reference| find(nest, reference, &LOOP));
    let goals = goals.collect::<Result<Vec<Position>, Error>>()?;
    let around = &from[..from.len() - 1];
    let mut uses = uses(nest, fill.target.label());
    uses.retain(|u| u.access != AccessKind::Fill);
    let elsewhere = || used_before(fill).on(nest, []);
    if !uses
        .iter()
        .all(|u| u.position > *from && u.position.starts_with(around))
    {
        return Err(elsewhere());
    }

    let mut names = Names::of(nest);
    let is_sized = fill.region.iter().any(|(_, e)| e.as_constant().is_none());
    let mut boxes: Vec<Vec<(i64, i64)>> = Vec::new();
    let mut placed = Vec::new();
    for goal in &goals {
        let loops = chain(nest, goal);
        let name = &loops[goal.len() - 1].name;
        let no_box = || no_box(fill, &format!("`{name}`")).on(nest, [name.clone()]);
        let common = around.len();
        if loops.len() <= common || !goal.starts_with(around) {
            return Err(no_box());
        }
        let inside: Vec<Use> = uses
            .iter()
            .filter(|u| u.position.starts_with(goal))
            .cloned()
            .collect();
        let set_by = |part: &Opening| {
            let set = sweep(nest, &part.fill, &part.around(&loops), common);
            set.and_then(|set| within(&set, fill))
        };
        let whole = || Opening::whole(nest, fill, &inside, &loops);
        let mut exact = || Opening::exact((nest, &mut names), fill, &inside, &loops);
        // The most elements of a box may be far beyond its tensor.
        let is_inside = |part: &Opening| {
            let around = part.around(&loops);
            let around = nest.context().iter().chain(around.iter().map(|l| &***l));
            !outside::leaves(&part.fill, &around.collect::<Vec<_>>())
        };
        let part = match is_sized {
            true => exact().or_else(|| whole().filter(is_inside)),
            false => whole().filter(|p| set_by(p).is_some()).or_else(exact),
        };
        let part = part.ok_or_else(no_box)?;
        let inner = part.around(&loops);
        let is_repeated = repeats(nest, &part.fill, &inner[common..], &inner[..common]).is_some();
        let mut is_shared = is_repeated;
        if !is_sized {
            let set = set_by(&part).ok_or_else(no_box)?;
            is_shared |= boxes.iter().any(|other| meet(other, &set));
            boxes.push(set);
        }
        if is_shared {
            return Err(filled_twice(fill, name).on(nest, [name.clone()]));
        }
        placed.push((name.clone(), part));
    }
    // A use outside of the loops comes after the loops that set its elements.
    let is_after = |u: &Use, goal: &Position| {
        let entered = goal.get(..=around.len());
        entered.is_some_and(|e| !u.position.starts_with(e) && *u.position > *e)
    };
    let is_set_in_the_same_iteration = |u: &Use, goal: &Position, part: &Opening| {
        let steps = u.position.iter().zip(goal);
        let shared = steps.take_while(|(a, b)| a == b).count();
        let loops = chain(nest, goal);
        let used = used_box(nest, std::slice::from_ref(u), &loops[..shared]);
        let set = sweep(nest, &part.fill, &part.around(&loops), shared);
        let contains = |((low, extent), (from, count)): (&(Affine, Affine), &(Affine, Affine))| {
            let before = from.minus(low);
            let behind = extent.minus(&before).minus(count);
            let is_less = |a: Affine| a.as_constant().is_none_or(|number| number < 0);
            !is_less(before) && !is_less(behind)
        };
        let boxes = set.zip(used);
        u.position > *goal && boxes.is_some_and(|(set, used)| set.iter().zip(&used).all(contains))
    };
    for u in &uses {
        let mut parts = goals.iter().zip(&placed);
        if goals.iter().any(|goal| u.position.starts_with(goal))
            || parts.any(|(goal, (_, part))| is_set_in_the_same_iteration(u, goal, part))
        {
            continue;
        }
        if is_sized && goals.iter().all(|goal| is_after(u, goal)) {
            continue;
        }
        let used = used_box(nest, std::slice::from_ref(u), &chain(nest, around));
        let used = used.and_then(|used| within(&used, fill));
        let used = used.ok_or_else(elsewhere)?;
        let mut set = goals.iter().zip(&boxes);
        if !set.all(|(goal, set)| !meet(&used, set) || is_after(u, goal)) {
            return Err(elsewhere());
        }
    }
    let count = |set: &Vec<(i64, i64)>| -> i128 {
        let extents = set.iter().map(|(_, extent)| i128::from(*extent));
        extents.fold(1, i128::saturating_mul)
    };
    let all = fill
        .region
        .iter()
        .map(|(_, extent)| extent.as_constant().map(i128::from));
    let all = all.collect::<Option<Vec<i128>>>();
    let all = all.map(|all| all.into_iter().fold(1, i128::saturating_mul));
    if all.is_some_and(|all| boxes.iter().map(count).sum::<i128>() != all) {
        let names: Vec<Name> = placed.iter().map(|(name, _)| name.clone()).collect();
        let texts: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        return Err(no_box(fill, &texts.join(", ")).on(nest, names));
    }

    let mut nest = nest.with_trees(splice(nest.trees(), from, Vec::new()));
    for (name, part) in placed {
        let goal = position::named(&nest, name.as_str()).map_err(Error::from)?;
        let body = body_of(&nest, &goal).iter().cloned();
        let body = [part.tree()].into_iter().chain(body);
        nest = with_body_of(&nest, &goal, body.collect());
    }
    Ok(nest)
}

/// A box relative to the first element that a fill sets; `None` if it is not within the fill.
fn within(set: &[(Affine, Affine)], fill: &Fill) -> Option<Vec<(i64, i64)>> {
    let sides = set.iter().zip(&fill.region);
    let sides = sides.map(|((low, extent), (from, most))| {
        let low = low.minus(from).as_constant().filter(|low| *low >= 0)?;
        let (extent, most) = (extent.as_constant()?, most.as_constant()?);
        (low.checked_add(extent)? <= most).then_some((low, extent))
    });
    sides.collect()
}

/// Whether two boxes have elements in common.
fn meet(one: &[(i64, i64)], other: &[(i64, i64)]) -> bool {
    let mut sides = one.iter().zip(other);
    sides.all(|((a, n), (b, m))| *a < b.saturating_add(*m) && *b < a.saturating_add(*n))
}
