//! Pads the rows of local tensors to whole vectors.
//!
//! ```rhai
//! nest(`
//! f64 y[14], x[14]
//! local f64 T[14]
//! vector for j in 0..14
//!   T[j] = x[j]
//! vector for j_2 in 0..14
//!   y[j_2] = T[j_2] * T[j_2]
//! `)
//! ```
//!
//! Before:
//!
//! ```text
//! local f64 T[14] on the stack
//! for j in 0..14, in lanes of the compiler
//!   T[j] = x[j]
//! for j_2 in 0..14, in lanes of the compiler
//!   y[j_2] = T[j_2] * T[j_2]
//! ```
//!
//! After:
//!
//! ```text
//! local f64 T[16] on the stack
//! for j in 0..14, in lanes of the compiler
//!   T[j] = x[j]
//! for j_2 in 0..14, in lanes of the compiler
//!   y[j_2] = T[j_2] * T[j_2]
//! ```
//!
//! The remainder of a vector loop is one partial vector, some of whose lanes are dead. In global
//! tensors it is read and written under a mask, if they are in the cache. Outside of the cache, a
//! mask costs processors more than several shorter vectors. But where sums in registers read elements
//! again and again, shorter vectors would add as often as whole ones, each for fewer lanes. Rows of
//! local tensors are padded, so that dead lanes can be overwritten. Tiles then stay in registers, and
//! no load waits for a masked store.
//!
//! If all lanes are in local tensors, the remainder is a partial vector even if one shorter vector
//! would hold it: that costs nothing, and operands that all lanes share are loaded once.

use super::choose_vectors::Chosen;
use super::lanes::{elem_of, trips, widest};
use super::stream::Streams;
use crate::analysis::bounds::Bounds;
use crate::analysis::outside::may_leave;
use crate::ir::{Affine, Index, Loop, Name, Nest, Range, Stmt, Tensor, Tree};
use crate::target::Target;
use std::collections::{HashMap, HashSet};

/// The nest with padded rows of local tensors, if a vector loop ends within a vector. Vectors are
/// chosen later, for the padded rows.
pub(super) fn pad_rows(nest: &Nest, target: &Target) -> Nest {
    let trees = nest.trees();
    let chosen = Chosen::of(nest, target);
    let streams = Streams::of(trees, &nest.locals(), &chosen);
    let rows = Rows::of(nest, &chosen);
    let mut found = Vec::new();
    too_short(
        trees,
        (&chosen, &streams),
        &rows,
        &mut Vec::new(),
        &mut found,
    );
    if found.is_empty() {
        return nest.clone();
    }
    let padded = |tensor: &Tensor| match found.iter().find(|(short, _)| short == tensor) {
        Some((_, long)) => long.clone(),
        None => tensor.clone(),
    };
    nest.with_trees(trees.iter().map(|t| t.map_tensors(&padded)).collect())
}

/// The most vectors of a loop that are computed although the loop may end before them.
const MAX_MASKED: i64 = 4;

/// A kernel that reads elements of memory less often than this waits for memory.
const MIN_USES: i64 = 16;

/// For each local tensor and vector loop in its scope, which elements of a row are read; and which
/// tensors are prefetched.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) target: Target,
    locals: HashSet<Name>,
    /// By tensor and vector loop in its scope: another scope may declare a tensor of that name.
    read: HashMap<(Name, Name), Reads>,
    fetched: HashSet<Name>,
    /// The register copies, with the loops that copy.
    held: HashSet<(Name, Name)>,
    /// The vector loops that read what all lanes share, and may do so only if they iterate.
    bound: HashSet<Name>,
    /// By tensor and vector loop: the tensors whose elements are read again and again around the loop.
    reread: HashSet<(Name, Name)>,
}

impl Rows {
    pub(super) fn of(nest: &Nest, chosen: &Chosen) -> Rows {
        let mut rows = Rows {
            target: chosen.target().clone(),
            locals: HashSet::new(),
            read: HashMap::new(),
            fetched: HashSet::new(),
            held: chosen.held().clone(),
            bound: HashSet::new(),
            reread: HashSet::new(),
        };
        rows.trees(nest.trees(), chosen, &Bounds::default());
        let mut around: Vec<&Loop> = nest.context().iter().collect();
        rows.vectors(nest.trees(), chosen, &mut around);
        rows
    }

