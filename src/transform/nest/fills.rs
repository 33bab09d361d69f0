//! Initializations of a nest: their positions, the elements that they set in loops, and refusals to
//! move them.

use super::parts::Names;
use crate::analysis::bounds::Bounds;
use crate::analysis::facts;
use crate::analysis::footprint::{AccessKind, Side, Use, footprint};
use crate::analysis::position::{self, Position};
use crate::analysis::relative::{Inner, Relative, offset_form, relative};
use crate::ir::{Affine, Fill, Loop, Mode, Name, Nest, Sharing, Tree};
use crate::legality::independence::first_race;
use crate::{Error, refusal};
use std::sync::Arc;

/// A fill with its position.
pub(super) type Placed<'a> = (Position, &'a Arc<Fill>);

/// The only fill of `tensor`, or of the nest if no tensor is given.
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

/// The refusal for a tensor that is used before it is initialized.
pub(super) fn used_before(fill: &Fill) -> Error {
    refusal(format!(
        "{} is used before it is initialized",
        fill.target.label()
    ))
}

/// The refusal for a footprint that is not a box of constant size within the fill.
pub(super) fn no_box(fill: &Fill, place: &str) -> Error {
    let tensor = fill.target.label();
    let text =
        format!("what {place} uses of {tensor} is not a box of constant size within `{fill}`");
    let help = "choose factors that divide the extents, or a loop further in or out";
    refusal(text).help(help)
}

/// The refusal for a loop whose iterations would set the same element.
pub(super) fn filled_twice(fill: &Fill, name: &Name) -> Error {
    let tensor = fill.target.label();
    refusal(format!(
        "iterations of `{name}` share elements of {tensor}, which are initialized once"
    ))
}

/// The fills of `tensor`, or of all tensors, with their positions.
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

/// The box of elements that one iteration of the last loop of `outer` uses, in terms of the loops'
/// iterators.
pub(super) fn used_box(
    nest: &Nest,
    uses: &[Use],
    outer: &[&Arc<Loop>],
) -> Option<Vec<(Affine, Affine)>> {
    let sides = footprint(nest, uses, outer.len())?;
    let side = |side: Side| {
        let count = side.count();
        (side.low, count)
    };
    Some(sides.into_iter().map(side).collect())
}

/// The initialization at the start of a loop's body: a fill, in loops if its box has no constant
/// size.
#[derive(Clone)]
pub(super) struct Opening {
    pub(super) fill: Fill,
    pub(super) loops: Vec<Arc<Loop>>,
}

impl Opening {
    /// Sets a box of constant size that covers the footprint of an iteration of the last loop of
    /// `outer`.
    pub(super) fn whole(
        nest: &Nest,
        fill: &Fill,
        uses: &[Use],
        outer: &[&Arc<Loop>],
    ) -> Option<Opening> {
        let region = used_box(nest, uses, outer)?;
        Some(Opening {
            fill: Fill {
                region,
                ..fill.clone()
            },
            loops: Vec::new(),
        })
    }

    /// Sets exactly that footprint. Dimensions in which the last iterations use less are set
    /// element by element, in a loop with a new name.
    pub(super) fn exact(
        (nest, names): (&Nest, &mut Names),
        fill: &Fill,
        uses: &[Use],
        outer: &[&Arc<Loop>],
    ) -> Option<Opening> {
        if !uses.iter().all(|used| is_product(used, outer.len())) {
            return None;
        }
        let sides = footprint(nest, uses, outer.len())?;
        let init = fill.target.name()?.derived("init");
        let (mut region, mut loops) = (Vec::new(), Vec::new());
        for (d, side) in sides.into_iter().enumerate() {
            if side.offsets.as_constant().is_some() {
                region.push((side.low, Affine::constant(i64::try_from(side.extent).ok()?)));
                continue;
            }
            let name = names.free(&init.derived(d + 1));
            region.push((Affine::iterator(name.clone()), Affine::constant(1)));
            let range = side.offsets.shifted(&side.low);
            loops.push(Arc::new(Loop::serial(name, range, Vec::new())));
        }
        let fill = Fill {
            region,
            ..fill.clone()
        };
        (!loops.is_empty()).then_some(Opening { fill, loops })
    }

