//! Parallel regions that several loops share.
//!
//! Threads are called once for parallel loops in a row, and once for a serial loop around them, of
//! which each thread then runs all iterations. They wait for each other where a parallel loop ends,
//! as before. Local tensors that the loops share are declared before the region: there is one of
//! each.
//!
//! Loops with a threshold keep a region of their own, since it says who runs them.

use super::emit::Emitter;
use crate::ir::{Loop, Tensor, Tree};
use crate::legality::without_waiting;

impl Emitter<'_> {
    /// Trees one after the other.
    pub(super) fn trees(&mut self, trees: &[Tree]) {
        if self.threads == Threads::Team {
            self.unwaited.extend(without_waiting(trees, &self.bounds));
        }
        let mut rest = trees;
        while let Some((first, others)) = rest.split_first() {
            let run = match self.threads {
                Threads::One => self.team_at(rest),
                Threads::Team | Threads::Shared => 0,
            };
            let (team, after) = rest.split_at(run);
            if team.iter().map(loops_to_share).sum::<usize>() > 1 {
                self.team(team);
                rest = after;
            } else {
                self.load_late(&trees[..trees.len() - rest.len()], first);
                self.tree(first);
                rest = others;
            }
        }
    }

    /// How many trees, from the first one on, can be in one region. Of tensors with the same name
    /// one is declared, which has to do for all.
    fn team_at(&self, trees: &[Tree]) -> usize {
        let mut shared: Vec<&Tensor> = Vec::new();
        let mut count = 0;
        for tree in trees {
            shared_locals(tree, &mut shared);
            let one_of_each = shared.iter().enumerate().all(|(k, b)| {
                let same_name = |a: &&&Tensor| a.name() == b.name();
                shared[..k].iter().filter(same_name).all(|a| a == b)
            });
            if !one_of_each || !self.is_for_team(tree) {
                break;
            }
            count += 1;
        }
        count
    }

    /// Whether a tree can be in a region with others.
    fn is_for_team(&self, tree: &Tree) -> bool {
        match tree {
            Tree::Local(_) => true,
            Tree::Loop(l) if l.parallel => l.sharing.threshold.is_none(),
            Tree::Loop(l) => {
                let plain = !l.vector && !self.chosen.is_unrolled(l);
                plain && l.body.iter().all(|t| self.is_for_team(t)) && loops_to_share(tree) > 0
            }
            Tree::Stmt(_) | Tree::Fill(_) => false,
        }
    }

    fn team(&mut self, trees: &[Tree]) {
        let mut shared = Vec::new();
        trees
            .iter()
            .for_each(|tree| shared_locals(tree, &mut shared));
        for (k, tensor) in shared.iter().enumerate() {
            if !shared[..k].contains(tensor) {
                self.tree(&Tree::Local((*tensor).clone()));
            }
        }
        self.line("#pragma omp parallel");
        self.line("{");
        self.depth += 1;
        self.threads = Threads::Team;
        self.trees(trees);
        self.threads = Threads::One;
        self.depth -= 1;
        self.line("}");
    }
}

/// The local tensors that the loops of a team share.
fn shared_locals<'t>(tree: &'t Tree, found: &mut Vec<&'t Tensor>) {
    match tree {
        Tree::Loop(l) if !l.parallel => l.body.iter().for_each(|t| shared_locals(t, found)),
        Tree::Local(tensor) => found.push(tensor),
        _ => {}
    }
}

/// Who runs what is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Threads {
    /// One thread, outside of parallel regions.
    #[default]
    One,
    /// All threads of a region, outside of loops that they share.
    Team,
    /// A thread, in an iteration of a loop that several share.
    Shared,
}

/// How threads come to a parallel loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// They are called for it.
    Call,
    /// They are there.
    Join,
    /// They are there, and do more after it before they wait.
    JoinWithoutWaiting,
}

/// How many parallel loops there are, as many as two where a serial loop is around them.
fn loops_to_share(tree: &Tree) -> usize {
    match tree {
        Tree::Loop(l) if l.parallel => 1,
        Tree::Loop(l) => {
            let inside: usize = l.body.iter().map(loops_to_share).sum();
            if is_once(l) { inside } else { 2 * inside }
        }
        _ => 0,
    }
}

fn is_once(l: &Loop) -> bool {
    matches!(l.range.as_constant(), Some((low, high)) if high - low == 1)
}
