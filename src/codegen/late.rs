//! What is read after a sum in registers, and is the same for the tile after it.
//!
//! Compilers load it once, before the loop over tiles, and keep it in registers that the sum then
//! lacks: they move it from and to memory with each term. So it is loaded where it is needed.

use super::emit::Emitter;
use super::kernel::Header;
use super::lanes::may_be_registers;
use crate::ir::{Index, Loop, Name, Stmt, Tensor, Tree};

impl Emitter<'_> {
    /// Says before a tree that what it reads is loaded there, if that could be done before `earlier`
    /// ones of the same body.
    pub(super) fn load_late(&mut self, earlier: &[Tree], tree: &Tree) {
        let Some(around) = self.iterators.last() else {
            return;
        };
        let tiles = earlier.iter().filter_map(|tree| match tree {
            Tree::Local(tensor) if may_be_registers(tensor, self.target) => Some(tensor),
            _ => None,
        });
        let tiles: Vec<&Tensor> = tiles.collect();
        let is_tile = |s: &Stmt| tiles.contains(&&s.target);
        let sums = |tree: &Tree| match tree {
            Tree::Loop(l) if !self.chosen.is_unrolled(l) && !self.chosen.is_vector(l) => {
                some(l, &|s| is_tile(s) && s.update.is_some())
            }
            _ => false,
        };
        let is_late = |s: &Stmt| is_tile(s) && reads_the_same(s, around, &tiles);
        let late = match tree {
            Tree::Loop(l) => some(l, &is_late),
            Tree::Stmt(s) => is_late(s),
            Tree::Fill(_) | Tree::Local(_) => false,
        };
        if late && !sums(tree) && earlier.iter().any(sums) {
            self.values
                .headers
                .extend([Header::Integers, Header::Vectors]);
            self.line("teml_load_here();");
        }
    }
}

/// Whether a statement in a loop is like that.
fn some(l: &Loop, like: &dyn Fn(&Stmt) -> bool) -> bool {
    l.body.iter().any(|tree| match tree {
        Tree::Loop(l) => some(l, like),
        Tree::Stmt(s) => like(s),
        Tree::Fill(_) | Tree::Local(_) => false,
    })
}

/// Whether a statement reads elements of other tensors that all iterations of `around` read.
fn reads_the_same(s: &Stmt, around: &Name, tiles: &[&Tensor]) -> bool {
    let mut found = false;
    s.value.for_each_access(&mut |tensor, index| {
        let moves = match index {
            Index::At(index) => index.iter().any(|a| a.mentions(around)),
            Index::Unset | Index::Forbidden => false,
        };
        found |= !moves && !tiles.contains(&tensor);
    });
    found
}
