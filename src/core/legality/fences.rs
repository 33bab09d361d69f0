//! Whether other threads see stores past the caches: the thread that made them has to pass a fence
//! before it meets other threads.
//!
//! Threads meet at barriers, where a team begins or ends, and where a parallel loop outside of teams
//! begins or ends. The end of a nest counts as well: a caller may hand its results to another thread.

use super::execution::{Execution, Mark};
use crate::ir::Tree;

/// The first statement that stores past the caches without such a fence.
pub(super) fn unfenced(trees: &[Tree], execution: &Execution) -> Option<Vec<usize>> {
    if execution.streams.is_empty() {
        return None;
    }
    let mut thread = Thread {
        execution,
        pending: None,
        in_team: false,
        found: None,
    };
    thread.sequence(trees, &mut Vec::new());
    thread.meets();
    thread.found
}

/// A thread on its way through trees.
struct Thread<'e> {
    execution: &'e Execution,
    /// A statement whose stores may be on their way.
    pending: Option<Vec<usize>>,
    /// Whether it runs the current trees with a team.
    in_team: bool,
    found: Option<Vec<usize>>,
}

impl Thread<'_> {
    fn meets(&mut self) {
        let pending = self.pending.take();
        self.found = self.found.take().or(pending);
    }

    fn sequence(&mut self, trees: &[Tree], position: &mut Vec<usize>) {
        for k in 0..=trees.len() {
            position.push(k);
            for (_, mark) in self.execution.marks.iter().filter(|(at, _)| at == position) {
                match mark {
                    Mark::Fence => self.pending = None,
                    Mark::Barrier => self.meets(),
                    Mark::Team => {
                        self.meets();
                        self.in_team = !self.in_team;
                    }
                }
            }
            match trees.get(k) {
                Some(Tree::Loop(l)) => {
                    let starts_threads = l.is_parallel() && !self.in_team;
                    if starts_threads {
                        self.meets();
                    }
                    let in_team = self.in_team;
                    self.in_team = in_team && !l.is_parallel();
                    self.iterations(&l.body, position);
                    self.in_team = in_team;
                    if starts_threads {
                        self.meets();
                    }
                }
                Some(Tree::Stmt(_) | Tree::Fill(_))
                    if self.execution.streams.contains(position) =>
                {
                    self.pending = Some(position.clone());
                }
                _ => {}
            }
            position.pop();
        }
    }

    /// Any number of iterations. A second one begins with what the first one leaves.
    fn iterations(&mut self, body: &[Tree], position: &mut Vec<usize>) {
        let before = self.pending.clone();
        self.sequence(body, position);
        if before.is_none() && self.pending.is_some() {
            self.sequence(body, position);
        }
        self.pending = self.pending.take().or(before);
    }
}
