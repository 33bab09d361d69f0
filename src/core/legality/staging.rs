//! Removes buffers from a program: statements access the mirrored tensor directly.
//!
//! ```text
//! local T[8]                           (nothing)
//! for l in 0..8                        (nothing)
//!   T[l] = A[8*b + l]
//! for i in 8*b..8*b + 8                for i in 8*b..8*b + 8
//!   T[i - 8*b] += B[i]                   A[i] += B[i]
//! for l in 0..8                        (nothing)
//!   A[8*b + l] = T[l]
//! ```
//!
//! Both programs compute the same final contents of all other tensors. The result is often the
//! definition in another order, which is decided much faster than a dataflow question.
//!
//! Each iteration of the loops around the declaration has its own buffer, so the conditions apply
//! within one such iteration. All copies into and out of the buffer agree on the tensor element that
//! each buffer element mirrors, and:
//! - every read of the buffer follows a copy into it, or a write;
//! - copies into the buffer come before all other writes to it;
//! - all other values of the buffer are copied out afterwards. One fill may set more elements: it
//!   becomes a fill of the elements that are copied out;
//! - the buffer elements that get values mirror distinct elements;
//! - while the buffer is live, nothing else writes a mirrored element;
//! - nothing else reads a mirrored element after the buffer got another value for it.
//!
//! If these conditions cannot be shown, the buffer stays. This says nothing about the program.

use super::buffers::{Buffer, Role, Use};
use super::constraints::{bounded, linear};
use super::memory::{element, iterator};
use super::pairs::{Iteration, before, iterations};
use super::program::{Leaf, Program, What, accesses};
use super::strips::without_strips;
use crate::analysis::facts::is_nonnegative;
use crate::ir::{Affine, Fill, Name, Stmt};
use crate::poly::{Error, Linear, Piece, Relation, UnionSet};
use std::cmp::Reverse;

/// A program without one of its buffers.
pub(super) struct Unstaged<'a> {
    leaves: Vec<Change>,
    label: &'a str,
    scope: Vec<usize>,
}

/// The replacement of a leaf.
enum Change {
    Same,
    /// The leaf only copied between the buffer and the tensor.
    Gone,
    Stmt(Stmt),
    Fill(Fill),
    /// A fill of one element, in the loops around the leaf with this number. It is in a sequence of
    /// this depth.
    Each(Fill, usize, usize),
}

/// A program without one of its buffers. `None` if it has none that can be removed.
pub(super) fn unstaged<'a>(program: &Program<'a>) -> Result<Option<Unstaged<'a>>, Error> {
    let mut found: Vec<Buffer> = Vec::new();
    for leaf in &program.leaves {
        for (label, scope) in &leaf.locals {
            if !found.iter().any(|b| b.label == *label && b.scope == *scope) {
                found.extend(Buffer::of(program, label, scope));
            }
        }
    }
    // Buffers of other buffers come first.
    found.sort_by_key(|buffer| Reverse(buffer.loops()));
    for buffer in found {
        if !buffer.is_set_before()? {
            continue;
        }
        let store = match buffer.is_transparent()? {
            true => None,
            false => match buffer.is_filled_in_excess()? {
                None => continue,
                store => store,
            },
        };
        if let Some(leaves) = buffer.removed(store) {
            return Ok(Some(Unstaged {
                leaves,
                label: buffer.label,
                scope: buffer.scope,
            }));
        }
    }
    Ok(None)
}

impl<'a> Unstaged<'a> {
    /// The program itself; `of` is the one with the buffer.
    pub(super) fn program<'b>(&'b self, of: &Program<'b>) -> Program<'b>
    where
        'a: 'b,
    {
        let leaves = of.leaves.iter().zip(&self.leaves);
        let leaves = leaves.filter_map(|(leaf, change)| {
            let what = match change {
                Change::Same => leaf.what,
                Change::Gone => return None,
                Change::Stmt(s) => What::Stmt(s),
                Change::Fill(fill) | Change::Each(fill, ..) => What::Fill(fill),
            };
            let mut leaf = Leaf {
                what,
                ..leaf.clone()
            };
            if let Change::Each(_, like, depth) = change {
                leaf.loops.clone_from(&of.leaves[*like].loops);
                leaf.place.truncate(depth + 1);
                leaf.place.resize(leaf.loops.len() + 2, 0);
            }
            let is_gone =
                |(label, scope): &(&str, Vec<usize>)| *label == self.label && *scope == self.scope;
            leaf.locals.retain(|local| !is_gone(local));
            Some(leaf)
        });
        of.with_leaves(leaves.collect())
    }
}

