//! Footprints: the part of a tensor that a subnest touches, as a box that moves with the loops
//! around it.
//!
//! Each dimension of the box starts at an index that is affine in the iterators of the outer loops.
//! Its extent is constant. If tails make the touched part smaller, the offsets from the start are
//! exact. The block `4*o..min(4*o + 4, 10)` of a dimension is 4 elements from `4*o` on, at the
//! offsets `0..min(4, 10 - 4*o)`.
//!
//! A box is never too small and never leaves the tensor. It can be too large: it has no holes and
//! no slanted sides. Buffers hold such boxes, and copies to and from them cover the box exactly.

use super::bounds::Bounds;
use super::facts::{Equal, binding, is_nonnegative, most};
use super::position::{Position, walk};
use crate::ir::{Affine, Index, Loop, Nest, Range, Tensor, Tree};
use std::sync::Arc;

/// The kind of a [`Use`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// A statement reads them.
    Read,
    /// A statement sets them, regardless of their old values.
    Set,
    /// A statement reads and changes them: `+=`.
    Update,
    /// A fill sets them.
    Fill,
}

/// A use of a tensor in a statement or a fill.
#[derive(Clone, Debug)]
pub struct Use<'a> {
    /// The position of the statement.
    pub position: Position,
    /// The loops around it, outermost first.
    pub loops: Vec<&'a Arc<Loop>>,
    pub tensor: &'a Tensor,
    /// For each dimension the first index and the number of elements, which is 1 in statements.
    pub region: Vec<(Affine, Affine)>,
    pub access: AccessKind,
}

/// All uses of the tensor named `name`, in the order of the text. The reads of a statement come
/// before its write.
pub fn uses<'a>(nest: &'a Nest, name: &str) -> Vec<Use<'a>> {
    let mut found = Vec::new();
    walk(nest.trees(), &mut |position, loops, tree| {
        let mut add = |tensor: &'a Tensor, region: Vec<(Affine, Affine)>, access| {
            if tensor.label() == name {
                found.push(Use {
                    position: position.to_vec(),
                    loops: loops.to_vec(),
                    tensor,
                    region,
                    access,
                });
            }
        };
        let point = |index: &[Affine]| {
            index
                .iter()
                .map(|a| (a.clone(), Affine::constant(1)))
                .collect()
        };
        match tree {
            Tree::Stmt(s) => {
                s.value.for_each_access(&mut |tensor, index| match index {
                    Index::At(index) => add(tensor, point(index), AccessKind::Read),
                    _ => add(tensor, Vec::new(), AccessKind::Read),
                });
                let access = match s.update {
                    Some(_) => AccessKind::Update,
                    None => AccessKind::Set,
                };
                add(&s.target, point(&s.index), access);
            }
            Tree::Fill(fill) => add(&fill.target, fill.region.clone(), AccessKind::Fill),
            Tree::Loop(_) | Tree::Local(_) => {}
        }
    });
    found
}

/// One dimension of a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The start of the box.
    pub low: Affine,
    /// The most elements of the box.
    pub extent: u64,
    /// The elements of the box, relative to `low`.
    pub offsets: Range,
}

impl Side {
    /// The number of elements: exact where it has sizes, otherwise the most.
    pub fn count(&self) -> Affine {
        let most = || Affine::constant(i64::try_from(self.extent).unwrap_or(i64::MAX));
        match (&self.offsets.lower[..], &self.offsets.upper[..]) {
            ([low], [end]) if end.is_fixed() && low.as_constant() == Some(0) => {
                if end.as_constant().is_none() {
                    end.clone()
                } else {
                    most()
                }
            }
            _ => most(),
        }
    }
}

