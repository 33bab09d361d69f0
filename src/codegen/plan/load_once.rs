//! Loads vectors once that two or three rows of a register tile share.
//!
//! ```rhai
//! nest(`
//! f64 C[2][32], A[2][64], B[64][33]
//! local f64 T[2][32]
//! fill T[0..2][0..32] = 0
//! for k in 0..64
//!   for i in 0..2
//!     vector for j in 0..32
//!       T[i][j] += A[i][k] * B[k][j + 1]
//! for i_2 in 0..2
//!   vector for j_2 in 0..32
//!     C[i_2][j_2] = T[i_2][j_2]
//! `)
//! ```
//!
//! Before:
//!
//! ```text
//! local f64 T[2][32] on the stack
//! for T_set_1 in 0..2
//!   for T_set_2 in 0..32, in lanes of the compiler
//!     T[T_set_1][T_set_2] = 0
//! for k in 0..64
//!   for i in 0..2
//!     for j in 0..32, in lanes of the compiler
//!       T[i][j] += A[i][k] * B[k][j + 1]
//! for i_2 in 0..2
//!   for j_2 in 0..32, in lanes of the compiler
//!     C[i_2][j_2] = T[i_2][j_2]
//! ```
//!
//! After:
//!
//! ```text
//! local f64 T[2][32] on the stack
//! for T_set_1 in 0..2
//!   for T_set_2 in 0..32, in lanes of the compiler
//!     T[T_set_1][T_set_2] = 0
//! for k in 0..64
//!   local f64 B_row[32] on the stack
//!   for B_load in 0..32, in lanes of the compiler
//!     B_row[B_load] = B[k][B_load + 1]
//!   for i in 0..2
//!     for j in 0..32, in lanes of the compiler
//!       T[i][j] += A[i][k] * B_row[j]
//! for i_2 in 0..2
//!   for j_2 in 0..32, in lanes of the compiler
//!     C[i_2][j_2] = T[i_2][j_2]
//! ```
//!
//! gcc keeps a vector that many rows share in a register. A vector of few rows it reads from memory
//! in each of them, which takes twice as long where it crosses lines of the cache. So a copy of it
//! is loaded explicitly (`registers.h`). Local tensors begin with a line, and stay as they are.

use super::lanes::{may_be_registers, trips, widest};
use super::outer_lanes::{fresh, names};
use crate::ir::{Affine, Expr, Hints, Index, Loop, Mode, Name, Nest, Shape, Stmt, Tensor, Tree};
use crate::target::Target;
use std::collections::HashSet;
use std::sync::Arc;

/// The most rows for which gcc reads memory in each of them.
const FEW: i64 = 3;

/// The nest in which a few rows of a register tile share the loads of vectors.
pub(super) fn load_once(nest: &Nest, target: &Target) -> Nest {
    let mut rows = Rows {
        target,
        names: names(nest),
        locals: nest.locals().into_iter().cloned().collect(),
        tiles: Vec::new(),
    };
    nest.with_trees(rows.trees(nest.trees()))
}

struct Rows<'a> {
    target: &'a Target,
    /// The names of all loops and tensors.
    names: HashSet<Name>,
    /// All local tensors.
    locals: Vec<Tensor>,
    /// The register tiles whose scope this is.
    tiles: Vec<Tensor>,
}

