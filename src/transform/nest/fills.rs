//! Initializations of a nest: where they are, what they set in loops, and why they stay.

use crate::analysis::bounds::Bounds;
use crate::analysis::footprint::{Use, footprint};
use crate::analysis::position::{self, Position};
use crate::analysis::relative::{Inner, Relative, offset_form, relative};
use crate::ir::{Affine, Fill, Loop, Name, Nest, Tree};
use crate::legality::race::race;
use crate::transform::{Error, refusal};
use std::sync::Arc;

/// A fill with its position.
pub(super) type Placed<'a> = (Position, &'a Arc<Fill>);

/// The only fill of `tensor`, or of all tensors.
pub(super) fn only_fill<'a>(nest: &'a Nest, tensor: Option<&str>) -> Result<Placed<'a>, Error> {
    let mut found = fills(nest, tensor);
    if found.len() == 1
        && let Some(fill) = found.pop()
    {
        return Ok(fill);
    }
    let fills: Vec<String> = found.iter().map(|(_, fill)| fill.to_string()).collect();
    let error = match fills.as_slice() {
        [] => refusal("nothing is initialized here"),
        fills => {
            let fills = fills.join("; ");
            refusal(format!("there are several initializations: {fills}")).help(
                "say which tensor: `place_init(\"i\", y)`; place it before steps that copy its loops",
            )
        }
    };
    Err(error.on(nest, []))
}

/// The tensor is used where it is not initialized yet.
pub(super) fn used_before(fill: &Fill) -> Error {
    refusal(format!(
        "{} is used before it is initialized",
        fill.target.label()
    ))
}

/// What is used, or what would be set in all, is not the box that it has to be.
pub(super) fn no_box(fill: &Fill, place: &str) -> Error {
    let tensor = fill.target.label();
    let text =
        format!("what {place} uses of {tensor} is not a box of constant size within `{fill}`");
    let help = "choose factors that divide the extents, or a loop further in or out";
    refusal(text).help(help)
}

/// Several iterations of a loop would set one element.
pub(super) fn filled_twice(fill: &Fill, name: &Name) -> Error {
    let tensor = fill.target.label();
    refusal(format!(
        "iterations of `{name}` share elements of {tensor}, which are initialized once"
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
