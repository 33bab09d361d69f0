//! Questions about all sizes at once: sizes are parameters of the polyhedral library.

use super::constraints::linear;
use crate::ir::{Affine, Loop, Name, Nest};
use crate::poly::{Assumed, Constraint, Linear, Relation, assuming};

/// Asks a question about nests, for all their sizes.
pub(super) fn for_all_sizes<T>(nests: &[Nest], question: impl FnOnce() -> T) -> T {
    let around = nests.iter().flat_map(Nest::context).map(|l| &l.name);
    let sizes = around.filter(|name| name.size().is_some());
    for_sizes(sizes.cloned(), question)
}

/// Asks a question for all values of sizes.
pub(super) fn for_sizes<T>(
    sizes: impl IntoIterator<Item = Name>,
    question: impl FnOnce() -> T,
) -> T {
    let mut distinct: Vec<Name> = Vec::new();
    for size in sizes {
        if !distinct.contains(&size) {
            distinct.push(size);
        }
    }
    assuming(facts(&Nest::size_loops(distinct)), question)
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
