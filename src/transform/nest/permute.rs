//! Puts the loops of a perfect band into another order.
//!
//! Every inequality of the band stays a bound of the innermost loop in it, so that exactly the same
//! iterations are executed. Bounds that would need division are refused.

use crate::Error;
use crate::analysis::bounds::Bounds;
use crate::analysis::implied::simplified_chain;
use crate::analysis::position::splice;
use crate::analysis::project;
use crate::ir::{Loop, Nest, Range, Tree};
use crate::refusals::{bounds_depend, needs_division};
use std::sync::Arc;

/// The nest with the last loops of `chain` in this order. `chain` leads from the root to the
/// innermost loop of a perfect band, and the outermost loop of the band is at the position
/// `outermost`.
pub(super) fn permuted(
    nest: &Nest,
    outermost: &[usize],
    chain: &[&Arc<Loop>],
    order: &[&Arc<Loop>],
) -> Result<Nest, Error> {
    let ranges = ranges(nest, chain, order)?;
    let mut trees = chain.last().map_or(Vec::new(), |l| l.body.clone());
    for (l, range) in order.iter().zip(ranges).rev() {
        trees = vec![Tree::of_loop(Loop {
            body: trees,
            range,
            ..(***l).clone()
        })];
    }
    Ok(nest.with_trees(splice(nest.trees(), outermost, trees)))
}

/// The ranges in the new order. They stay as they are unless bounds mention a loop that moved
/// inward. Tiles of a triangle are cut to their iterations, if this needs no division.
fn ranges(nest: &Nest, chain: &[&Arc<Loop>], order: &[&Arc<Loop>]) -> Result<Vec<Range>, Error> {
    let boxes = Bounds::open(nest, chain.iter().map(|l| &***l));
    let loops: Vec<&Loop> = order.iter().map(|l| &***l).collect();
    let mut pairs = order.iter().enumerate().flat_map(|(k, l)| {
        let further_in = order[k..].iter();
        further_in.map(move |inner| (*l, *inner))
    });
    let Some((l, on)) = pairs.find(|(l, inner)| l.range.mentions(&inner.name)) else {
        let own = || order.iter().map(|l| l.range.clone()).collect();
        if !is_oblique(&loops) || order.iter().any(|l| is_fixed(l)) {
            return Ok(own());
        }
        let found = project::permuted_ranges(&loops, &boxes);
        return Ok(found.map_or_else(|_| own(), |ranges| simplified_chain(order, ranges)));
    };
    if order.iter().any(|l| is_fixed(l)) {
        return Err(bounds_depend(nest, &l.name, &on.name));
    }
    project::permuted_ranges(&loops, &boxes).map_err(|division| needs_division(nest, &division))
}

/// Whether the bounds of a loop cannot be those of another order: it has a step, or they are read.
fn is_fixed(l: &Loop) -> bool {
    l.range.step != 1 || l.range.within.is_some()
}

/// Whether bounds of a loop mention several of the other loops, as in tiles of a triangle.
fn is_oblique(loops: &[&Loop]) -> bool {
    loops.iter().any(|l| {
        let around = loops.iter().filter(|other| l.range.mentions(&other.name));
        around.count() > 1
    })
}
