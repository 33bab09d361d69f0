//! Parts of a definition.

use super::{Part, Tree};
use crate::ir::tensor::Tensor;

impl Part {
    /// The tensors that the loops assign, except local ones.
    pub fn assigned(&self) -> Vec<&Tensor> {
        let locals: Vec<&Tensor> = self.trees.iter().flat_map(Tree::locals).collect();
        let mut found = Vec::new();
        let mut open: Vec<&Tree> = self.trees.iter().collect();
        while let Some(tree) = open.pop() {
            match tree {
                Tree::Loop(l) => open.extend(&l.body),
                Tree::Stmt(s) if !locals.contains(&&s.target) => found.push(&s.target),
                Tree::Stmt(_) | Tree::Fill(_) | Tree::Local(_) => {}
            }
        }
        found
    }

    /// The number of assignments that origins number. Every statement is one.
    pub fn steps(&self) -> usize {
        fn statements(tree: &Tree) -> usize {
            match tree {
                Tree::Loop(l) => l.body.iter().map(statements).sum(),
                Tree::Stmt(_) => 1,
                Tree::Fill(_) | Tree::Local(_) => 0,
            }
        }
        self.trees.iter().map(statements).sum()
    }
}
