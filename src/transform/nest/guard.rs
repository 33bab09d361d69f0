//! Guarded loops: one loop over two ranges, in which each body runs inside of a guard.
//!
//! A guard is a loop of one iteration or none.

use super::parts::{Names, with_body};
use super::resolve::chain;
use crate::analysis::bounds::Bounds;
use crate::analysis::facts::is_nonnegative_for_sizes;
use crate::ir::{Affine, Hints, Loop, Mode, Name, Nest, Range, Role, Tree};

/// The bounds of the iterators around the loops at a position in the nest.
pub(super) fn around_of(nest: &Nest, around: &[usize]) -> Bounds {
    Bounds::around(nest, chain(nest, around).iter().map(|l| &***l))
}

/// A range that contains two ranges with step 1; `None` for other steps. If their bounds differ by
/// constants, it ends at one of them. With sizes it also does, and is `None` if they leave open which
/// bound is wider.
pub(super) fn hull(around: &Bounds, a: &Range, b: &Range) -> Option<Range> {
    if (a.step, b.step) != (1, 1) {
        return None;
    }
    let is_wider =
        |x: &Affine, y: &Affine, sign: i64| is_nonnegative_for_sizes(&x.minus(y).times(sign));
    let widest = |a: &[Affine], b: &[Affine], sign: i64| -> Option<Vec<Affine>> {
        let mut found: Vec<Affine> = Vec::new();
        for (x, y) in a.iter().flat_map(|x| b.iter().map(move |y| (x, y))) {
            let wider = match y.minus(x).as_constant() {
                Some(apart) if apart.signum() == sign => y,
                Some(_) => x,
                None if is_wider(x, y, sign) => x,
                None if is_wider(y, x, sign) => y,
                None => continue,
            };
            if !found.contains(wider) {
                found.push(wider.clone());
            }
        }
        if found.is_empty() && around.has_sizes() {
            // A number that limits all sizes would leave most iterations empty.
            return None;
        }
        if found.is_empty() {
            let end = |bounds: &[Affine]| {
                let ends = bounds.iter().filter_map(|x| around.interval(x));
                match sign {
                    -1 => ends.map(|(low, _)| low).max(),
                    _ => ends.map(|(_, high)| high).min(),
                }
            };
            let (a, b) = (end(a)?, end(b)?);
            found.push(Affine::constant(if sign < 0 { a.min(b) } else { a.max(b) }));
        }
        Some(found)
    };
    Some(Range {
        lower: widest(&a.lower, &b.lower, -1)?,
        upper: widest(&a.upper, &b.upper, 1)?,
        step: 1,
        within: None,
    })
}

/// A loop over `range` that is named after the first loop and executes both bodies. A body is
/// guarded unless its own range equals `range`.
pub(super) fn guarded(names: &mut Names, [a, b]: [&Loop; 2], range: Range) -> Tree {
    let iterator = Affine::iterator(a.name.clone());
    let rename = |name: &Name| (*name == b.name).then(|| iterator.clone());
    let second: Vec<Tree> = b.body.iter().map(|t| t.substitute(&rename)).collect();
    let mut body = Vec::new();
    for (trees, own) in [(&a.body, &a.range), (&second, &b.range)] {
        if *own == range {
            body.extend(trees.iter().cloned())
        } else {
            body.extend(guard(names, trees, a, own))
        }
    }
    Tree::of_loop(Loop {
        range,
        body,
        lineage: a.lineage.fused(&b.lineage),
        ..a.clone()
    })
}

/// Guards the innermost trees, so that the loops around them stay perfectly nested.
pub(super) fn guard(names: &mut Names, trees: &[Tree], l: &Loop, own: &Range) -> Vec<Tree> {
    let is_leaf = |t: &Tree| !matches!(t, Tree::Loop(_));
    // A local tensor lives to the end of its sequence.
    let whole = trees.iter().any(|t| matches!(t, Tree::Local(_)));
    let runs = trees.chunk_by(|a, b| whole || is_leaf(a) && is_leaf(b));
    let guarded = runs.map(|run| match run {
        [Tree::Loop(inner)] if !whole => Tree::of_loop(Loop {
            body: guard(names, &inner.body, l, own),
            ..(**inner).clone()
        }),
        run => {
            let name = names.free(&l.name.derived("g"));
            once(l, name, own, run)
        }
    });
    guarded.collect()
}

/// A guard: a loop that executes `run` once if the range `own` has the iteration of `l`.
fn once(l: &Loop, name: Name, own: &Range, run: &[Tree]) -> Tree {
    let iterator = Affine::iterator(l.name.clone());
    let bounds = |first: Affine, bounds: &[Affine]| {
        let bounds = [first].into_iter().chain(bounds.iter().cloned());
        bounds.collect()
    };
    let range = Range {
        lower: bounds(iterator.clone(), &own.lower),
        upper: bounds(iterator.plus_constant(1), &own.upper),
        ..own.clone()
    };
    let plain = Loop {
        mode: Mode::Serial,
        hints: Hints::default(),
        ..l.clone()
    };
    with_body(&plain, Role::Guard, name, range, run.to_vec())
}
