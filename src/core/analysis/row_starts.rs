//! Where the entries of the rows of a loop begin, so that threads can get equal numbers of them.

use crate::ir::{Lookup, Loop, Order, Tree};

/// The first entry `ptr[i + c]` of the row of an iteration, in a loop over rows `i`: a loop inside runs
/// over `ptr[i + c]..ptr[i + c + 1]`, and `ptr` increases. `None` if there is no such loop.
pub fn row_starts(l: &Loop) -> Option<&Lookup> {
    fn inside<'a>(trees: &'a [Tree], is_of_row: &dyn Fn(&Lookup) -> bool) -> Option<&'a Lookup> {
        trees.iter().filter_map(Tree::as_loop).find_map(|inner| {
            let segment = inner.range.within.as_ref();
            let first = segment.and_then(|segment| {
                let first = segment.of_row()?;
                let next = first.index.first()?.plus_constant(1);
                (first.tensor == segment.upper.tensor && segment.upper.index == [next])
                    .then_some(first)
            });
            first
                .filter(|first| is_of_row(first))
                .or_else(|| inside(&inner.body, is_of_row))
        })
    }
    inside(&l.body, &|first| {
        let [index] = first.index.as_slice() else {
            return false;
        };
        let entries = first.tensor.entries();
        index.coefficient(&l.name) == 1
            && entries.is_some_and(|entries| entries.order == Order::Increasing)
            && l.range.stride() == 1
    })
}
