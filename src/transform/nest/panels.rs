//! `panels` stores a local tensor panel by panel: each panel is a block along one dimension.
//!
//! ```rhai
//! let A = tensor([64, 100]);
//! let x = tensor([100]);
//! let y = eq(vsum(vmul(A, x, [[i, j], [j]]), [j]), [i]);
//! let blocks = build(y).tile(["i", "j"], [8, 50]).reorder(["j_o", "i_o", "j_i", "i_i"]);
//! print(blocks.pack("j_o", A, [2, 1]).panels("A_pack", 2, 8));
//! ```
//!
//! ```text
//! f64 y[64], A[64][100], x[100]
//! fill y[0..64] = 0
//! for j_o in 0..2
//!   local f64 A_pack[8][50][8]
//!   for A_pack_2 in 0..50
//!     for A_pack_1_o in 0..8
//!       for A_pack_1_i in 8*A_pack_1_o..8*A_pack_1_o + 8
//!         A_pack[A_pack_1_o][A_pack_2][A_pack_1_i - 8*A_pack_1_o] = A[A_pack_1_i][A_pack_2 + 50*j_o]
//!   for i_o in 0..8
//!     for j_i in 50*j_o..50*j_o + 50
//!       for i_i in 8*i_o..8*i_o + 8
//!         y[i_i] += A_pack[i_o][j_i - 50*j_o][i_i - 8*i_o] * x[j_i]
//! ```
//!
//! `panels(nest, tensor, dimension, size)` splits a dimension, counted from 1, into panels of
//! `size` elements; the first panel is what `A[0..size]` was. The number of the panel becomes the
//! first dimension of the tensor. The elements that the loops over one panel read are then
//! contiguous. Loops that index the dimension and run over several panels are stripmined.
//!
//! Always legal: the elements only change their place.
//!
//! Refuses: a tensor that is not local to the nest; a dimension that it does not have; sizes below
//! 1; an index that may leave its panel while the loops inside run, as that of a loop with a step;
//! fills of parts of panels.
//!
//! Source: the packed operands of Goto and van de Geijn, Anatomy of High-Performance Matrix
//! Multiplication, 2008.

use super::buffer::local;
use super::resolve::check_positive;
use super::stripmine::{Tail, stripmine};
use crate::analysis::bounds::Bounds;
use crate::analysis::relative::{Inner, relative};
use crate::args::{NEST, TENSOR};
use crate::ir::{Affine, Expr, Index, Loop, Nest, Shape, Stmt, Tensor, Tree};
use crate::refusals::no_dimension;
use crate::{Error, LoopRef, Op, Param, Returns, Value, refusal};
use std::sync::Arc;

const DIMENSION: Param<i64> = Param::new("dimension");
const SIZE: Param<i64> = Param::new("size");

/// `panels(nest, tensor, dimension, size)`.
pub static PANELS: Op = Op {
    name: "panels",
    params: &[NEST.any(), TENSOR.any(), DIMENSION.any(), SIZE.any()],
    returns: Returns::Nest,
    file: include_str!("panels.rs"),
    call: |args| {
        panels(
            args.get(&NEST)?,
            args.get(&TENSOR)?,
            args.get(&DIMENSION)?,
            args.get(&SIZE)?,
        )
        .map(Value::Nest)
    },
};

/// The nest with a dimension of the local tensor `label` split into panels.
///
/// # Errors
/// As the header says.
pub fn panels(nest: &Nest, label: &str, dimension: i64, size: i64) -> Result<Nest, Error> {
    let flat = local(nest, label, &TENSOR)?;
    let rank = flat.shape().rank();
    let split = usize::try_from(dimension)
        .ok()
        .and_then(|d| d.checked_sub(1));
    let Some(split) = split.filter(|d| *d < rank) else {
        return Err(no_dimension(label, rank, dimension).at(&DIMENSION));
    };
    check_positive(size, &SIZE)?;

    let mut extents = flat.shape().extents().to_vec();
    let count = extents[split].div_ceil(size.unsigned_abs());
    extents[split] = size.unsigned_abs();
    extents.insert(0, count);
    let split_tensor = Tensor::new(Shape::of_extents(extents), flat.elem());
    let name = flat.name();
    let layout = Layout {
        flat,
        panels: name.map_or(split_tensor.clone(), |n| split_tensor.named(n.clone())),
        split,
        size,
    };
    let blocked = layout.blocked(nest)?;
    let trees = layout.sequence(blocked.trees(), &mut Vec::new());
    match trees {
        Ok(trees) => Ok(blocked.with_trees(trees)),
        Err(text) => {
            let text = format!("`{text}` does not stay in one panel of {size} elements of {label}");
            let help = "tile the loops that index it with the size of the panels first";
            Err(refusal(text).help(help).at(&TENSOR).on(nest, []))
        }
    }
}

