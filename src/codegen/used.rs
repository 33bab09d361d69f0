//! What the C of trees mentions that is not declared in them.

use crate::ir::{Affine, Index, Name, Tensor, Tree};

/// Tensors by first appearance, and iterators.
#[derive(Default)]
pub(super) struct Used {
    pub tensors: Vec<Tensor>,
    iterators: Vec<Name>,
}

impl Used {
    pub(super) fn by(trees: &[Tree]) -> Used {
        let mut used = Used::default();
        used.trees(trees);
        used
    }

    /// The names of the tensors.
    pub(super) fn names(&self) -> Vec<&str> {
        self.tensors.iter().map(Tensor::label).collect()
    }

    pub(super) fn mentions(&self, iterator: &Name) -> bool {
        self.iterators.contains(iterator)
    }

    fn trees(&mut self, trees: &[Tree]) {
        let outside = self.tensors.len();
        for tree in trees {
            match tree {
                Tree::Loop(l) => {
                    l.range.bounds().for_each(|bound| self.index(bound));
                    self.trees(&l.body);
                }
                Tree::Local(_) => {}
                Tree::Fill(fill) => {
                    self.tensor(&fill.target);
                    fill.region.iter().for_each(|(low, _)| self.index(low));
                }
                Tree::Stmt(s) => {
                    self.tensor(&s.target);
                    s.index.iter().for_each(|index| self.index(index));
                    s.value.for_each_access(&mut |tensor, index| {
                        self.tensor(tensor);
                        if let Index::At(index) = index {
                            index.iter().for_each(|index| self.index(index));
                        }
                    });
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
