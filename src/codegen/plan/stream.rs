//! Streaming stores, which bypass the caches: which vector loops use them, and where fences follow.
//!
//! ```rhai
//! let x = tensor([4, 1024]);
//! let y = eq(x, [i, j] -> [i, j]);
//! build(y).parallelize("i").vectorize("j").stream("i", y)
//! ```
//!
//! Before:
//!
//! ```text
//! parallel for i in 0..4
//!   for j in 0..1024, in vectors of f64
//!     y[i][j] = x[i][j]
//! ```
//!
//! After:
//!
//! ```text
//! parallel for i in 0..4
//!   for j in 0..1024, in vectors of f64
//!     y[i][j] = x[i][j], past the caches
//! fence: other threads see stores past the caches
//! ```
//!
//! Other threads see streaming stores only after a fence by the thread that made them. Each thread
//! that shares a parallel loop therefore ends its part with a fence, before the barrier. Outside of
//! parallel loops, a fence precedes the next parallel loop.
//!
//! Rows that are contiguous, both where they are read and where they are stored, are copied as one
//! block: it has only two partial lines, instead of two per row.

use super::choose_vectors::Chosen;
use super::lanes::{trips, widest};
use super::tree::{Block, Context, Loop as PlannedLoop, Node, Part, Plan, Statement};
use crate::ir::{Affine, Index, Loop, Name, Node as Value, Stmt, Tensor, Tree};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The plan with streaming stores.
pub(super) fn stream(plan: &Plan, context: &Context<'_>) -> Plan {
    plan.each(|part| {
        let chosen = Chosen::planned(part, context.target);
        let streams = Streams::of(part.trees(), &part.nest.locals(), &chosen);
        part.with(marked(&part.nodes, None, &streams, &chosen))
    })
}

fn marked(nodes: &[Node], around: Option<&Name>, streams: &Streams, chosen: &Chosen) -> Vec<Node> {
    let mut result = Vec::with_capacity(nodes.len());
    for node in nodes {
        match node {
            Node::Loop(l) => {
                result.push(match streams.block(&l.of, chosen) {
                    Some(block) => Node::Copy(block),
                    None => Node::Loop(Arc::new(PlannedLoop {
                        body: marked(&l.body, Some(&l.of.name), streams, chosen),
                        ..(**l).clone()
                    })),
                });
                if streams.is_fenced(&l.of) {
                    result.push(Node::Fence);
                }
            }
            Node::Stmt(s) => result.push(Node::Stmt(Statement {
                past: around.is_some_and(|vector| streams.stores(vector, &s.of)),
                ..s.clone()
            })),
            other => result.push(other.clone()),
        }
    }
    result
}

/// The loops with streaming stores.
#[derive(Default)]
pub(super) struct Streams {
    /// The tensors that each vector loop streams.
    stored: HashMap<Name, Vec<Name>>,
    /// The loops that a fence follows.
    fences: HashSet<Name>,
}

/// Properties of some trees: streaming stores, parallel loops, and fences.
#[derive(Default)]
struct Found {
    streams: bool,
    parallel: bool,
    fences: Vec<Name>,
}

impl Streams {
    pub(super) fn of(trees: &[Tree], locals: &[&Tensor], chosen: &Chosen) -> Streams {
        let mut streams = Streams::default();
        if !chosen.target().instructions.has_streams() {
            return streams;
        }
        let found = streams.walk(trees, &mut Vec::new(), locals, chosen);
        streams.fences.extend(found.fences);
        streams
    }

    /// The loops of a plan.
    pub(super) fn planned(part: &Part) -> Streams {
        let mut streams = Streams::default();
        let mut see = |l: &PlannedLoop| {
            let past = l.body.iter().filter_map(|node| match node {
                Node::Stmt(s) if s.past => s.of.target.name().cloned(),
                _ => None,
            });
            let past: Vec<Name> = past.collect();
            if !past.is_empty() {
                streams.stored.insert(l.of.name.clone(), past);
            }
        };
        part.nodes
            .iter()
            .for_each(|node| node.for_each_loop(&mut see));
        streams
    }

    /// Whether a fence follows a loop. If the loop is parallel, it is in each thread.
    pub(super) fn is_fenced(&self, l: &Loop) -> bool {
        self.fences.contains(&l.name)
    }

    /// Whether the vector loop of that name streams a statement's value.
    pub(super) fn stores(&self, vector: &Name, s: &Stmt) -> bool {
        let stored = self.stored.get(vector).zip(s.target.name());
        s.update.is_none() && stored.is_some_and(|(stored, name)| stored.contains(name))
    }

