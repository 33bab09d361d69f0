//! Stores past the caches: which vector loops make them, and where a fence follows.
//!
//! Other threads see such stores only after a fence of the thread that made them. So each thread
//! that shares a parallel loop ends its part with one, before it waits for the others; outside of
//! parallel loops, one stands before the next of them.

use super::lanes::Chosen;
use crate::ir::{Loop, Name, Stmt, Tensor, Tree};
use std::collections::{HashMap, HashSet};

/// The loops of trees that store past the caches.
#[derive(Default)]
pub(super) struct Streams {
    /// The tensors that vector loops store so.
    stored: HashMap<Name, Vec<Name>>,
    /// The loops after which there is a fence.
    fences: HashSet<Name>,
}

/// What some trees hold.
#[derive(Default)]
struct Found {
    streams: bool,
    parallel: bool,
    fences: Vec<Name>,
}

impl Streams {
    pub(super) fn of(trees: &[Tree], locals: &[&Tensor], chosen: &Chosen) -> Streams {
        let mut streams = Streams::default();
        let found = streams.walk(trees, &mut Vec::new(), locals, chosen);
        streams.fences.extend(found.fences);
        streams
    }

    /// Whether a fence follows a loop; in each thread, if the loop is parallel.
    pub(super) fn is_fenced(&self, l: &Loop) -> bool {
        self.fences.contains(&l.name)
    }

    /// Whether the vector loop of that name stores a statement's value past the caches.
    pub(super) fn stores(&self, vector: &Name, s: &Stmt) -> bool {
        let stored = self.stored.get(vector).zip(s.target.name());
        s.update.is_none() && stored.is_some_and(|(stored, name)| stored.contains(name))
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
                if streams && l.parallel {
                    found.fences.push(l.name.clone());
                }
            }
            found.streams |= streams;
            found.parallel |= l.parallel || inside.parallel;
        }
        found
    }

    /// Notes what a vector loop stores past the caches, if anything.
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

/// Whether the vectors that a statement stores begin at multiples of `bytes` in a tensor, where the
/// iterator of the lanes is a multiple of their number.
pub(super) fn is_aligned(s: &Stmt, lane: &Name, bytes: i64) -> bool {
    let elements = bytes / s.target.elem().size() as i64;
    let mut stride = 1;
    s.index
        .iter()
        .zip(s.target.shape().extents())
        .rev()
        .all(|(index, extent)| {
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
