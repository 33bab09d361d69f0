//! What the C of trees mentions that is not declared in them.

use crate::analysis::ahead::ahead;
use crate::analysis::share::Share;
use crate::ir::{Affine, Loop, Name, Tensor, Tree};
use std::collections::HashMap;

/// What iterations of loops fetch for later ones of loops around.
pub(super) type Shares = HashMap<Name, Vec<Share>>;

/// Tensors by first appearance, and iterators.
#[derive(Default)]
pub(super) struct Used {
    pub tensors: Vec<Tensor>,
    iterators: Vec<Name>,
    /// The bytes of a cache line.
    line: i64,
}

impl Used {
    /// What an iteration of `l` mentions.
    pub(super) fn by(l: &Loop, shares: &Shares, line: i64) -> Used {
        let mut used = Used {
            line,
            ..Used::default()
        };
        used.iteration(l, shares);
        used
    }

    /// The names of the tensors.
    pub(super) fn names(&self) -> Vec<&str> {
        self.tensors.iter().map(Tensor::label).collect()
    }

    pub(super) fn mentions(&self, iterator: &Name) -> bool {
        self.iterators.contains(iterator)
    }

    fn iteration(&mut self, l: &Loop, shares: &Shares) {
        self.trees(&l.body, shares);
        for fetch in l.hints.prefetch.iter().filter(|fetch| fetch.of.is_none()) {
            for touch in ahead(l, &fetch.tensor, fetch.distance, self.line) {
                self.tensor(&touch.tensor);
                touch.index.iter().for_each(|index| self.index(index));
            }
        }
        for share in shares.get(&l.name).into_iter().flatten() {
            self.tensor(&share.tensor);
            self.index(&share.number);
            share.first.iter().for_each(|index| self.index(index));
            if let Some(next) = &share.next {
                self.index(&next.later);
                next.first.iter().for_each(|index| self.index(index));
            }
        }
    }

    fn trees(&mut self, trees: &[Tree], shares: &Shares) {
        let outside = self.tensors.len();
        for tree in trees {
            match tree {
                Tree::Loop(l) => {
                    l.range.bounds().for_each(|bound| self.index(bound));
                    self.iteration(l, shares);
                }
                Tree::Local(_) => {}
                Tree::Fill(fill) => {
                    self.tensor(&fill.target);
                    fill.region.iter().for_each(|(low, _)| self.index(low));
                }
                Tree::Stmt(s) => {
                    self.tensor(&s.target);
                    s.index.iter().for_each(|index| self.index(index));
                    s.value
                        .for_each_access(&mut |tensor, _| self.tensor(tensor));
                    s.value.for_each_index(&mut |index| self.index(index));
                }
            }
        }
        let local = |tensor: &Tensor| {
            let mut trees = trees.iter();
            trees.any(|t| matches!(t, Tree::Local(local) if local.name() == tensor.name()))
        };
        let mut found = self.tensors.split_off(outside);
        found.retain(|tensor| !local(tensor));
        self.tensors.append(&mut found);
    }

    fn tensor(&mut self, tensor: &Tensor) {
        if !self.tensors.iter().any(|t| t.name() == tensor.name()) {
            self.tensors.push(tensor.clone());
        }
    }

    fn index(&mut self, index: &Affine) {
        let names = index.terms().iter().map(|(name, _)| name);
        self.iterators.extend(names.cloned());
    }
}
