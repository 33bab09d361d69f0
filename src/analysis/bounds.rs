//! Bounding boxes: the least and greatest value of each loop iterator.

use crate::ir::{Affine, Loop, Name, Nest};
use std::collections::HashMap;

/// Inclusive bounds of loop iterators.
#[derive(Clone, Debug, Default)]
pub struct Bounds(HashMap<Name, (i64, i64)>);

impl Bounds {
    /// The bounds of the loops of a chain, outermost first. Bounds that depend on outer
    /// iterators are widened to a constant interval. A loop that never runs is empty:
    /// its upper bound lies below its lower one.
    pub fn of_chain<'a>(chain: impl IntoIterator<Item = &'a Loop>) -> Bounds {
        let mut bounds = Bounds::default();
        for l in chain {
            bounds.enter(l);
        }
        bounds
    }

    /// The bounds of the loops around a place in `nest`: those of the nest, outermost first, and
    /// those that the nest itself is inside of.
    pub fn around<'a>(nest: &'a Nest, chain: impl IntoIterator<Item = &'a Loop>) -> Bounds {
        Bounds::of_chain(nest.context().iter().chain(chain))
    }

    /// Adds a loop inside those already known.
    pub fn enter(&mut self, l: &Loop) {
        let low = l
            .range
            .lower
            .iter()
            .filter_map(|b| Some(self.interval(b)?.0));
        let high = l
            .range
            .upper
            .iter()
            .filter_map(|b| Some(self.interval(b)?.1));
        if let (Some(low), Some(high)) = (low.max(), high.min()) {
            self.0.insert(l.name.clone(), (low, high - 1));
        }
    }

    /// The bounds of an iterator.
    pub fn get(&self, name: &Name) -> Option<(i64, i64)> {
        self.0.get(name).copied()
    }

    /// The least and greatest value of an index; `None` where it uses an unknown iterator.
    pub fn interval(&self, index: &Affine) -> Option<(i64, i64)> {
        index.interval(&|n| self.get(n))
    }
}