    /// The first streaming store of a vector loop.
    pub(super) fn first_of<'l>(&self, l: &'l Loop) -> Option<&'l Arc<Stmt>> {
        let mut statements = l.body.iter().filter_map(|tree| match tree {
            Tree::Stmt(s) => Some(s),
            _ => None,
        });
        statements.find(|s| self.stores(&l.name, s))
    }

    /// The block that a loop copies past the caches, if it is large enough for whole lines to pay
    /// off.
    pub(super) fn block(&self, l: &Arc<Loop>, chosen: &Chosen) -> Option<Block> {
        let plain = |l: &Loop| !chosen.is_shared(l) && l.hints.prefetch.is_empty();
        let [Tree::Loop(row)] = l.body.as_slice() else {
            return None;
        };
        let [Tree::Stmt(s)] = row.body.as_slice() else {
            return None;
        };
        let Value::Access { tensor, index } = s.value.node() else {
            return None;
        };
        let Index::At(index) = index else { return None };
        let copies = plain(l) && plain(row) && row.lanes().is_none() && chosen.is_vector(row);
        let past = copies && !chosen.is_unrolled(l) && self.stores(&row.name, s);
        let (rows, lanes) = (trips(l)?, trips(row)?);
        let follow = |tensor: &Tensor, index: &[Affine]| {
            stride(tensor, index, &row.name) == Some(1)
                && stride(tensor, index, &l.name) == Some(lanes)
        };
        let size = tensor.elem().size() as i64;
        let bytes = rows.checked_mul(lanes)?.checked_mul(size)?;
        let (widest, line) = (widest(chosen.target()), chosen.target().line.cast_signed());
        let aligned = is_aligned(s, &row.name, widest) && lanes * size % widest == 0;
        let worth =
            past && !aligned && bytes >= MIN_LINES * line && tensor.elem() == s.target.elem();
        if !worth || !follow(&s.target, &s.index) || !follow(tensor, index) {
            return None;
        }
        let first = |index: &[Affine]| {
            let start = |name: &Name| {
                let l = [&**l, row].into_iter().find(|l| l.name == *name)?;
                l.range.lower.first().cloned()
            };
            index.iter().map(|a| a.substitute(&start)).collect()
        };
        Some(Block {
            of: l.clone(),
            to: (s.target.clone(), first(&s.index)),
            from: (tensor.clone(), first(index)),
            bytes,
        })
    }

    fn walk(
        &mut self,
        trees: &[Tree],
        asked: &mut Vec<Name>,
        locals: &[&Tensor],
        chosen: &Chosen,
    ) -> Found {
        let mut found = Found::default();
        for tree in trees {
            let Tree::Loop(l) = tree else { continue };
            let outside = asked.len();
            let memory = |name: &&Name| !locals.iter().any(|t| t.name() == Some(*name));
            asked.extend(l.hints.stream.iter().filter(memory).cloned());
            let inside = self.walk(&l.body, asked, locals, chosen);
            let own = chosen.is_vector(l) && self.vector(l, asked);
            asked.truncate(outside);

            let streams = own || inside.streams;
            if streams && !inside.parallel {
                found.fences.push(l.name.clone());
            } else {
                found.fences.extend(inside.fences);
                if streams && l.is_parallel() {
                    found.fences.push(l.name.clone());
                }
            }
            found.streams |= streams;
            found.parallel |= l.is_parallel() || inside.parallel;
        }
        found
    }

    /// Records the streaming stores of a vector loop; returns whether it has any.
    fn vector(&mut self, l: &Loop, asked: &[Name]) -> bool {
        let mut stored = Vec::new();
        for tree in &l.body {
            if let Tree::Stmt(s) = tree
                && let (Some(name), None) = (s.target.name(), s.update)
                && asked.contains(name)
            {
                stored.push(name.clone());
            }
        }
        let any = !stored.is_empty();
        self.stored.insert(l.name.clone(), stored);
        any
    }
}

/// The fewest lines of a block: its two partial lines should be a small share.
const MIN_LINES: i64 = 16;

/// The distance in memory, in elements, between consecutive values of an iterator.
fn stride(tensor: &Tensor, index: &[Affine], iterator: &Name) -> Option<i64> {
    let (mut by, mut row) = (0i64, Some(1i64));
    for (at, extent) in index.iter().zip(tensor.shape().dims()).rev() {
        match at.coefficient(iterator) {
            0 => {}
            c => by = by.checked_add(c.checked_mul(row?)?)?,
        }
        row = row.filter(|_| !tensor.is_strided());
        row = row.and_then(|row| row.checked_mul(extent.as_constant()?));
    }
    Some(by)
}

/// Whether the vectors that a statement stores are at multiples of `bytes` from the start of its
/// tensor. The iterator of the lanes is a multiple of their number.
pub(crate) fn is_aligned(s: &Stmt, lane: &Name, bytes: i64) -> bool {
    let elements = bytes / s.target.elem().size() as i64;
    let numbers = s.target.shape().numbers();
    let Some(extents) = numbers.filter(|_| !s.target.is_strided()) else {
        return false;
    };
    let mut stride = 1;
    s.index.iter().zip(extents).rev().all(|(index, extent)| {
        let multiple = |number: i64| (number % elements) * stride % elements == 0;
        let fits = multiple(index.offset())
            && index
                .terms()
                .iter()
                .all(|(name, by)| name == lane || multiple(*by));
        stride = stride * (extent % elements.unsigned_abs()).cast_signed() % elements;
        fits
    })
}
