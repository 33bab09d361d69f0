//! One assignment in a perfect nest: its accesses, its loops and their trip counts.

use super::Unlike;
use crate::analysis::position;
use crate::ir::{Affine, Index, Name, Nest, Tensor, Tree};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The tensor. It has a name.
    pub tensor: Tensor,
    /// One index for each dimension.
    pub index: Vec<Affine>,
    pub write: bool,
    /// Whether the write is an update such as `+=`, which also reads the element.
    pub update: bool,
}

impl Access {
    /// Whether the iterations of a loop touch different elements.
    pub fn moves(&self, l: &Name) -> bool {
        self.index.iter().any(|index| index.mentions(l))
    }

    /// Whether it touches the same element as another access in every iteration.
    pub fn is_same_element(&self, other: &Access) -> bool {
        self.tensor.name() == other.tensor.name() && self.index == other.index
    }
}

/// All reads and writes of trees, statement by statement, each with its write first.
pub fn accesses(trees: &[Tree]) -> Vec<Access> {
    let mut found = Vec::new();
    let mut add = |tensor: &Tensor, index: &[Affine], write, update| {
        found.push(Access {
            tensor: tensor.clone(),
            index: index.to_vec(),
            write,
            update,
        });
    };
    position::walk(trees, &mut |_, _, tree| {
        if let Tree::Stmt(s) = tree {
            add(&s.target, &s.index, true, s.update.is_some());
            s.value.for_each_access(&mut |tensor, index| {
                if let Index::At(index) = index {
                    add(tensor, index, false, false);
                }
            });
        }
    });
    found
}

/// One assignment in a perfect nest with constant bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The assigned element.
    pub target: Access,
    /// The accesses that the value reads, in the order of the text.
    pub reads: Vec<Access>,
    /// The loops, outermost first, and their trip counts at the likely sizes.
    pub loops: Vec<(Name, i64)>,
}

impl Assignment {
    /// The assignment of a nest.
    ///
    /// # Errors
    /// There are several assignments, or the nest branches. A bound depends on other loops, or a
    /// loop has a step. The value reads other elements of the assigned tensor.
    pub fn of(nest: &Nest) -> Result<Assignment, Unlike> {
        let mut all = accesses(nest.trees()).into_iter();
        let target = all.next().ok_or(Unlike::NoAssignment)?;
        let reads: Vec<Access> = all.collect();
        if reads.iter().any(|a| a.write) {
            return Err(Unlike::SeveralAssignments);
        }
        let chain = position::chain(nest, &position::deepest_level(nest));
        if chain.len() != nest.loops().len() {
            return Err(Unlike::Imperfect);
        }
        let loops: Result<_, Unlike> = chain.iter().map(|l| trip_count(l)).collect();
        let recurs =
            |a: &&Access| a.tensor.name() == target.tensor.name() && a.index != target.index;
        if let Some(read) = reads.iter().find(recurs) {
            return Err(Unlike::ReadsItself(read.tensor.label().to_owned()));
        }
        Ok(Assignment {
            loops: loops?,
            target,
            reads,
        })
    }

    /// All accesses, the write first.
    pub fn accesses(&self) -> impl Iterator<Item = &Access> {
        std::iter::once(&self.target).chain(&self.reads)
    }

    /// The trip count of a loop, 1 for an unknown name.
    pub fn trip_count(&self, l: &Name) -> i64 {
        let found = self.loops.iter().find(|(name, _)| name == l);
        found.map_or(1, |(_, count)| *count)
    }

    /// The reduction loops, which do not move the target, outermost first.
    pub fn sums(&self) -> Vec<Name> {
        let names = self.loops.iter().map(|(name, _)| name);
        names.filter(|l| !self.target.moves(l)).cloned().collect()
    }

    /// The combined trip count of the loops that move an access.
    pub fn footprint(&self, access: &Access) -> i64 {
        let moving = self.loops.iter().filter(|(l, _)| access.moves(l));
        moving.fold(1, |all, (_, count)| all.saturating_mul(*count))
    }
}

fn trip_count(l: &crate::ir::Loop) -> Result<(Name, i64), Unlike> {
    match l.range.likely() {
        Some((first, end)) if l.range.step == 1 => Ok((l.name.clone(), (end - first).max(0))),
        _ => Err(Unlike::NoNumbers(l.name.clone())),
    }
}
