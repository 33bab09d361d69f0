//! Questions about all sizes at once: sizes are parameters of the polyhedral library.

use super::constraints::linear;
use crate::ir::{Affine, Loop, Name, Nest};
use crate::poly::{Assumed, Constraint, Linear, Relation, assuming};

/// Asks a question about nests, for all their sizes.
pub(super) fn for_all_sizes<T>(nests: &[Nest], question: impl FnOnce() -> T) -> T {
    for_sizes(of_all(nests), question)
}

/// Asks a question about nests as if their sizes had no greatest value.
pub(super) fn without_limits<T>(nests: &[Nest], question: impl FnOnce() -> T) -> T {
    let mut sizes = sizes_of(of_all(nests));
    for l in &mut sizes {
        l.range.upper.retain(|end| end.as_constant().is_none());
    }
    assuming(facts(&sizes), question)
}

fn of_all(nests: &[Nest]) -> impl Iterator<Item = Name> {
    let around = nests.iter().flat_map(Nest::context).map(|l| &l.name);
    around.filter(|name| name.size().is_some()).cloned()
}

/// Asks a question for all values of sizes.
pub(super) fn for_sizes<T>(
    sizes: impl IntoIterator<Item = Name>,
    question: impl FnOnce() -> T,
) -> T {
    assuming(facts(&sizes_of(sizes)), question)
}

fn sizes_of(sizes: impl IntoIterator<Item = Name>) -> Vec<Loop> {
    let mut distinct: Vec<Name> = Vec::new();
    for size in sizes {
        if !distinct.contains(&size) {
            distinct.push(size);
        }
    }
    Nest::size_loops(distinct)
}

/// Sizes as parameters, the ones that are not derived first.
fn facts(sizes: &[Loop]) -> Assumed {
    let names = sizes.iter().rev().map(|l| l.name.to_string());
    let constraints = sizes.iter().flat_map(|l| {
        let size = Linear::from(l.name.as_str());
        let bound = |a: &Affine| linear(a, &|_| None);
        let lower = l.range.lower.iter().map(bound);
        let upper = l.range.upper.iter().map(bound);
        let lower = lower.map(|a| (a, Relation::LessOrEqual, size.clone()));
        let upper = upper.map(|a| (size.clone(), Relation::Less, a));
        // Not every quotient bounds a size that comes after it.
        let of = l.name.size().and_then(|size| size.of.as_ref());
        let rest = of.into_iter().flat_map(|of| {
            let sum = of.terms.iter().map(|(name, c)| (*c, name.to_string()));
            let sum = sum.chain([(-of.divisor, l.name.to_string())]);
            let rest = Linear::new(sum, of.offset);
            [
                (Linear::from(0), Relation::LessOrEqual, rest.clone()),
                (rest, Relation::Less, Linear::from(of.divisor)),
            ]
        });
        lower.chain(upper).chain(rest).collect::<Vec<Constraint>>()
    });
    Assumed {
        constraints: constraints.collect(),
        parameters: names.collect(),
    }
}