/// The box that `uses` touch in one iteration of the `depth` outermost loops, which they share.
/// `None` if there are no uses.
pub fn footprint(nest: &Nest, uses: &[Use], depth: usize) -> Option<Vec<Side>> {
    let first = uses.first()?;
    let outer = first.loops[..depth].iter().map(|l| &***l);
    let chain: Vec<&Loop> = nest.context().iter().chain(outer).collect();
    let around = Bounds::of_chain(chain.iter().copied());
    let mut sides: Option<Vec<Ends>> = None;
    for used in uses {
        let new = touched(nest, used, depth);
        sides = Some(match sides {
            None => new,
            Some(known) => known
                .iter()
                .zip(&new)
                .map(|(a, b)| a.union(b, &around))
                .collect(),
        });
    }
    let sides = sides?.into_iter().zip(first.tensor.shape().dims());
    Some(
        sides
            .map(|(ends, extent)| ends.side(&extent, &around, &chain))
            .collect(),
    )
}

/// Whether two uses provably touch disjoint boxes in one iteration of the `depth` outermost loops.
pub fn are_disjoint(nest: &Nest, one: &Use, other: &Use, depth: usize) -> bool {
    let around = one.loops[..depth].iter().map(|l| &***l);
    let chain: Vec<&Loop> = nest.context().iter().chain(around).collect();
    let behind = |low: &[Affine], end: &[Affine]| {
        let mut pairs = low.iter().flat_map(|l| end.iter().map(move |e| l.minus(e)));
        pairs.any(|apart| is_nonnegative(&apart, &chain))
    };
    let sides = [one, other].map(|used| touched(nest, used, depth));
    let [first, second] = &sides;
    let mut dimensions = first.iter().zip(second);
    dimensions.any(|(a, b)| behind(&a.lower, &b.upper) || behind(&b.lower, &a.upper))
}

/// The index ranges of a use in one iteration of the outermost loops.
pub(super) fn touched(nest: &Nest, used: &Use, depth: usize) -> Vec<Ends> {
    let bounds = Bounds::around(nest, used.loops.iter().map(|l| &***l));
    let region = used.region.iter();
    region
        .map(|(low, extent)| Ends::of(low, extent, &used.loops[depth..], &bounds))
        .collect()
}

/// The bounds of an index: at least all of `lower`, and less than all of `upper`.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    pub(super) lower: Vec<Affine>,
    pub(super) upper: Vec<Affine>,
    /// Whether all bounds were kept.
    pub(super) complete: bool,
}

/// The most bounds to keep for one end.
const MAX_BOUNDS: usize = 16;

impl Ends {
    /// The bounds of `extent` indices from `low` on, in all iterations of the loops `inner`.
    fn of(low: &Affine, extent: &Affine, inner: &[&Arc<Loop>], bounds: &Bounds) -> Ends {
        let end = low.plus(extent);
        let mut ends = Ends {
            lower: vec![low.clone()],
            upper: vec![end],
            complete: true,
        };
        for l in inner.iter().rev() {
            let last = last_values(&l.range);
            let replace = |of: &[Affine], [rising, falling]: [&[Affine]; 2]| -> Vec<Affine> {
                let image = |index: &Affine| {
                    let values = match index.coefficient(&l.name) {
                        0 => return vec![index.clone()],
                        1.. => rising,
                        _ => falling,
                    };
                    let with =
                        |v: &Affine| index.substitute(&|n| (*n == l.name).then(|| v.clone()));
                    values.iter().map(with).collect()
                };
                of.iter().flat_map(image).collect()
            };
            ends.lower = replace(&ends.lower, [&l.range.lower, &last]);
            ends.upper = replace(&ends.upper, [&last, &l.range.lower]);
            ends.prune(bounds);
        }
        ends
    }

    /// Drops implied bounds.
    fn prune(&mut self, bounds: &Bounds) {
        self.lower = binding(&self.lower, Equal::Constant, |a, b| {
            bounds.is_at_least(a, b)
        });
        self.upper = binding(&self.upper, Equal::Constant, |a, b| {
            bounds.is_at_least(b, a)
        });
        for end in [&mut self.lower, &mut self.upper] {
            self.complete &= end.len() <= MAX_BOUNDS;
            end.truncate(MAX_BOUNDS);
        }
    }

