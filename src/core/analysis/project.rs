//! Bounds of loops in another order, by Fourier–Motzkin elimination.
//!
//! The bounds of a perfect band of loops are affine inequalities. Its iterations are the integer
//! points that satisfy all of them, in any loop order. A loop is bounded by the inequalities that
//! mention no inner loop. Eliminating it leaves the inequalities that they imply for the outer
//! loops.
//!
//! Each inequality of the band remains a bound of its innermost loop, so the iterations are exactly
//! the same. Inequalities from elimination only skip empty outer iterations. They are dropped if
//! they are not affine, or beyond a budget. A bound that would need division is refused.

use super::bounds::Bounds;
use crate::ir::{Affine, Loop, Name, Range, gcd};

/// A bound that would need division.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Division {
    /// The loop with the bound.
    pub of: Name,
    /// The loop that it would bound, which has a factor in the bound.
    pub by: Name,
    /// That factor.
    pub factor: i64,
}

/// A value that is nonnegative in all iterations.
struct Inequality {
    value: Affine,
    /// The loop that it bounds in the old order. `None` for inequalities from elimination.
    of: Option<Name>,
}

/// The budget of inequalities from elimination.
const MAX_ADDED: usize = 256;

/// The budget of pairs of inequalities that one elimination combines.
const MAX_PAIRS: usize = 4096;

/// The ranges of the loops in the given `order`, outermost first. The loops have step 1, and ranges
/// for another order. `boxes` bounds them and all loops around; ends beyond the limits of indices
/// are not bounds.
///
/// # Errors
/// A bound would need division.
pub fn permuted_ranges(order: &[&Loop], boxes: &Bounds) -> Result<Vec<Range>, Division> {
    let mut known: Vec<Inequality> = order.iter().flat_map(|l| inequalities(l)).collect();
    let mut ranges = Vec::with_capacity(order.len());
    for l in order.iter().rev() {
        let (about, rest): (Vec<_>, Vec<_>) =
            known.into_iter().partition(|q| q.value.mentions(&l.name));
        ranges.push(range(&l.name, &about, boxes)?);
        known = rest;
        eliminate(&l.name, &about, boxes, &mut known);
    }
    ranges.reverse();
    Ok(ranges)
}

fn inequalities(l: &Loop) -> Vec<Inequality> {
    let iterator = Affine::iterator(l.name.clone());
    let above = l.range.lower.iter().map(|b| iterator.minus(b));
    let below = l.range.upper.iter();
    let below = below.map(|b| b.minus(&iterator).plus_constant(-1));
    let of = Some(l.name.clone());
    let all = above.chain(below);
    all.map(|value| Inequality {
        value,
        of: of.clone(),
    })
    .collect()
}

/// The range that the inequalities `about` a loop imply.
fn range(name: &Name, about: &[Inequality], boxes: &Bounds) -> Result<Range, Division> {
    let iterator = Affine::iterator(name.clone());
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    for q in about {
        match (q.value.coefficient(name), &q.of) {
            (1, _) => lower.push(iterator.minus(&q.value)),
            (-1, _) => upper.push(q.value.plus(&iterator).plus_constant(1)),
            (_, None) => {}
            (factor, Some(of)) => {
                return Err(Division {
                    of: of.clone(),
                    by: name.clone(),
                    factor: factor.abs(),
                });
            }
        }
    }
    if let Some((low, high)) = boxes.get(name) {
        let ends = [(&mut lower, low), (&mut upper, high.saturating_add(1))];
        for (bounds, end) in ends {
            bounds.extend(Some(Affine::constant(end)).filter(Affine::is_in_limits));
        }
    }
    Ok(boxes.binding(&Range {
        lower,
        upper,
        step: 1,
        within: None,
    }))
}

/// Adds the inequalities that those `about` a loop imply for the others, unless `boxes` implies
/// them.
fn eliminate(name: &Name, about: &[Inequality], boxes: &Bounds, known: &mut Vec<Inequality>) {
    let says_more = |value: &Affine| {
        let least = boxes.interval(value).map_or(0, |(low, _)| low);
        value.as_constant().is_none() && least < 0
    };
    let mut added: Vec<Affine> = Vec::new();
    let there = known.iter().filter(|q| q.of.is_none()).count();
    let room = MAX_ADDED.saturating_sub(there);
    // `boxes` may imply an inequality here, and not what it implies for a loop that has a size.
    let iterator = Affine::iterator(name.clone());
    let sides = boxes.get(name).map(|(low, high)| {
        let below = Affine::constant(high).minus(&iterator);
        [iterator.plus_constant(-low), below]
    });
    let about = about.iter().map(|q| &q.value);
    let about: Vec<&Affine> = about.chain(sides.iter().flatten()).collect();
    for value in combined(name, &about).filter(says_more).take(room) {
        let is_known = known.iter().any(|q| q.value == value);
        if !is_known && !added.contains(&value) {
            added.push(value);
        }
    }
    let added = added.into_iter();
    known.extend(added.map(|value| Inequality { value, of: None }));
}

/// The values that are nonnegative without an iterator because `about` are, which mention it.
fn combined<'a>(name: &'a Name, about: &'a [&Affine]) -> impl Iterator<Item = Affine> + 'a {
    let from = move |sign: i64| {
        let all = about
            .iter()
            .map(move |value| (value, value.coefficient(name)));
        all.filter(move |(_, c)| c.signum() == sign)
    };
    let pairs = from(1).flat_map(move |low| from(-1).map(move |high| (low, high)));
    let sums = pairs.map(|((low, a), (high, b))| low.times(-b).plus(&high.times(a)));
    let exact = sums.take(MAX_PAIRS).filter(Affine::is_in_limits);
    exact.map(|sum| reduced(&sum))
}

/// The nonnegative values that others imply without an iterator. One value is left where several
/// differ by a constant, the least. `None` if they contradict each other.
pub(super) fn without(name: &Name, values: &[Affine]) -> Option<Vec<Affine>> {
    let (about, mut left): (Vec<&Affine>, Vec<Affine>) = (
        values.iter().filter(|v| v.mentions(name)).collect(),
        values
            .iter()
            .filter(|v| !v.mentions(name))
            .cloned()
            .collect(),
    );
    for value in combined(name, &about) {
        match value.as_constant() {
            Some(constant) if constant < 0 => return None,
            Some(_) => {}
            None => least(&mut left, value),
        }
    }
    left.truncate(MAX_ADDED);
    Some(left)
}

/// Adds a nonnegative value to others, unless it is one of them plus a constant.
pub(super) fn least(values: &mut Vec<Affine>, value: Affine) {
    match values.iter_mut().find(|v| v.terms() == value.terms()) {
        Some(known) if known.offset() <= value.offset() => {}
        Some(known) => *known = value,
        None => values.push(value),
    }
}

/// The values that are nonnegative in the iterations of a loop.
pub(super) fn of_loop(l: &Loop) -> Vec<Affine> {
    inequalities(l).into_iter().map(|q| q.value).collect()
}

/// The inequality divided by the gcd of its coefficients. The constant is rounded down, which loses
/// no integer point.
fn reduced(value: &Affine) -> Affine {
    let divisor = value.terms().iter().fold(0, |d, (_, c)| gcd(d, c.abs()));
    if divisor <= 1 {
        return value.clone();
    }
    let constant = Affine::constant(value.offset().div_euclid(divisor));
    value.terms().iter().fold(constant, |sum, (name, c)| {
        sum.plus(&Affine::iterator(name.clone()).times(c / divisor))
    })
}