    /// Finds the vector loops that may read outside of a tensor if they run without iterations, and
    /// the tensors that are read again and again.
    fn vectors<'t>(&mut self, trees: &'t [Tree], chosen: &Chosen, around: &mut Vec<&'t Loop>) {
        for l in trees.iter().filter_map(Tree::as_loop) {
            if chosen.is_vector(l) {
                let mut leaves = false;
                for tree in &l.body {
                    let Tree::Stmt(s) = tree else { continue };
                    s.value.for_each_access(&mut |tensor, index| {
                        if let Index::At(index) = index {
                            let moves = index.iter().any(|a| a.mentions(&l.name));
                            leaves |= !moves && may_leave(tensor, index, around);
                            if let Some(name) = tensor.name()
                                && uses(index, around) >= MIN_USES
                            {
                                self.reread.insert((name.clone(), l.name.clone()));
                            }
                        }
                    });
                }
                if leaves {
                    self.bound.insert(l.name.clone());
                }
                continue;
            }
            around.push(l);
            self.vectors(&l.body, chosen, around);
            around.pop();
        }
    }

    fn trees(&mut self, trees: &[Tree], chosen: &Chosen, around: &Bounds) {
        for (k, tree) in trees.iter().enumerate() {
            match tree {
                Tree::Local(tensor) => {
                    let Some(name) = tensor.name() else { continue };
                    self.locals.insert(name.clone());
                    let scope = &trees[k + 1..];
                    let mut lanes = Vec::new();
                    for_each_vector(scope, chosen, &mut |l| {
                        if touches_row(l, name) {
                            lanes.push(&l.name);
                        }
                    });
                    if !lanes.is_empty() {
                        let mut reads = Reads {
                            most: read(name, scope, around),
                            ..Reads::default()
                        };
                        reads.collect(name, scope, &mut Vec::new());
                        let of = lanes.into_iter().map(|lane| (name.clone(), lane.clone()));
                        self.read.extend(of.map(|key| (key, reads.clone())));
                    }
                }
                Tree::Loop(l) => {
                    let fetched = l.hints.prefetch.iter().map(|fetch| fetch.tensor.clone());
                    self.fetched.extend(fetched);
                    self.trees(&l.body, chosen, &inside(l, around));
                }
                Tree::Stmt(_) | Tree::Fill(_) => {}
            }
        }
    }

    /// Whether a tensor is in the cache when it is used.
    pub(super) fn are_near(&self, tensor: &Tensor) -> bool {
        let bytes = tensor
            .shape()
            .elements()
            .saturating_mul(tensor.elem().size() as u64);
        let known = |name| self.locals.contains(name) || self.fetched.contains(name);
        bytes <= self.target.near() || tensor.name().is_some_and(known)
    }

    /// Whether a vector loop reads each element of a tensor so often that it does not wait for memory.
    pub(super) fn are_reread(&self, tensor: &Tensor, lane: &Name) -> bool {
        let key = tensor.name().map(|name| (name.clone(), lane.clone()));
        key.is_some_and(|key| self.reread.contains(&key))
    }

    /// Whether a row of a local tensor has room for all lanes of the last vector of `trips`
    /// iterations.
    pub(super) fn covers(
        &self,
        tensor: &Tensor,
        index: &[Affine],
        lane: &Name,
        trips: i64,
    ) -> bool {
        let lanes = widest(&self.target) / tensor.elem().size() as i64;
        self.is_row(tensor, index, lane) && round_up(trips, lanes) <= row(tensor)
    }

    /// Whether the row also has dead elements from `trips` on, so that they can be overwritten.
    pub(super) fn may_clobber(
        &self,
        tensor: &Tensor,
        index: &[Affine],
        lane: &Name,
        trips: i64,
    ) -> bool {
        let key = tensor.name().map(|name| (name.clone(), lane.clone()));
        let reads = key.and_then(|key| self.read.get(&key));
        reads.is_some_and(|reads| reads.most <= trips) && self.covers(tensor, index, lane, trips)
    }

    /// Whether nothing reads elements of a row behind the end of a loop, as long as the row lives.
    pub(super) fn are_read_before(&self, tensor: &Tensor, l: &Loop) -> bool {
        let key = tensor.name().map(|name| (name.clone(), l.name.clone()));
        let Some(reads) = key.and_then(|key| self.read.get(&key)) else {
            return false;
        };
        // A later iteration may end later, and find what this one leaves behind its end.
        let ends = l.range.upper.iter();
        if ends
            .clone()
            .any(|end| reads.loops.iter().any(|name| end.mentions(name)))
        {
            return false;
        }
        let number = |range: &Range| {
            let numbers = range.upper.iter().filter_map(Affine::as_constant);
            numbers.min().unwrap_or(i64::MAX)
        };
        let is_before = |range: &Range| {
            let mut open = ends.clone().filter(|end| end.as_constant().is_none());
            range.lower == l.range.lower
                && open.all(|end| range.upper.contains(end))
                && number(range) <= number(&l.range)
        };
        let mut ranges = reads.ranges.iter();
        ranges.all(|range| range.as_ref().is_some_and(is_before))
    }

    pub(super) fn is_row(&self, tensor: &Tensor, index: &[Affine], lane: &Name) -> bool {
        let local = tensor.name().is_some_and(|name| self.locals.contains(name));
        local
            && index
                .last()
                .is_some_and(|last| last.as_iterator() == Some(lane))
    }

    /// Whether a statement copies contiguous elements to registers, for other statements to read as
    /// a vector.
    pub(super) fn are_copied(&self, s: &Stmt, lane: &Name) -> bool {
        let key = s.target.name().map(|name| (name.clone(), lane.clone()));
        key.is_some_and(|key| self.held.contains(&key)) && self.is_row(&s.target, &s.index, lane)
    }

    /// The most iterations of a vector loop from 0 to a number that is known when it runs. `None`
    /// unless it touches rows of local tensors, and the target has masks for all else.
    pub(super) fn most(&self, l: &Loop) -> Option<i64> {
        let is_affine = l.range.within.is_none() && l.range.step == 1;
        let is_open = is_affine && trips(l).is_none() && l.lanes().is_none();
        let begins = matches!(l.range.lower.as_slice(), [low] if low.as_constant() == Some(0));
        let may_be_empty = !self.bound.contains(&l.name);
        if !is_open || !begins || !may_be_empty || !self.target.instructions.has_masks() {
            return None;
        }
        let mut most: Option<i64> = None;
        let mut see = |tensor: &Tensor, index: &[Affine]| {
            if self.is_row(tensor, index, &l.name) {
                most = Some(most.map_or(row(tensor), |most| most.min(row(tensor))));
            }
        };
        let mut are_masked = true;
        for tree in &l.body {
            let Tree::Stmt(s) = tree else { return None };
            see(&s.target, &s.index);
            are_masked &= s.update.is_none() || self.is_row(&s.target, &s.index, &l.name);
            s.value.for_each_access(&mut |tensor, index| {
                if let Index::At(index) = index {
                    see(tensor, index);
                }
            });
        }
        let lanes = widest(&self.target) / elem_of(l, &self.target)?.size() as i64;
        most.filter(|most| are_masked && round_up(*most, lanes) <= MAX_MASKED * lanes)
    }

    /// Whether all lanes of a loop are in rows of local tensors, or are copied there.
    fn are_lanes_of(&self, l: &Loop) -> bool {
        l.body.iter().all(|tree| {
            let Tree::Stmt(s) = tree else { return true };
            let mut all = self.is_row(&s.target, &s.index, &l.name);
            if self.are_copied(s, &l.name) {
                return true;
            }
            s.value.for_each_access(&mut |tensor, index| {
                if let Index::At(index) = index {
                    let moves = index.iter().any(|a| a.mentions(&l.name));
                    all &= !moves || self.is_row(tensor, index, &l.name);
                }
            });
            all
        })
    }
}