    /// Bounds that contain both.
    fn union(&self, other: &Ends, around: &Bounds) -> Ends {
        // The bound `a` of one also holds for the other if it is lowered to the best bound there.
        let lowered = |a: &Affine, others: &[Affine], sign: i64| {
            let above = others
                .iter()
                .filter_map(|b| least(&b.minus(a).times(sign), around));
            above.max().map(|d| a.plus_constant(sign * d.min(0)))
        };
        let both = |a: &[Affine], b: &[Affine], sign: i64| -> Vec<Affine> {
            let from_a = a.iter().filter_map(|x| lowered(x, b, sign));
            let from_b = b.iter().filter_map(|x| lowered(x, a, sign));
            from_a.chain(from_b).collect()
        };
        let mut union = Ends {
            lower: both(&self.lower, &other.lower, 1),
            upper: both(&self.upper, &other.upper, -1),
            complete: false,
        };
        union.prune(around);
        union
    }

    /// The side of a box in a dimension of `extent` elements.
    fn side(mut self, extent: &Affine, around: &Bounds, chain: &[&Loop]) -> Side {
        self.lower.push(Affine::constant(0));
        self.upper.push(extent.clone());
        self.prune(around);
        // If intervals do not suffice, relations between iterators may prove that the index stays
        // inside.
        let (first, end) = (Affine::constant(0), extent.clone());
        if self
            .lower
            .iter()
            .any(|low| *low != first && is_nonnegative(low, chain))
        {
            self.lower.retain(|low| *low != first);
        }
        let stays = |last: &Affine| *last != end && is_nonnegative(&end.minus(last), chain);
        if self.upper.iter().any(stays) {
            self.upper.retain(|last| *last != end);
        }
        let greatest = |a: &Affine, b: &Affine| {
            let apart = b.minus(a);
            let interval = around.interval(&apart);
            let high = interval.map_or(i64::MAX, |(_, high)| high);
            // Derived sizes are close to each other, which boxes do not know.
            let is_sized = apart.as_constant().is_none() && apart.sizes().next().is_some();
            let closer = is_sized.then(|| most(&apart, chain)).flatten();
            closer.map_or(high, |most| high.min(most))
        };
        let mut best = (Affine::constant(0), greatest(&first, extent));
        for low in &self.lower {
            for high in &self.upper {
                let size = greatest(low, high).max(1);
                if size < best.1 {
                    best = (low.clone(), size);
                }
            }
        }
        let (low, size) = best;
        let from_low = |end: &[Affine]| end.iter().map(|a| a.minus(&low)).collect();
        let mut offsets = Ends {
            lower: from_low(&self.lower),
            upper: from_low(&self.upper),
            complete: true,
        };
        // A box that is never touched has a range all the same.
        offsets.lower.push(Affine::constant(0));
        offsets.upper.push(Affine::constant(size));
        offsets.prune(around);
        Side {
            low,
            extent: size.unsigned_abs(),
            offsets: Range {
                lower: offsets.lower,
                upper: offsets.upper,
                step: 1,
                within: None,
            },
        }
    }
}

/// The least value of an index, if known.
pub(super) fn least(index: &Affine, bounds: &Bounds) -> Option<i64> {
    Some(bounds.interval(index)?.0)
}

/// Upper bounds of the last value of an iterator.
fn last_values(range: &Range) -> Vec<Affine> {
    let before = |u: &Affine| {
        let to_here = |low: &Affine| u.minus(low).as_constant();
        let beyond = match range.lower.as_slice() {
            [low] => to_here(low).map_or(0, |extent| (extent.max(1) - 1) % range.step),
            _ => 0,
        };
        u.plus_constant(-1 - beyond)
    };
    range.upper.iter().map(before).collect()
}
