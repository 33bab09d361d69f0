//! The iterations of a vector loop that fill no vector: whether they are a part of a whole one, and
//! what its other lanes hold.
//!
//! All lanes of a vector are computed with, those that count and the others. In local tensors the
//! others are elements behind the end of a row. They must have been set, too: what the stack happens
//! to hold may be subnormal, which takes some processors a hundred times as long. They are zeros, or
//! what becomes of zeros: where that has no value (`0 / 0`), shorter vectors compute what counts and
//! nothing else, so that callers who trap exceptions of floating point get none that mean nothing.

use super::lanes::{Chosen, is_uniform, trips, widest};
use super::power;
use super::room::{Rows, rest, up};
use super::stream::Streams;
use crate::ir::{
    Affine, BinaryOp, Expr, Fill, Function, Index, Loop, Name, Node, Stmt, Tensor, Tree,
};
use std::collections::HashSet;

/// How the last vector of a loop is a part of a whole one.
pub(super) struct Part {
    /// The iterations that it stands for.
    pub(super) rest: i64,
    /// Whether its lanes are stored one by one.
    pub(super) one_by_one: bool,
}

impl Part {
    /// `None` where shorter vectors are better, or where nothing is left of the iterations.
    pub(super) fn of(l: &Loop, rows: &Rows, streams: &Streams) -> Option<Part> {
        let (rest, trips) = (rest(l, rows)?, trips(l)?);
        let ending = Ending {
            l,
            trips,
            rest,
            rows,
            streams,
        };
        if ending.has_poles() || ending.has_other_types() {
            return None;
        }
        let one_by_one = ending.may_be_put();
        (one_by_one || ending.may_be_masked()).then_some(Part { rest, one_by_one })
    }
}

struct Ending<'a> {
    l: &'a Loop,
    trips: i64,
    rest: i64,
    rows: &'a Rows,
    streams: &'a Streams,
}

impl Ending<'_> {
    /// Whether zeros in other lanes may have no value.
    fn has_poles(&self) -> bool {
        self.l.body.iter().any(|tree| match tree {
            Tree::Stmt(s) => {
                let divides = s.update.is_some_and(has_pole) && !is_uniform(&s.value, &self.l.name);
                divides || has_poles(&s.value, &self.l.name)
            }
            _ => false,
        })
    }

    /// Whether lanes read elements of another type than they set.
    fn has_other_types(&self) -> bool {
        self.l.body.iter().any(|tree| match tree {
            Tree::Stmt(s) => {
                let same = |tensor: &Tensor, _: &[Affine]| tensor.elem() == s.target.elem();
                !all_read(s, &self.l.name, same)
            }
            _ => false,
        })
    }

    /// No store past the caches has a mask, what is loaded after a masked store waits until that is in
    /// the cache, as sums in memory would, and masks are for what is in the cache, and for what shorter
    /// vectors do not hold.
    fn may_be_masked(&self) -> bool {
        let Ending { l, trips, rows, .. } = *self;
        let masks = rows.target.instructions.has_masks() && self.rest.count_ones() > 1;
        let fits = l.body.iter().all(|tree| match tree {
            Tree::Stmt(s) => {
                let held = rows.hold(&s.target, &s.index, &l.name, trips);
                let copied = rows.are_copied(s, &l.name);
                let near = rows.are_near(&s.target)
                    && all_read(s, &l.name, |tensor, index| {
                        copied
                            || rows.reach(tensor, index, &l.name, trips)
                            || masks && rows.are_near(tensor)
                    });
                near && (held || masks && s.update.is_none())
            }
            _ => true,
        });
        fits && self.streams.first_of(l).is_none()
    }

    /// Whether the vector may be computed as a whole and stored lane by lane: what registers hold is
    /// not worth to be computed again in shorter vectors, and reading parts of what is stored there
    /// waits for all stores before, those past the caches, too.
    fn may_be_put(&self) -> bool {
        let Ending { l, trips, rows, .. } = *self;
        let is_computed = |s: &Stmt| {
            let held = all_read(s, &l.name, |tensor, index| {
                rows.reach(tensor, index, &l.name, trips)
            });
            held && s.update.is_none() && !matches!(s.value.node(), Node::Access { .. })
        };
        let all = l.body.iter().all(|tree| match tree {
            Tree::Stmt(s) => is_computed(s),
            _ => false,
        });
        all && self.rest.count_ones() > 1 && self.streams.first_of(l).is_some()
    }
}

