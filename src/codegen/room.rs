//! Rows of local tensors with room for whole vectors.
//!
//! The iterations of a vector loop that fill no register are one vector with fewer lanes that
//! count. Tensors that others see are read and written under a mask, if they are in the cache: one
//! that a mask finds elsewhere costs processors more than several shorter vectors. Rows of local
//! tensors are made longer, so that what lies behind their elements can be overwritten. So tiles
//! stay in registers, and no load waits for a masked store.

use super::lanes::{Chosen, LARGEST, elem_of, trips};
use crate::analysis::bounds::Bounds;
use crate::ir::{Affine, Fill, Index, Loop, Name, Tensor, Tree};
use std::collections::{HashMap, HashSet};

/// The most bytes of a tensor that is in the cache after its first use: 1 MiB.
const MAX_NEAR: u64 = 1 << 20;

/// How many elements of their rows local tensors use, from the first one on, and what is fetched
/// before it is used.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    used: HashMap<Name, i64>,
    fetched: HashSet<Name>,
}

impl Rows {
    fn of(trees: &[Tree]) -> Rows {
        let mut rows = Rows::default();
        rows.trees(trees, &Bounds::default());
        rows
    }

    fn trees(&mut self, trees: &[Tree], around: &Bounds) {
        for tree in trees {
            match tree {
                Tree::Local(tensor) => {
                    self.used
                        .extend(tensor.name().map(|name| (name.clone(), 0)));
                }
                Tree::Loop(l) => {
                    let fetched = l.hints.prefetch.iter().map(|fetch| fetch.tensor.clone());
                    self.fetched.extend(fetched);
                    let mut inside = around.clone();
                    inside.enter(l);
                    self.trees(&l.body, &inside);
                }
                Tree::Stmt(s) => {
                    self.access(&s.target, &s.index, around);
                    s.value.for_each_access(&mut |tensor, index| match index {
                        Index::At(index) => self.access(tensor, index, around),
                        _ => self.all(tensor),
                    });
                }
                Tree::Fill(fill) => self.fill(fill, around),
            }
        }
    }

    fn access(&mut self, tensor: &Tensor, index: &[Affine], around: &Bounds) {
        match index.last().and_then(|last| around.interval(last)) {
            Some((_, last)) => self.at_least(tensor, last.saturating_add(1)),
            None => self.all(tensor),
        }
    }

    fn fill(&mut self, fill: &Fill, around: &Bounds) {
        let last = fill.region.last().and_then(|(low, extent)| {
            let (_, low) = around.interval(low)?;
            low.checked_add(i64::try_from(*extent).ok()?)
        });
        match last {
            Some(end) => self.at_least(&fill.target, end),
            None => self.all(&fill.target),
        }
    }

    fn all(&mut self, tensor: &Tensor) {
        self.at_least(tensor, row(tensor));
    }

    fn at_least(&mut self, tensor: &Tensor, used: i64) {
        if let Some(known) = tensor.name().and_then(|name| self.used.get_mut(name)) {
            *known = used.max(*known);
        }
    }

    /// Whether a tensor is in the cache when it is used.
    pub(super) fn are_near(&self, tensor: &Tensor) -> bool {
        let bytes = tensor
            .shape()
            .elements()
            .saturating_mul(tensor.elem().size() as u64);
        let known = |name| self.used.contains_key(name) || self.fetched.contains(name);
        bytes <= MAX_NEAR || tensor.name().is_some_and(known)
    }

    /// Whether lanes from a multiple of their number on, up to the one that iteration `trips` would
    /// be in, belong to a row of a local tensor, and those from `trips` on are of no use.
    pub(super) fn hold(&self, tensor: &Tensor, index: &[Affine], lane: &Name, trips: i64) -> bool {
        let used = tensor.name().and_then(|name| self.used.get(name));
        let lanes = LARGEST / tensor.elem().size() as i64;
        index.last() == Some(&Affine::iterator(lane.clone()))
            && used.is_some_and(|used| *used <= trips)
            && up(trips, lanes) <= row(tensor)
    }
}

/// Trees whose local tensors have longer rows where a vector loop ends within a vector, and how
/// much of the rows is used.
pub(super) fn with_room(trees: &[Tree], chosen: &Chosen) -> (Vec<Tree>, Rows) {
    let rows = Rows::of(trees);
    let mut found = Vec::new();
    narrow(trees, chosen, &rows, &mut Vec::new(), &mut found);
    let wide = |tensor: &Tensor| match found.iter().find(|(narrow, _)| narrow == tensor) {
        Some((_, wide)) => wide.clone(),
        None => tensor.clone(),
    };
    match found.is_empty() {
        true => (trees.to_vec(), rows),
        false => (trees.iter().map(|t| t.map_tensors(&wide)).collect(), rows),
    }
}

/// The iterations of a vector loop that fill no vector, if they are better off as a part of one than
/// as shorter vectors.
pub(super) fn rest(l: &Loop) -> Option<i64> {
    let lanes = LARGEST / elem_of(l).filter(|_| l.lanes.is_none())?.size() as i64;
    let trips = trips(l)
        .filter(|_| matches!(l.range.lower.as_slice(), [low] if low.as_constant() == Some(0)))?;
    let rest = trips % lanes;
    (rest.count_ones() > 1).then_some(rest)
}

/// Collects the local tensors of which vectors touch more than their rows hold, with the extents
/// that their rows need.
fn narrow(
    trees: &[Tree],
    chosen: &Chosen,
    rows: &Rows,
    locals: &mut Vec<Tensor>,
    found: &mut Vec<(Tensor, Tensor)>,
) {
    let outside = locals.len();
    for tree in trees {
        match tree {
            Tree::Local(tensor) => locals.push(tensor.clone()),
            Tree::Loop(l) if chosen.is_vector(l) => {
                let Some(trips) = rest(l).and(trips(l)) else {
                    continue;
                };
                let mut look = |tensor: &Tensor, index: &[Affine]| {
                    let extent = up(trips, LARGEST / tensor.elem().size() as i64);
                    let wide = tensor.with_rows(extent.unsigned_abs());
                    let gains = row(tensor) < extent && locals.contains(tensor);
                    let known = found.iter().any(|(narrow, _)| narrow == tensor);
                    if gains && !known && rows.hold(&wide, index, &l.name, trips) {
                        found.push((tensor.clone(), wide));
                    }
                };
                for tree in &l.body {
                    if let Tree::Stmt(s) = tree {
                        look(&s.target, &s.index);
                        s.value.for_each_access(&mut |tensor, index| {
                            if let Index::At(index) = index {
                                look(tensor, index);
                            }
                        });
                    }
                }
            }
            Tree::Loop(l) => narrow(&l.body, chosen, rows, locals, found),
            Tree::Stmt(_) | Tree::Fill(_) => {}
        }
    }
    locals.truncate(outside);
}

/// The extent of a tensor's last dimension.
fn row(tensor: &Tensor) -> i64 {
    let extent = tensor.shape().extents().last().copied().unwrap_or(1);
    i64::try_from(extent).unwrap_or(i64::MAX)
}

/// The least multiple of `by` that is no less than `number`.
fn up(number: i64, by: i64) -> i64 {
    number.saturating_add(by - 1) / by * by
}