impl Rows<'_> {
    fn trees(&mut self, trees: &[Tree]) -> Vec<Tree> {
        let outside = self.tiles.len();
        let mut result = Vec::with_capacity(trees.len());
        for tree in trees {
            match tree {
                Tree::Loop(l) => match self.shared(l) {
                    Some(made) => result.extend(made),
                    None => result.push(Tree::of_loop(Loop {
                        body: self.trees(&l.body),
                        ..(**l).clone()
                    })),
                },
                Tree::Local(tensor) if may_be_registers(tensor, self.target) => {
                    self.tiles.push(tensor.clone());
                    result.push(tree.clone());
                }
                Tree::Local(_) | Tree::Stmt(_) | Tree::Fill(_) => result.push(tree.clone()),
            }
        }
        self.tiles.truncate(outside);
        result
    }

    /// A loop over rows, after the loads that all of them share; `None` if there are none.
    fn shared(&mut self, l: &Loop) -> Option<Vec<Tree>> {
        let is_plain = matches!(l.mode, Mode::Serial) && l.hints == Hints::default();
        let rows = trips(l).filter(|rows| is_plain && (2..=FEW).contains(rows))?;
        let [Tree::Loop(lane)] = l.body.as_slice() else {
            return None;
        };
        let [Tree::Stmt(s)] = lane.body.as_slice() else {
            return None;
        };
        let [first] = lane.range.lower.as_slice() else {
            return None;
        };
        let length = trips(lane).filter(|_| lane.is_vector() && lane.lanes().is_none())?;
        let bytes = s.target.elem().size() as i64;
        let is_whole = length > 0 && length % (widest(self.target) / bytes) == 0;
        let is_tile = self.tiles.contains(&s.target) && s.update.is_some();
        if !is_whole || !is_tile || lane.range.mentions(&l.name) {
            return None;
        }
        let mut found: Vec<(Tensor, Vec<Affine>)> = Vec::new();
        s.value.for_each_access(&mut |tensor, index| {
            let Index::At(index) = index else { return };
            let own = (tensor.clone(), index.clone());
            let is_same = tensor.elem() == s.target.elem();
            let is_given = !self.locals.contains(tensor) && is_same;
            if is_given && is_row(index, &lane.name, &l.name) && !found.contains(&own) {
                found.push(own);
            }
        });
        // The tile, the copies, and a vector of what each row has of its own.
        let held = (rows + found.len() as i64) * length * bytes + widest(self.target);
        if found.is_empty() || held.unsigned_abs() > self.target.register_bytes() {
            return None;
        }
        let (mut result, mut copies) = (Vec::new(), Vec::new());
        let place = |of: &Name| vec![Affine::iterator(of.clone()).minus(first)];
        for (tensor, index) in found {
            let label = tensor.label();
            let copy = Tensor::new(Shape::of_extents([length.unsigned_abs()]), tensor.elem())
                .named(fresh(&format!("{label}_row"), &mut self.names));
            let name = fresh(&format!("{label}_load"), &mut self.names);
            let at = |other: &Name| (*other == lane.name).then(|| Affine::iterator(name.clone()));
            let loaded = index.iter().map(|a| a.substitute(&at)).collect();
            result.push(Tree::Local(copy.clone()));
            result.push(Tree::of_loop(Loop {
                body: vec![Tree::Stmt(Arc::new(Stmt {
                    target: copy.clone(),
                    index: place(&name),
                    update: None,
                    value: Expr::access(tensor.clone(), Index::At(loaded)),
                    origin: None,
                }))],
                name,
                ..(**lane).clone()
            }));
            copies.push((tensor, index, copy));
        }
        let value = s.value.map_accesses(&|tensor, index| {
            let Index::At(index) = index else { return None };
            let mut all = copies.iter();
            let (.., copy) = all.find(|(of, at, _)| of == tensor && at == index)?;
            Some(Expr::access(copy.clone(), Index::At(place(&lane.name))))
        });
        let sum = Tree::Stmt(Arc::new(Stmt {
            value,
            ..(**s).clone()
        }));
        let lane = Tree::of_loop(Loop {
            body: vec![sum],
            ..(**lane).clone()
        });
        result.push(Tree::of_loop(Loop {
            body: vec![lane],
            ..l.clone()
        }));
        Some(result)
    }
}

/// Whether lanes are neighbors in the last dimension, and the same for all rows.
fn is_row(index: &[Affine], lane: &Name, row: &Name) -> bool {
    let Some((last, others)) = index.split_last() else {
        return false;
    };
    last.coefficient(lane) == 1
        && !others.iter().any(|a| a.mentions(lane))
        && !index.iter().any(|a| a.mentions(row))
}