struct Layout<'a> {
    flat: &'a Tensor,
    panels: Tensor,
    split: usize,
    size: i64,
}

impl Layout<'_> {
    /// Stripmines the loops that run through several panels.
    fn blocked(&self, nest: &Nest) -> Result<Nest, Error> {
        let mut through = Vec::new();
        for (around, l) in nest.loops() {
            let chain = around.iter().copied().chain([l]).collect::<Vec<_>>();
            for tree in &l.body {
                let Tree::Stmt(s) = tree else { continue };
                for index in self.indices(s) {
                    if self.place(&index[self.split], &chain).is_some() {
                        continue;
                    }
                    let one = |l: &&&Loop| {
                        index[self.split].coefficient(&l.name) == 1
                            && l.range.as_constant().is_some()
                            && l.range.step == 1
                    };
                    through.extend(chain.iter().rfind(one).map(|l| l.name.clone()));
                }
            }
        }
        through.sort();
        through.dedup();
        through.iter().try_fold(nest.clone(), |nest, name| {
            let reference = LoopRef::Name(name.to_string());
            stripmine(&nest, &reference, self.size, Tail::Guard)
        })
    }

    /// The indices of the tensor in a statement.
    fn indices<'s>(&self, s: &'s Stmt) -> Vec<&'s [Affine]> {
        let mut found: Vec<&[Affine]> = Vec::new();
        if s.target.name() == self.flat.name() {
            found.push(&s.index);
        }
        s.value.for_each_access(&mut |tensor, index| {
            if let (true, Index::At(index)) = (tensor.name() == self.flat.name(), index) {
                found.push(index);
            }
        });
        found
    }

    /// The panel of an index, and the place of the element in it.
    fn place(&self, index: &Affine, chain: &[&Loop]) -> Option<[Affine; 2]> {
        // As many of the innermost loops as possible run within a panel.
        (0..=chain.len()).find_map(|outer| {
            let (around, inside) = chain.split_at(chain.len() - outer);
            let mut bounds = Bounds::of_chain(around.iter().copied());
            let mut inner = Vec::new();
            for l in inside {
                inner.push(Inner::new(l, &inner, &bounds));
                bounds.enter(l);
            }
            let found = relative(index, &inner);
            let within = found.base.offset().rem_euclid(self.size);
            let base = found.base.plus_constant(-within);
            let (low, high) = (
                found.low.saturating_add(within),
                found.high.saturating_add(within),
            );
            let panel = base
                .divided(self.size)
                .filter(|_| low >= 0 && high < self.size)?;
            Some([panel, index.minus(&base)])
        })
    }

    fn index(&self, index: &[Affine], chain: &[&Loop]) -> Option<Vec<Affine>> {
        let [panel, within] = self.place(&index[self.split], chain)?;
        let mut split = index.to_vec();
        split[self.split] = within;
        split.insert(0, panel);
        Some(split)
    }

    /// Replaces the tensor by its panels. The error is a use that does not fit them.
    fn sequence<'t>(
        &self,
        trees: &'t [Tree],
        chain: &mut Vec<&'t Loop>,
    ) -> Result<Vec<Tree>, String> {
        let of = trees.iter().map(|tree| match tree {
            Tree::Loop(l) => {
                chain.push(l);
                let body = self.sequence(&l.body, chain);
                chain.pop();
                let l = Loop::clone(l);
                Ok(Tree::of_loop(Loop { body: body?, ..l }))
            }
            Tree::Stmt(s) => self.statement(s, chain).map(|s| Tree::Stmt(Arc::new(s))),
            Tree::Fill(fill) if fill.target == *self.flat => Err(fill.to_string()),
            Tree::Local(tensor) if tensor == self.flat => Ok(Tree::Local(self.panels.clone())),
            Tree::Fill(_) | Tree::Local(_) => Ok(tree.clone()),
        });
        of.collect()
    }

    fn statement(&self, s: &Stmt, chain: &[&Loop]) -> Result<Stmt, String> {
        let text = || s.to_string();
        let known = |index: &&[Affine]| self.index(index, chain).is_some();
        if !self.indices(s).iter().all(known) {
            return Err(text());
        }
        let (target, index) = if s.target == *self.flat {
            (
                self.panels.clone(),
                self.index(&s.index, chain).ok_or_else(text)?,
            )
        } else {
            (s.target.clone(), s.index.clone())
        };
        let value = s.value.map_accesses(&|tensor, index| match index {
            Index::At(index) if tensor == self.flat => {
                let index = Index::At(self.index(index, chain)?);
                Some(Expr::access(self.panels.clone(), index))
            }
            _ => Some(Expr::access(tensor.clone(), index.clone())),
        });
        Ok(Stmt {
            target,
            index,
            value,
            ..s.clone()
        })
    }
}