/// How often loops read an element that is read at `index`.
fn uses(index: &[Affine], around: &[&Loop]) -> i64 {
    let others = around
        .iter()
        .filter(|l| !index.iter().any(|a| a.mentions(&l.name)));
    others.filter_map(|l| trips(l)).fold(1, i64::saturating_mul)
}

fn for_each_vector<'t>(trees: &'t [Tree], chosen: &Chosen, see: &mut dyn FnMut(&'t Loop)) {
    for l in trees.iter().filter_map(Tree::as_loop) {
        if chosen.is_vector(l) {
            see(l);
        }
        for_each_vector(&l.body, chosen, see);
    }
}

/// Whether the lanes of a vector loop are contiguous in rows of a tensor.
fn touches_row(l: &Loop, tensor: &Name) -> bool {
    let is_row = |index: &[Affine]| {
        index
            .last()
            .is_some_and(|last| last.as_iterator() == Some(&l.name))
    };
    l.body.iter().any(|tree| {
        let Tree::Stmt(s) = tree else { return false };
        let mut touches = s.target.name() == Some(tensor) && is_row(&s.index);
        s.value.for_each_access(&mut |t, index| {
            if let Index::At(index) = index {
                touches |= t.name() == Some(tensor) && is_row(index);
            }
        });
        touches
    })
}

/// The reads of a local tensor in its scope.
#[derive(Clone, Debug, Default)]
struct Reads {
    /// How many leading elements of its rows are read.
    most: i64,
    /// The ranges of the loops that read along rows. `None` for other reads.
    ranges: Vec<Option<Range>>,
    /// All loops in the scope.
    loops: Vec<Name>,
}

