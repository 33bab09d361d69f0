//! A quick test of whether loops may run in parallel or in vector lanes.
//!
//! A loop is independent if no two of its iterations touch an element that one of them writes. For
//! each pair of accesses, one dimension suffices whose indices differ for all pairs of iterations.
//! The test writes an index as c*x + (common terms) + (terms that vary inside). It replaces each
//! inner iterator by its lower bound plus a bounded rest, so that the blocks of a stripmined loop
//! come out disjoint.
//!
//! A vector loop with a fixed number of lanes runs only that many iterations at a time. Iterations
//! further apart may depend on each other. Local tensors of the loop's body are private to an
//! iteration and cause no race.
//!
//! The answer "independent" is a proof. The answer "race" names two iterations that the test could
//! not separate: it is conservative where indices couple several iterators. The exact proof
//! ([`check`](fn@super::check)) decides these cases.

use crate::analysis::bounds::Bounds;
use crate::analysis::relative::{Inner, Relative, offset_form, relative};
use crate::ir::{Affine, BinaryOp, Fill, Index, Loop, Mode, Name, Nest, Stmt, Tensor, Tree};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Two iterations of a parallel or vector loop that may touch one element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    pub name: Name,
    /// Whether the loop is parallel; otherwise it is a vector loop.
    pub parallel: bool,
    /// The access that writes.
    pub write: String,
    /// The access of the other iteration, a write or a read.
    pub other: String,
    /// Whether both accesses write.
    pub both_write: bool,
    /// The two values of the iterator.
    pub iterations: (i64, i64),
    /// The operation of the reduction that the loop carries, if both accesses are one update.
    pub reduction: Option<BinaryOp>,
}

impl std::fmt::Display for Race {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Race {
            name,
            write,
            other,
            iterations: (a, b),
            ..
        } = self;
        let mode = if self.parallel {
            "parallelized"
        } else {
            "vectorized"
        };
        let verb = if self.both_write { "writes" } else { "reads" };
        write!(
            f,
            "loop `{name}` cannot be {mode}: iteration {name} = {a} writes {write}, and \
             iteration {name} = {b} {verb} {other}, which can be the same element"
        )
    }
}

/// The first parallel or vector loop with dependent iterations, outermost first.
pub fn first_race(nest: &Nest) -> Option<Race> {
    let loops = nest.loops();
    loops
        .into_iter()
        .filter(|(outer, l)| !l.is_serial() || is_collapsed(outer))
        .find_map(|(outer, l)| {
            let mut accesses = Vec::new();
            let outside = Bounds::around(nest, outer.iter().copied());
            let mut inside = outside.clone();
            inside.enter(l);
            collect(&l.body, &mut Vec::new(), &inside, &mut accesses);
            let (low, high) = inside.get(&l.name)?;
            let span = offset_form(l, &outside).map_or(high - low, |(_, rest)| rest);
            // A loop that is only a vector loop runs this many iterations at a time.
            let at_a_time = l.at_a_time().filter(|_| !is_collapsed(&outer));
            let at_a_time = at_a_time.unwrap_or(i64::MAX);
            let span = span.min((at_a_time - 1).saturating_mul(l.range.step));
            pair_race(l, span, low, &accesses)
        })
}

/// Whether an outer loop collapses the loop directly inside of `outer`.
fn is_collapsed(outer: &[&Loop]) -> bool {
    let mut depths = outer.iter().rev().zip(2..);
    depths.any(|(o, depth)| o.collapse() >= depth)
}

/// The largest distance between iterations up to which all are tried.
const MAX_DISTANCE: i64 = 1 << 20;

struct RelativeAccess<'a> {
    tensor: &'a Tensor,
    /// For each dimension, the index in terms of the loop under test, outer iterators and rests.
    index: Vec<Relative>,
    write: bool,
    update: Option<BinaryOp>,
    of: Accessed<'a>,
}

/// The accessed element or box, as written in the nest.
enum Accessed<'a> {
    Element(&'a [Affine]),
    Box(&'a Fill),
}

impl RelativeAccess<'_> {
    fn text(&self) -> String {
        match self.of {
            Accessed::Element(index) => {
                let shown: Vec<String> = index.iter().map(|a| format!("[{a}]")).collect();
                format!("{}{}", self.tensor.label(), shown.concat())
            }
            Accessed::Box(fill) => fill.to_string(),
        }
    }
}

/// An index of an access, for a loop under test.
#[derive(PartialEq, Eq, Hash)]
struct Side {
    /// Its coefficient of the loop's iterator.
    by: i64,
    /// The number of its other part, a sum of outer iterators.
    shared: usize,
    /// The least and the greatest value of its varying terms.
    low: i64,
    high: i64,
}

/// Numbers the sums of outer iterators that occur in indices.
type Sums<'a> = HashMap<Vec<&'a (Name, i64)>, usize>;

type Placed<'s, 'a> = (&'s RelativeAccess<'a>, Rc<[Side]>);

fn sides<'a>(access: &'a RelativeAccess, l: &Loop, sums: &mut Sums<'a>) -> Vec<Side> {
    let sides = access.index.iter().map(|index| {
        let terms = index.base.terms().iter();
        let shared: Vec<_> = terms.filter(|(name, _)| *name != l.name).collect();
        let next = sums.len();
        Side {
            by: index.base.coefficient(&l.name),
            shared: *sums.entry(shared).or_insert(next),
            low: index.base.offset().saturating_add(index.low),
            high: index.base.offset().saturating_add(index.high),
        }
    });
    sides.collect()
}

