//! Execution times of leaves.

use super::memory::iterator;
use super::program::Leaf;
use crate::poly::Linear;

/// A time stamp: the lexicographic order of time stamps is the order of execution. Coordinates that
/// are the same constant for all leaves are dropped, since each one slows proofs down.
pub(super) struct Clock {
    length: usize,
    kept: Vec<usize>,
}

impl Clock {
    pub(super) fn of<'l, 'a: 'l>(leaves: impl IntoIterator<Item = &'l Leaf<'a>>) -> Clock {
        Clock::inside(0, leaves)
    }

    /// Time within one iteration of the outermost `loops`, which surround all leaves.
    pub(super) fn inside<'l, 'a: 'l>(
        loops: usize,
        leaves: impl IntoIterator<Item = &'l Leaf<'a>>,
    ) -> Clock {
        let mut moments: Vec<Vec<Linear>> = leaves.into_iter().map(Leaf::moment).collect();
        let length = moments.iter().map(Vec::len).max().unwrap_or(0);
        for moment in &mut moments {
            moment.resize(length, Linear::from(0));
        }
        let differs = |k: &usize| {
            let mut column = moments.iter().map(|m| &m[*k]);
            let first = column.next();
            !first.is_some_and(Linear::is_constant) || column.any(|other| Some(other) != first)
        };
        // The number of the nest, then the position and the iterator of each loop.
        let first = match loops {
            0 => 0,
            loops => 2 * loops + 1,
        };
        Clock {
            length,
            kept: (first..length).filter(differs).collect(),
        }
    }

    /// The time of a leaf, as a function of the iterators around it.
    pub(super) fn moment(&self, leaf: &Leaf) -> Vec<Linear> {
        let mut moment = leaf.moment();
        moment.resize(self.length, Linear::from(0));
        self.kept.iter().map(|k| moment[*k].clone()).collect()
    }

    pub(super) fn coordinates(&self) -> usize {
        self.kept.len()
    }
}

impl Leaf<'_> {
    /// The time of the leaf: positions in sequences alternate with iterators.
    fn moment(&self) -> Vec<Linear> {
        let mut moment = vec![Linear::from(self.place[0] as i64)];
        for (d, place) in self.place[1..].iter().enumerate() {
            moment.push(Linear::from(*place as i64));
            if d < self.loops.len() {
                moment.push(Linear::from(iterator(d).as_str()));
            }
        }
        moment
    }
}