impl Reads {
    fn collect<'t>(&mut self, tensor: &Name, trees: &'t [Tree], around: &mut Vec<&'t Loop>) {
        for tree in trees {
            match tree {
                Tree::Loop(l) => {
                    self.loops.push(l.name.clone());
                    around.push(l);
                    self.collect(tensor, &l.body, around);
                    around.pop();
                }
                Tree::Stmt(s) => {
                    let mut see = |t: &Tensor, index: &[Affine]| {
                        if t.name() == Some(tensor) {
                            let lane = index.last().and_then(Affine::as_iterator);
                            let l = around.iter().find(|l| Some(&l.name) == lane);
                            self.ranges.push(l.map(|l| l.range.clone()));
                        }
                    };
                    if s.update.is_some() {
                        see(&s.target, &s.index);
                    }
                    s.value.for_each_access(&mut |t, index| match index {
                        Index::At(index) => see(t, index),
                        Index::Unset | Index::Forbidden => see(t, &[]),
                    });
                }
                Tree::Fill(_) | Tree::Local(_) => {}
            }
        }
    }
}

/// Whether anything in a tree reads a tensor.
fn reads(tree: &Tree, tensor: &Name) -> bool {
    match tree {
        Tree::Loop(l) => l.body.iter().any(|tree| reads(tree, tensor)),
        Tree::Stmt(s) => {
            let mut reads = false;
            s.value
                .for_each_tensor(&mut |t| reads |= t.name() == Some(tensor));
            reads
        }
        Tree::Fill(_) | Tree::Local(_) => false,
    }
}

/// How many leading elements of a tensor's rows are read.
fn read(tensor: &Name, trees: &[Tree], around: &Bounds) -> i64 {
    let most = |tree: &Tree| match tree {
        Tree::Loop(_) if !reads(tree, tensor) => 0,
        Tree::Loop(l) => read(tensor, &l.body, &inside(l, around)),
        Tree::Stmt(s) => {
            let mut most = 0;
            s.value.for_each_access(&mut |t, index| {
                if t.name() != Some(tensor) {
                    return;
                }
                let last = match index {
                    Index::At(index) => index.last().and_then(|last| around.interval(last)),
                    _ => None,
                };
                let end = last.map_or(row(t), |(_, last)| last.saturating_add(1));
                most = most.max(end.min(row(t)));
            });
            most
        }
        Tree::Fill(_) | Tree::Local(_) => 0,
    };
    trees.iter().map(most).max().unwrap_or(0)
}

fn inside(l: &Loop, around: &Bounds) -> Bounds {
    let mut inside = around.clone();
    inside.enter(l);
    inside
}

/// The remainder of a vector loop, if a partial vector is better for it than shorter vectors.
pub(super) fn rest(l: &Loop, rows: &Rows) -> Option<i64> {
    let lanes = widest(&rows.target)
        / elem_of(l, &rows.target)
            .filter(|_| l.lanes().is_none())?
            .size() as i64;
    let trips = trips(l)
        .filter(|_| matches!(l.range.lower.as_slice(), [low] if low.as_constant() == Some(0)))?;
    let rest = trips % lanes;
    let local = rest > 0 && trips > lanes && rows.are_lanes_of(l);
    (rest.count_ones() > 1 || local).then_some(rest)
}

/// Collects the local tensors whose rows are too short for the vectors that touch them, with the
/// padded tensors. Rows that are copied as one block are not padded.
fn too_short(
    trees: &[Tree],
    (chosen, streams): (&Chosen, &Streams),
    rows: &Rows,
    locals: &mut Vec<Tensor>,
    found: &mut Vec<(Tensor, Tensor)>,
) {
    let outside = locals.len();
    for tree in trees {
        match tree {
            Tree::Local(tensor) => locals.push(tensor.clone()),
            Tree::Loop(l) if chosen.is_vector(l) => {
                let Some(trips) = rest(l, rows).and(trips(l)).or_else(|| rows.most(l)) else {
                    continue;
                };
                let mut look = |tensor: &Tensor, index: &[Affine]| {
                    let extent =
                        round_up(trips, widest(&rows.target) / tensor.elem().size() as i64);
                    let Ok(wide) = tensor.with_rows(extent.unsigned_abs()) else {
                        return;
                    };
                    let gains = row(tensor) < extent && locals.contains(tensor);
                    let known = found.iter().any(|(short, _)| short == tensor);
                    if gains && !known && rows.may_clobber(&wide, index, &l.name, trips) {
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
            Tree::Loop(l) if streams.block(l, chosen).is_some() => {}
            Tree::Loop(l) => too_short(&l.body, (chosen, streams), rows, locals, found),
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

/// The least multiple of `by` that is at least `number`.
pub(super) fn round_up(number: i64, by: i64) -> i64 {
    number.saturating_add(by - 1) / by * by
}
