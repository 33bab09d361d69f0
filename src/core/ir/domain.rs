//! The iterator ranges that a definition gives. Each belongs to an assignment or to a reduction.

use super::affine::Affine;
use super::name::Name;
use super::range::Range;
use super::segment::{Lookup, Segment};
use super::tensor::Tensor;

/// Given ranges of iterators, each at most once. An iterator without one takes the inferred range.
/// Bounds may depend on outer iterators, and on others of the same domain. A domain belongs to the
/// assignment or the reduction that it was given to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Domain(Vec<(Name, Range)>);

impl Domain {
    /// The domain with these ranges.
    pub fn new(ranges: impl IntoIterator<Item = (Name, Range)>) -> Domain {
        Domain(ranges.into_iter().collect())
    }

    /// Whether no range is given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The iterators and their ranges, in the given order.
    pub fn iter(&self) -> impl Iterator<Item = &(Name, Range)> {
        self.0.iter()
    }

    /// The range of an iterator, if it has one.
    pub fn get(&self, name: &Name) -> Option<&Range> {
        let found = self.0.iter().find(|(n, _)| n == name);
        found.map(|(_, range)| range)
    }

    /// The domain, extended by the ranges of `other` for iterators without one.
    #[must_use]
    pub fn with(&self, other: &Domain) -> Domain {
        let new = other.0.iter().filter(|(name, _)| self.get(name).is_none());
        Domain(self.0.iter().chain(new).cloned().collect())
    }

    /// The domain restricted to `names`.
    #[must_use]
    pub fn of(&self, names: &[Name]) -> Domain {
        let kept = self.0.iter().filter(|(name, _)| names.contains(name));
        Domain(kept.cloned().collect())
    }

    /// The domain as a script writes it: `#{i: 1..9, j: max(0, i - 2)..i + 1 by 2}`.
    pub fn script(&self) -> String {
        let bound = |name: &str, bounds: &[Affine]| {
            let mut texts = bounds.iter().map(Affine::to_string);
            let first = texts.next().unwrap_or_default();
            texts.fold(first, |text, next| format!("{name}({text}, {next})"))
        };
        let entry = |(name, range): &(Name, Range)| {
            let (lower, upper) = (bound("max", &range.lower), bound("min", &range.upper));
            let step = match range.step {
                1 => String::new(),
                step => format!(" by {step}"),
            };
            match &range.within {
                Some(Segment {
                    lower: Some(lower),
                    upper,
                    ..
                }) => format!("{name}: {lower}..{upper}"),
                _ => format!("{name}: {lower}..{upper}{step}"),
            }
        };
        let entries: Vec<String> = self.0.iter().map(entry).collect();
        format!("#{{{}}}", entries.join(", "))
    }

    /// The iterators that occur in bounds.
    pub fn mentioned(&self) -> impl Iterator<Item = &Name> {
        self.0.iter().flat_map(|(_, range)| range.iterators())
    }

    /// The elements that bounds are read from.
    pub fn lookups(&self) -> impl Iterator<Item = &Lookup> {
        let segments = self.0.iter().filter_map(|(_, range)| range.within.as_ref());
        segments.flat_map(Segment::lookups)
    }

    /// The domain with the tensors that `map` matches replaced.
    #[must_use]
    pub fn map_tensors(&self, map: &dyn Fn(&Tensor) -> Option<Tensor>) -> Domain {
        let mapped = |tensor: &Tensor| map(tensor).unwrap_or_else(|| tensor.clone());
        let ranges = self.0.iter();
        Domain::new(ranges.map(|(name, range)| (name.clone(), range.map_tensors(&mapped))))
    }

    /// The domain with iterators in its bounds replaced, all at once.
    #[must_use]
    pub fn substitute(&self, map: &dyn Fn(&Name) -> Option<Affine>) -> Domain {
        let ranges = self.0.iter();
        Domain(
            ranges
                .map(|(name, range)| (name.clone(), range.substitute(map)))
                .collect(),
        )
    }

    /// The domain with iterators renamed, as keys and in bounds.
    #[must_use]
    pub fn renamed(&self, rename: &dyn Fn(&Name) -> Option<Name>) -> Domain {
        let ranges = self.substitute(&|name| rename(name).map(Affine::iterator));
        let new = ranges.0.into_iter().map(|(name, range)| {
            let name = rename(&name).unwrap_or(name);
            (name, range)
        });
        Domain(new.collect())
    }

    /// The names in nesting order: each comes after the names that its bounds depend on, otherwise
    /// in the given order. `None` if ranges depend on each other in a cycle.
    pub fn nested(&self, names: &[Name]) -> Option<Vec<Name>> {
        let mut open = names.to_vec();
        let mut order = Vec::with_capacity(names.len());
        while !open.is_empty() {
            let waits = |name: &Name| {
                let range = self.get(name);
                range.is_some_and(|range| open.iter().any(|other| range.mentions(other)))
            };
            let is_free = |k: &usize| !waits(&open[*k]);
            // An iterator comes directly after the ones that its bounds are read at.
            let of_first = self.get(&open[0]).filter(|range| range.within.is_some());
            let needed = of_first.into_iter().flat_map(|range| {
                let places = range.iterators();
                places.filter_map(|name| open.iter().position(|other| other == name))
            });
            let next = [0].into_iter().chain(needed).chain(0..open.len());
            let next = next.into_iter().find(is_free)?;
            order.push(open.remove(next));
        }
        // An entry is read as soon as its place is known.
        for name in order.clone().into_iter().rev() {
            let Some(range) = self.get(&name).filter(|range| range.single().is_some()) else {
                continue;
            };
            order.retain(|other| *other != name);
            let last = order.iter().rposition(|other| range.mentions(other));
            order.insert(last.map_or(0, |last| last + 1), name);
        }
        Some(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    fn below(bound: &str) -> Range {
        Range::between(Affine::constant(0), Affine::iterator(name(bound)))
    }

    #[test]
    fn loops_are_nested_after_what_bounds_them() {
        let names = ["i", "j", "k"].map(name);
        let domain = Domain::new([(name("i"), below("k")), (name("k"), below("j"))]);
        let order = domain.nested(&names);
        assert_eq!(order, Some(["j", "k", "i"].map(name).to_vec()));
        assert_eq!(Domain::default().nested(&names), Some(names.to_vec()));
        let circle = Domain::new([(name("i"), below("j")), (name("j"), below("i"))]);
        assert_eq!(circle.nested(&names), None);
    }
}