fn collect<'a>(
    trees: &'a [Tree],
    inner: &mut Vec<Inner>,
    bounds: &Bounds,
    found: &mut Vec<RelativeAccess<'a>>,
) {
    let before = found.len();
    for tree in trees {
        match tree {
            Tree::Local(_) => {}
            Tree::Loop(l) => {
                let mut inside = bounds.clone();
                inside.enter(l);
                inner.push(Inner::new(l, inner, bounds));
                collect(&l.body, inner, &inside, found);
                inner.pop();
            }
            Tree::Stmt(s) => collect_stmt(s, inner, found),
            Tree::Fill(fill) => {
                let index = fill.region.iter().map(|(low, extent)| {
                    let mut relative = relative(low, inner);
                    let most = bounds
                        .interval(extent)
                        .map_or(i64::MAX, |(_, most)| most - 1);
                    relative.high = relative.high.saturating_add(most);
                    relative
                });
                found.push(RelativeAccess {
                    tensor: &fill.target,
                    index: index.collect(),
                    write: true,
                    update: None,
                    of: Accessed::Box(fill),
                });
            }
        }
    }
    // A local tensor is private to its iteration.
    let declared = |access: &RelativeAccess| {
        let local = |t: &Tree| matches!(t, Tree::Local(l) if l.name() == access.tensor.name());
        trees.iter().any(local)
    };
    let own = found.split_off(before);
    found.extend(own.into_iter().filter(|access| !declared(access)));
}

fn collect_stmt<'a>(s: &'a Stmt, inner: &[Inner], found: &mut Vec<RelativeAccess<'a>>) {
    let mut add = |tensor: &'a Tensor, index: &'a [Affine], write: bool, update| {
        found.push(RelativeAccess {
            tensor,
            index: index.iter().map(|a| relative(a, inner)).collect(),
            write,
            update,
            of: Accessed::Element(index),
        });
    };
    add(&s.target, &s.index, true, s.update);
    s.value.for_each_access(&mut |tensor, index| match index {
        Index::At(index) => add(tensor, index, false, None),
        _ => add(tensor, &[], false, None),
    });
}

fn pair_race(l: &Loop, span: i64, first: i64, accesses: &[RelativeAccess]) -> Option<Race> {
    let mut sums = Sums::new();
    // An access equal to an earlier one of the same kind adds no conflicts.
    let mut known = HashSet::new();
    let mut by_tensor: HashMap<Option<&Name>, Vec<Placed<'_, '_>>> = HashMap::new();
    let mut writes = Vec::new();
    for access in accesses {
        let sides: Rc<[Side]> = sides(access, l, &mut sums).into();
        let tensor = access.tensor.name();
        if known.insert((tensor, access.write, Rc::clone(&sides))) {
            let all = by_tensor.entry(tensor).or_default();
            if access.write {
                writes.push((tensor, all.len()));
            }
            all.push((access, sides));
        }
    }
    for (tensor, k) in writes {
        let all = &by_tensor[&tensor];
        let (write, own) = &all[k];
        for (m, (other, others)) in all.iter().enumerate() {
            if other.write && m < k {
                continue;
            }
            let Some(distance) = common_distance(l, span, own, others) else {
                continue;
            };
            let start = if distance < 0 {
                first - distance
            } else {
                first
            };
            return Some(Race {
                name: l.name.clone(),
                // A collapsed loop takes its mark from the loop that collapses it.
                parallel: !matches!(l.mode, Mode::Vector { .. }),
                write: write.text(),
                other: other.text(),
                both_write: other.write,
                iterations: (start, start + distance),
                reduction: write.update.filter(|_| k == m),
            });
        }
    }
    None
}

/// The least distance between two iterations that no dimension rules out.
fn common_distance(l: &Loop, span: i64, write: &[Side], other: &[Side]) -> Option<i64> {
    // Indices with different coefficients rule nothing out.
    let alike = |(a, b): &(&Side, &Side)| (a.by, a.shared) == (b.by, b.shared);
    let both = write.iter().zip(other).filter(alike);
    let allowed: Vec<(i64, i64, i64)> = both
        .map(|(a, b)| {
            (
                a.by,
                b.low.saturating_sub(a.high),
                b.high.saturating_sub(a.low),
            )
        })
        .collect();
    // The elements can coincide at distance d if c*d + [low, high] contains 0 in every dimension.
    let possible = |d: &i64| {
        allowed.iter().all(|(c, low, high)| {
            let moved = c.saturating_mul(*d);
            moved.saturating_add(*low) <= 0 && moved.saturating_add(*high) >= 0
        })
    };
    // The distances to try end where the narrowest moving dimension separates the accesses, and are
    // multiples of the step.
    let step = l.range.step;
    let reach = allowed
        .iter()
        .filter(|(c, ..)| *c != 0)
        .map(|(c, low, high)| low.saturating_abs().max(high.saturating_abs()) / c.abs())
        .min()
        .unwrap_or(step)
        .min(span);
    // Too many to try: not proved, so reported as a race.
    if reach / step > MAX_DISTANCE {
        return Some(step);
    }
    let distances = (1..=reach / step).map(|k| k * step);
    distances.flat_map(|d| [d, -d]).find(possible)
}