impl<'a> Buffer<'_, 'a> {
    /// The replacement of each leaf. If `store` is given, a fill sets only the elements that it copies
    /// out.
    fn removed(&self, store: Option<&Use<'_, 'a>>) -> Option<Vec<Change>> {
        let mut leaves: Vec<Change> = self.program.leaves.iter().map(|_| Change::Same).collect();
        for Use { leaf, k, role } in &self.uses {
            leaves[*k] = match (role, leaf.what) {
                (Role::Load | Role::Store, _) => Change::Gone,
                (_, What::Stmt(s)) => Change::Stmt(self.direct(leaf, s)),
                (_, What::Fill(fill)) => match store.map(|store| (store.k, store.leaf.what)) {
                    Some((like, What::Stmt(store))) => {
                        let one = |at: &Affine| (at.clone(), Affine::constant(1));
                        let each = Fill {
                            target: self.of.clone(),
                            region: store.index.iter().map(one).collect(),
                            ..(*fill).clone()
                        };
                        Change::Each(each, like, self.scope.len())
                    }
                    _ => Change::Fill(self.direct_fill(fill)?),
                },
            };
        }
        Some(leaves)
    }

    /// Whether statements may access the mirrored tensor directly, if they read only what was set.
    fn is_transparent(&self) -> Result<bool, Error> {
        Ok(self.is_stored(&|_| true)? && self.mirrors()?)
    }

    /// The copy out of a buffer that only one fill sets. But for some elements that have no other
    /// use, statements might access the mirrored tensor directly.
    fn is_filled_in_excess(&self) -> Result<Option<&Use<'_, 'a>>, Error> {
        let is_fill = |u: &Use| matches!(u.leaf.what, What::Fill(_));
        let only = |role: Role| {
            let mut uses = self.uses.iter().filter(|u| u.role == role);
            uses.next().filter(|_| uses.next().is_none())
        };
        let (Some(fill), Some(store)) = (only(Role::Set), only(Role::Store)) else {
            return Ok(None);
        };
        // Its loops become those of the copy.
        let tree = &fill.leaf.place[..=self.scope.len()];
        let mut others = self.program.leaves.iter().enumerate();
        let is_apart = others.all(|(k, leaf)| k == fill.k || !leaf.place.starts_with(tree));
        let fits = is_fill(fill)
            && is_apart
            && self.places(|role| role == Role::Load).next().is_none()
            && self.is_stored(&|u| !is_fill(u))?
            && self.mirrors()?;
        Ok(fits.then_some(store))
    }

    /// Whether the other conditions hold, beside that values are copied out.
    fn mirrors(&self) -> Result<bool, Error> {
        Ok(self.copies_come_first_and_last()
            && self.is_used_inside()?
            && self.is_injective()?
            && self.is_alone()?)
    }

    /// The positions of the uses in these roles.
    fn places(&self, fits: impl Fn(Role) -> bool) -> impl Iterator<Item = usize> {
        let uses = self.uses.iter().filter(move |u| fits(u.role));
        uses.filter_map(|u| self.place(u.leaf))
    }

    /// Whether copies into the buffer come first and copies out of it last.
    fn copies_come_first_and_last(&self) -> bool {
        let changed = self
            .places(Role::changes)
            .min()
            .zip(self.places(Role::changes).max());
        let Some((first, last)) = changed else {
            return true;
        };
        self.places(|r| r == Role::Load).all(|p| p < first)
            && self.places(|r| r == Role::Store).all(|p| last < p)
    }

    /// Whether no index leaves the buffer.
    fn is_used_inside(&self) -> Result<bool, Error> {
        let extents = self.tensor.shape().extents();
        for Use { leaf, .. } in &self.uses {
            for (_, index) in self.indices(leaf) {
                for (at, extent) in index.iter().zip(extents) {
                    let end = i64::try_from(*extent).unwrap_or(i64::MAX);
                    let last = Affine::constant(end.saturating_sub(1)).minus(at);
                    if !is_never_negative(leaf, at)? || !is_never_negative(leaf, &last)? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Whether each read follows a copy into the buffer or a write.
    fn is_set_before(&self) -> Result<bool, Error> {
        let first_read = self.places(Role::reads).min().unwrap_or(usize::MAX);
        let sets = |u: &&Use| {
            matches!(u.role, Role::Load | Role::Set)
                && self.place(u.leaf).is_some_and(|p| p < first_read)
        };
        let set: Vec<&Use> = self.uses.iter().filter(sets).collect();
        let read = self.uses.iter().filter(|u| u.role.reads());
        self.is_within(read, false, &set, true)
    }

    /// Whether the values that some uses write are copied out afterwards.
    fn is_stored(&self, some: &dyn Fn(&Use) -> bool) -> Result<bool, Error> {
        let stores = self.uses.iter().filter(|u| u.role == Role::Store);
        let changed = self.uses.iter().filter(|u| u.role.changes() && some(u));
        self.is_within(changed, true, &stores.collect::<Vec<_>>(), false)
    }

    /// Whether `others` cover all elements that some uses write or read.
    fn is_within<'u>(
        &'u self,
        some: impl Iterator<Item = &'u Use<'u, 'a>>,
        written: bool,
        others: &[&Use<'_, 'a>],
        others_write: bool,
    ) -> Result<bool, Error>
    where
        'a: 'u,
    {
        let some: Vec<Piece> = some.flat_map(|u| self.elements(u, written)).collect();
        if some.is_empty() || others.iter().any(|u| self.is_whole(u, others_write)) {
            return Ok(true);
        }
        let others = others.iter().flat_map(|u| self.elements(u, others_write));
        let others: Vec<Piece> = others.map(Piece::without_assumptions).collect();
        UnionSet::new(&some)?.is_subset(&UnionSet::new(&others)?)
    }

    /// The elements that a leaf writes or reads, per iteration of the loops around the declaration.
    fn elements(&self, u: &Use<'_, 'a>, written: bool) -> Vec<Piece> {
        let leaf = u.leaf;
        let rank = self.tensor.shape().rank();
        let outer = (0..self.loops()).map(iterator);
        let all: Vec<String> = outer.chain((0..rank).map(element)).collect();
        let piece = Piece::set("", all.iter().map(String::as_str));
        let parameters = leaf.parameters.iter();
        let piece = parameters.fold(piece, |piece, name| piece.parameter(name.as_str()));
        let variable = |name: &Name| leaf.variable(name);
        if let What::Fill(_) = leaf.what {
            let inner = (self.loops()..leaf.loops.len()).map(iterator);
            let piece = inner.fold(piece, |piece, t| piece.exists(&t));
            return vec![leaf.bound(piece, "")];
        }
        let indices = self.indices(leaf).into_iter();
        let indices = indices.filter(|(write, _)| *write == written);
        let pieces = indices.map(|(_, index)| {
            let is_outer = |name: &Name| {
                let depth = leaf.loops.iter().position(|l| l.name == *name);
                depth.is_some_and(|depth| depth < self.loops())
            };
            let is_used = |name: &Name| is_outer(name) || index.iter().any(|a| a.mentions(name));
            let ranges = without_strips(&leaf.loops, &is_used)
                .into_iter()
                .enumerate();
            let ranges = ranges.filter_map(|(depth, range)| Some((depth, range?)));
            let piece = ranges.fold(piece.clone(), |piece, (depth, range)| {
                let t = iterator(depth);
                let piece = if depth < self.loops() {
                    piece
                } else {
                    piece.exists(&t)
                };
                bounded(piece, &range, &t, &variable)
            });
            let index = index.iter().enumerate();
            index.fold(piece, |piece, (d, at)| {
                let at = linear(at, &variable);
                piece.constrain(element(d).as_str(), Relation::Equal, at)
            })
        });
        pieces.collect()
    }

    /// Whether a leaf touches every element of the buffer, in each iteration of the loops around
    /// the declaration.
    fn is_whole(&self, u: &Use<'_, 'a>, written: bool) -> bool {
        let extents = self.tensor.shape().extents();
        let mut inner: Vec<_> = u.leaf.loops[self.loops()..].to_vec();
        if let What::Fill(fill) = u.leaf.what {
            let dims = self.tensor.shape().dims();
            let mut sides = fill.region.iter().zip(&dims);
            let is_side = |((low, n), extent): (&(Affine, Affine), &Affine)| {
                low.as_constant() == Some(0) && n == extent
            };
            return inner.is_empty() && sides.all(is_side);
        }
        let indices = self.indices(u.leaf);
        let Some((_, index)) = indices.iter().find(|(write, _)| *write == written) else {
            return false;
        };
        // Each index runs from 0 to the end in a loop of its own.
        let mut sides = index.iter().zip(extents);
        sides.all(|(at, extent)| {
            let Some(k) = inner.iter().position(|l| at.coefficient(&l.name) == 1) else {
                return at.as_constant() == Some(0) && *extent == 1;
            };
            let l = inner.remove(k);
            let ([low], [end], 1) = (&l.range.lower[..], &l.range.upper[..], l.range.step) else {
                return false;
            };
            let with = |value: &Affine| {
                at.substitute(&|name| (*name == l.name).then(|| value.clone()))
                    .as_constant()
            };
            with(low) == Some(0) && with(end) == i64::try_from(*extent).ok()
        }) && inner.is_empty()
    }

    /// Whether the buffer elements that may get values mirror distinct elements.
    fn is_injective(&self) -> Result<bool, Error> {
        if !self.uses.iter().any(|u| u.role.changes()) {
            return Ok(true);
        }
        let extents = self.tensor.shape().extents();
        let names =
            |mark: &str| -> Vec<String> { (0..extents.len()).map(|d| element(d) + mark).collect() };
        let [these, those] = ["", " other"].map(names);
        let all = these.iter().chain(&those).map(String::as_str);
        let all = within_extents(Piece::set("", all), &these, extents);
        let all = within_extents(all, &those, extents);
        let same = self.digits.iter().fold(all, |piece, digits| {
            let sum = |names: &[String]| {
                let digits = digits.of_buffer.iter().copied().zip(names.iter().cloned());
                Linear::new(digits, 0)
            };
            piece.constrain(sum(&these), Relation::Equal, sum(&those))
        });
        for (this, that) in these.iter().zip(&those) {
            let differ = same
                .clone()
                .constrain(this.as_str(), Relation::Less, that.as_str());
            if !differ.is_empty()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether no other leaf interferes while the buffer is live. A write of a mirrored element
    /// interferes, and so does a read after the buffer changed it.
    fn is_alone(&self) -> Result<bool, Error> {
        let used = self.places(|_| true).min().zip(self.places(|_| true).max());
        let Some((first, last)) = used else {
            return Ok(true);
        };
        let first_change = self.places(Role::changes).min().unwrap_or(usize::MAX);
        for (k, leaf) in self.program.leaves.iter().enumerate() {
            let Some(place) = self.place(leaf).filter(|p| (first..=last).contains(p)) else {
                continue;
            };
            let role = self.uses.iter().find(|u| u.k == k).map(|u| u.role);
            if matches!(role, Some(Role::Load | Role::Store)) {
                continue;
            }
            for (written, index) in self.others(leaf) {
                let counts = written || place >= first_change;
                if counts && self.meets(leaf, &index)? {
                    let reads_before = !written && self.is_read_before(leaf, &index)?;
                    if !reads_before {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// The elements of the tensor that a leaf accesses, as functions of its coordinates, and
    /// whether it writes them.
    fn others(&self, leaf: &Leaf<'a>) -> Vec<(bool, Vec<Linear>)> {
        let is_of = |tensor| leaf.memory(tensor) == self.of_memory;
        match leaf.what {
            What::Fill(fill) if is_of(&fill.target) => {
                let elements = (0..fill.region.len()).map(|d| element(d).as_str().into());
                vec![(true, elements.collect())]
            }
            What::Fill(_) => Vec::new(),
            What::Stmt(s) => {
                let variable = |name: &Name| leaf.variable(name);
                let all = accesses(s).into_iter().filter(|a| is_of(a.tensor));
                let all = all.map(|access| {
                    let index = access.index.iter().map(|a| linear(a, &variable));
                    (access.write, index.collect())
                });
                all.collect()
            }
        }
    }

    /// Whether an index of the tensor may be a mirrored element.
    fn meets(&self, leaf: &Leaf<'a>, index: &[Linear]) -> Result<bool, Error> {
        let extents = self.tensor.shape().extents();
        let own: Vec<String> = (0..extents.len()).map(|d| element(d) + " own").collect();
        let coordinates = leaf.coordinates("");
        let all = coordinates.iter().chain(&own).map(String::as_str);
        let parameters = leaf.parameters.iter();
        let all = parameters.fold(Piece::set("", all), |piece, name| {
            piece.parameter(name.as_str())
        });
        let all = within_extents(leaf.bound(all, ""), &own, extents);
        let variable = |name: &Name| leaf.variable(name);
        let both = self.digits.iter().zip(index);
        let piece = both.fold(all, |piece, (digits, at)| {
            let rest = linear(&digits.rest, &variable);
            let (terms, constant) = (rest.terms().to_vec(), rest.constant());
            let own = digits.of_buffer.iter().copied().zip(own.iter().cloned());
            let stands_for = Linear::new(terms.into_iter().chain(own), constant);
            piece.constrain(stands_for, Relation::Equal, at.clone())
        });
        Ok(!piece.is_empty()?)
    }

    /// Whether a leaf always reads the element at this index before the buffer gets a value for it.
    /// Considers one iteration of the loops around the declaration.
    fn is_read_before(&self, leaf: &Leaf<'a>, index: &[Linear]) -> Result<bool, Error> {
        for change in self.uses.iter().filter(|u| u.role.changes()) {
            let pair = Iteration::pair(change.leaf, leaf);
            let [s, t] = pair.each_ref().map(Iteration::iterators);
            let outer = s.iter().zip(&t).take(self.loops());
            let all = outer.fold(iterations(&pair[0], &pair[1]), |piece, (a, b)| {
                piece.constrain(a.clone(), Relation::Equal, b.clone())
            });
            let What::Stmt(stmt) = change.leaf.what else {
                return Ok(false);
            };
            let index = index.iter().map(|at| pair[1].marked(at));
            let both = self.digits.iter().zip(index);
            let same = both.fold(all, |piece, (digits, at)| {
                let own = pair[0].affine(&digits.at(&stmt.index));
                piece.constrain(own, Relation::Equal, at)
            });
            let (loops, comes_first) = change.leaf.around_both(leaf);
            for piece in before(&same, (&s, &t), loops, comes_first) {
                if !piece.is_empty()? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// Whether an index of a leaf is at least 0 in all iterations.
fn is_never_negative(leaf: &Leaf, index: &Affine) -> Result<bool, Error> {
    if is_nonnegative(index, &leaf.loops) {
        return Ok(true);
    }
    let variable = |name: &Name| leaf.variable(name);
    let piece = leaf.domain("");
    piece
        .constrain(linear(index, &variable), Relation::Less, 0)
        .is_empty()
}

/// Constrains the variables to the indices of a tensor with these extents.
fn within_extents(piece: Piece, names: &[String], extents: &[u64]) -> Piece {
    names.iter().zip(extents).fold(piece, |piece, (x, extent)| {
        let end = i64::try_from(*extent).unwrap_or(i64::MAX);
        piece
            .constrain(0, Relation::LessOrEqual, x.as_str())
            .constrain(x.as_str(), Relation::Less, end)
    })
}