    /// The loops around the fill, if `outer` are the loops around the opening.
    pub(super) fn around<'a>(&'a self, outer: &[&'a Arc<Loop>]) -> Vec<&'a Arc<Loop>> {
        outer.iter().copied().chain(&self.loops).collect()
    }

    /// The fill in its loops.
    pub(super) fn tree(&self) -> Tree {
        let fill = Tree::Fill(Arc::new(self.fill.clone()));
        self.loops.iter().rev().fold(fill, |tree, l| {
            Tree::of_loop(Loop {
                body: vec![tree],
                ..(**l).clone()
            })
        })
    }
}

/// Whether the footprint of a use is a product of ranges, one per dimension. The ranges of the
/// use's loops from number `from` on must not depend on other dimensions.
fn is_product(used: &Use, from: usize) -> bool {
    let loops = used.loops.get(from..).unwrap_or_default();
    let mut known: Vec<&Name> = Vec::new();
    used.region.iter().all(|(index, _)| {
        let mut own: Vec<&Name> = Vec::new();
        for l in loops.iter().rev() {
            let is_wanted = index.mentions(&l.name)
                || loops
                    .iter()
                    .any(|k| own.contains(&&k.name) && k.range.mentions(&l.name));
            if is_wanted {
                own.push(&l.name);
            }
        }
        let is_apart = own.iter().all(|name| !known.contains(name));
        known.extend(own);
        is_apart
    })
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

/// The box that a fill sets in all iterations of the loops from number `from` on; `None` if they
/// leave holes.
pub(super) fn sweep(
    nest: &Nest,
    fill: &Fill,
    loops: &[&Arc<Loop>],
    from: usize,
) -> Option<Vec<(Affine, Affine)>> {
    let inner = inner(nest, loops, from);
    let bounds = Bounds::around(nest, loops.iter().map(|l| &***l));
    let mut sides = fill.region.iter();
    let is_dense = sides.all(|(low, extent)| {
        let most = bounds.interval(extent).map(|(_, most)| most);
        most.is_some_and(|most| check_dense(nest, (low, most), loops, from).is_some())
    });
    if !is_dense {
        return None;
    }
    if fill.target.shape().is_sized() {
        let swept = Use {
            position: Vec::new(),
            loops: loops.to_vec(),
            tensor: &fill.target,
            region: fill.region.clone(),
            access: AccessKind::Fill,
        };
        return used_box(nest, &[swept], &loops[..from]);
    }
    let all: Vec<&Loop> = loops.iter().map(|l| &***l).collect();
    let swept = fill.region.iter().map(|(first, extent)| {
        let Relative { base, low, high } = relative(first, &inner);
        // The last block of a blocked loop may have fewer iterations.
        let most = facts::most(&first.minus(&base), &all);
        let high = most.map_or(high, |most| most.min(high));
        let extent = high.checked_sub(low)?.checked_add(extent.as_constant()?)?;
        Some((base.plus_constant(low), Affine::constant(extent)))
    });
    swept.collect()
}

/// Checks that the iterations of loops take all of the `extent` values from `low` on.
fn check_dense(
    nest: &Nest,
    (low, mut extent): (&Affine, i64),
    loops: &[&Arc<Loop>],
    from: usize,
) -> Option<()> {
    let mut low = low.clone();
    for (k, l) in loops.iter().enumerate().skip(from).rev() {
        let c = low.coefficient(&l.name).saturating_abs();
        if c == 0 {
            continue;
        }
        let around = Bounds::around(nest, loops[..k].iter().map(|l| &***l));
        let (lower, rest) = offset_form(l, &around)?;
        // A single iteration leaves no holes.
        if rest > 0 && c.saturating_mul(l.range.step) > extent {
            return None;
        }
        low = low.substitute(&|name| (*name == l.name).then(|| lower.clone()));
        extent = extent.saturating_add(c.saturating_mul(rest));
    }
    Some(())
}

/// The loop of `loops`, which are inside of `outer`, whose iterations fill an element twice.
pub(super) fn repeats(
    nest: &Nest,
    fill: &Fill,
    loops: &[&Arc<Loop>],
    outer: &[&Arc<Loop>],
) -> Option<Name> {
    let mut tree = Tree::Fill(Arc::new(fill.clone()));
    let sharing = Sharing::default();
    let marked = loops.iter().map(|l| (l, Mode::Parallel { sharing }));
    let around = outer.iter().map(|l| (l, Mode::Serial));
    for (l, mode) in around.chain(marked).rev() {
        tree = Tree::of_loop(Loop {
            mode,
            body: vec![tree],
            ..(***l).clone()
        });
    }
    first_race(&nest.with_trees(vec![tree])).map(|race| race.name)
}