/// Whether a value has a quotient, a logarithm or a power of what differs from lane to lane.
fn has_poles(value: &Expr, lane: &Name) -> bool {
    let own = match value.node() {
        Node::Binary { op, right, .. } => match op {
            BinaryOp::Pow => power::has_pole(right) && !is_uniform(value, lane),
            op => has_pole(*op) && !is_uniform(right, lane),
        },
        Node::Apply { function, .. } => *function == Function::Log && !is_uniform(value, lane),
        _ => false,
    };
    own || value.children().iter().any(|child| has_poles(child, lane))
}

fn has_pole(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Div | BinaryOp::Pow)
}

/// Whether all that a statement reads in other elements for each lane is like this.
fn all_read(s: &Stmt, lane: &Name, is: impl Fn(&Tensor, &[Affine]) -> bool) -> bool {
    let mut all = true;
    s.value.for_each_access(&mut |tensor, index| {
        if let Index::At(index) = index {
            let moves = index.iter().any(|a| a.mentions(lane));
            all &= !moves || is(tensor, index);
        }
    });
    all
}

/// The local tensors that are read in lanes which not all that sets their rows sets, too.
pub(super) fn unset_lanes(
    trees: &[Tree],
    chosen: &Chosen,
    rows: &Rows,
    streams: &Streams,
) -> HashSet<Name> {
    let lanes = Lanes {
        chosen,
        rows,
        streams,
    };
    let mut found = HashSet::new();
    lanes.collect(trees, &mut found);
    found
}

struct Lanes<'a> {
    chosen: &'a Chosen,
    rows: &'a Rows,
    streams: &'a Streams,
}

impl Lanes<'_> {
    fn collect(&self, trees: &[Tree], found: &mut HashSet<Name>) {
        for (k, tree) in trees.iter().enumerate() {
            match tree {
                Tree::Local(tensor) => {
                    let scope = &trees[k + 1..];
                    let read = self.read(tensor, scope);
                    if read > 0 && !self.all_set(tensor, read, scope, None) {
                        found.extend(tensor.name().cloned());
                    }
                }
                Tree::Loop(l) => self.collect(&l.body, found),
                Tree::Stmt(_) | Tree::Fill(_) => {}
            }
        }
    }

    /// The iterations of the longest loop whose last vector reaches behind what counts in a row of a
    /// tensor; 0 if there is none.
    fn read(&self, tensor: &Tensor, trees: &[Tree]) -> i64 {
        let of_tree = |tree: &Tree| {
            let Tree::Loop(l) = tree else { return 0 };
            let inside = self.read(tensor, &l.body);
            let part = || Part::of(l, self.rows, self.streams).and(trips(l));
            let Some(trips) = Some(l)
                .filter(|l| self.chosen.is_vector(l))
                .and_then(|_| part())
            else {
                return inside;
            };
            let reaches = |t: &Tensor, index: &[Affine]| {
                t.name() == tensor.name() && self.rows.reach(t, index, &l.name, trips)
            };
            let reads = l.body.iter().any(|tree| match tree {
                Tree::Stmt(s) => {
                    let mut reads = s.update.is_some() && reaches(&s.target, &s.index);
                    s.value.for_each_access(&mut |t, index| {
                        if let Index::At(index) = index {
                            reads |= reaches(t, index);
                        }
                    });
                    reads
                }
                _ => false,
            });
            if reads { inside.max(trips) } else { inside }
        };
        trees.iter().map(of_tree).max().unwrap_or(0)
    }

    /// Whether all that sets elements of a tensor sets the lanes behind the first `read` of their
    /// rows, too.
    fn all_set(&self, tensor: &Tensor, read: i64, trees: &[Tree], around: Option<&Loop>) -> bool {
        let lanes = widest(&self.rows.target) / tensor.elem().size() as i64;
        let sets = |s: &Stmt| {
            let Some((l, trips)) = around
                .filter(|l| self.chosen.is_vector(l) && l.lanes.is_none())
                .and_then(|l| Some((l, trips(l)?)))
            else {
                return false;
            };
            let whole = self.rows.is_row(tensor, &s.index, &l.name) && trips >= up(read, lanes);
            let part = || {
                trips >= read
                    && self.rows.hold(&s.target, &s.index, &l.name, trips)
                    && Part::of(l, self.rows, self.streams).is_some_and(|part| !part.one_by_one)
            };
            whole || part()
        };
        let fills = |fill: &Fill| {
            let row = fill.region.last();
            row.is_some_and(|(low, extent)| {
                low.as_constant() == Some(0) && *extent >= up(read, lanes).unsigned_abs()
            })
        };
        trees.iter().all(|tree| match tree {
            Tree::Loop(l) => self.all_set(tensor, read, &l.body, Some(l)),
            Tree::Stmt(s) => s.target.name() != tensor.name() || s.update.is_some() || sets(s),
            Tree::Fill(fill) => fill.target.name() != tensor.name() || fills(fill),
            Tree::Local(_) => true,
        })
    }
}
