//! Simplifies a nest: drops redundant bounds, inlines loops that run once, rebases loops within
//! blocks to 0, and expands fills of register tiles to loops.
//!
//! ```rhai
//! let x = tensor([4, 8]);
//! let y = eq(x, [i, j] -> [i, j]);
//! build(y).stripmine("i", 4)
//! ```
//!
//! Before:
//!
//! ```text
//! for i_o in 0..1
//!   for i_i in 4*i_o..4*i_o + 4
//!     for j in 0..8
//!       y[i_i][j] = x[i_i][j]
//! ```
//!
//! After:
//!
//! ```text
//! for i_i in 0..4
//!   for j in 0..8
//!     y[i_i][j] = x[i_i][j]
//! ```
//!
//! Registers have no index, so that loops around a register tile are unrolled. This requires
//! constant trip counts.

use super::lanes::may_be_registers;
use super::outer_lanes::{fresh, names};
use crate::analysis::bounds::Bounds;
use crate::ir::{Affine, Expr, Fill, Hints, Loop, Mode, Name, Nest, Node, Range, Stmt, Tree};
use crate::target::Target;
use std::collections::HashSet;
use std::sync::Arc;

/// The simplified nest.
pub(super) fn simplify(nest: &Nest, target: &Target) -> Nest {
    let mut simplify = Simplify {
        target,
        names: names(nest),
        locals: HashSet::new(),
        band: 0,
    };
    nest.with_trees(simplify.trees(nest.trees(), &Bounds::default()))
}

struct Simplify<'a> {
    target: &'a Target,
    /// The names of all loops and tensors.
    names: HashSet<Name>,
    /// The local tensors in scope that may be register tiles.
    locals: HashSet<Name>,
    /// How many loops, from the next one on, share their iterations among threads with the loops
    /// around. OpenMP counts them.
    band: usize,
}

impl Simplify<'_> {
    fn trees(&mut self, trees: &[Tree], around: &Bounds) -> Vec<Tree> {
        let outside = self.locals.clone();
        let mut result = Vec::with_capacity(trees.len());
        for tree in trees {
            match tree {
                Tree::Loop(l) => result.extend(self.of_loop(l, around)),
                Tree::Fill(fill) if self.is_tile(fill) => result.push(self.fill(fill)),
                Tree::Local(tensor) => {
                    if may_be_registers(tensor, self.target) {
                        self.locals.extend(tensor.name().cloned());
                    }
                    result.push(tree.clone());
                }
                Tree::Stmt(_) | Tree::Fill(_) => result.push(tree.clone()),
            }
        }
        self.locals = outside;
        result
    }

    fn of_loop(&mut self, l: &Loop, around: &Bounds) -> Vec<Tree> {
        let range = around.needed(&l.range);
        let l = &without_threads(l, &range, around);
        let shared = l.is_parallel() || self.band > 0;
        self.band = l.band_inside(self.band);
        let once = range
            .as_constant()
            .filter(|(lower, upper)| upper - lower == 1);
        let mut l = Loop { range, ..l.clone() };
        if let (Some((lower, _)), false) = (once, l.is_vector()) {
            let map = |name: &Name| (*name == l.name).then(|| Affine::constant(lower));
            l.body = l.body.iter().map(|t| t.substitute(&map)).collect();
            // Its local tensors need a scope of their own.
            let scoped = l.body.iter().any(|t| matches!(t, Tree::Local(_)));
            if !shared && !scoped && l.hints == Hints::default() {
                return self.trees(&l.body, around);
            }
        }
        if !shared && (l.is_vector() || l.range.lower.iter().any(|a| a.as_constant().is_none())) {
            l = from_zero(l);
        }
        let mut inside = around.clone();
        inside.enter(&l);
        // It may run once, or not at all.
        let only = inside.interval(&Affine::iterator(l.name.clone()));
        if let Some((value, _)) = only.filter(|(low, high)| low == high && !l.is_vector()) {
            let map = |name: &Name| (*name == l.name).then(|| Affine::constant(value));
            l.body = l.body.iter().map(|t| t.substitute(&map)).collect();
        }
        let body = self.trees(&l.body, &inside);
        vec![Tree::of_loop(Loop { body, ..l })]
    }

    fn is_tile(&self, fill: &Fill) -> bool {
        let name = fill.target.name();
        !fill.region.is_empty() && name.is_some_and(|name| self.locals.contains(name))
    }

    /// Loops that fill a box, the innermost one as a vector loop.
    fn fill(&mut self, fill: &Fill) -> Tree {
        let target = fill.target.label();
        let mut index = Vec::new();
        let mut loops = Vec::new();
        for (d, (low, extent)) in fill.region.iter().enumerate() {
            let name = fresh(&format!("{target}_set_{}", d + 1), &mut self.names);
            index.push(Affine::iterator(name.clone()));
            let range = Range::between(low.clone(), low.plus(extent));
            loops.push((name, range));
        }
        let mut tree = Tree::Stmt(Arc::new(Stmt {
            target: fill.target.clone(),
            index,
            update: None,
            value: Expr::new(Node::Constant(fill.value)),
            origin: fill.origin.clone(),
        }));
        let mut mode = Mode::Vector { lanes: None };
        for (name, range) in loops.into_iter().rev() {
            tree = Tree::of_loop(Loop {
                mode,
                ..Loop::serial(name, range, vec![tree])
            });
            mode = Mode::Serial;
        }
        tree
    }
}

/// Makes a parallel loop serial if it has at most one iteration to share.
fn without_threads(l: &Loop, range: &Range, around: &Bounds) -> Loop {
    let mut l = l.clone();
    let is_short = |(lower, upper): (&Affine, &Affine)| {
        let extent = around.interval(&upper.minus(lower));
        extent.is_some_and(|(_, most)| most <= 1)
    };
    let ends = |lower| range.upper.iter().map(move |upper| (lower, upper));
    let once = range.lower.iter().flat_map(ends).any(is_short);
    if once && l.collapse() == 1 {
        l.mode = l.mode.without_threads();
    }
    l
}

/// Rebases a loop to 0 if its iterator has one lower bound. Indices of buffers for a block then
/// have no outer iterators, so that compilers recognize transpositions and unit strides in them.
fn from_zero(l: Loop) -> Loop {
    let [lower] = l.range.lower.as_slice() else {
        return l;
    };
    if lower.as_constant() == Some(0) {
        return l;
    }
    let shifted = Affine::iterator(l.name.clone()).plus(lower);
    let map = |name: &Name| (*name == l.name).then(|| shifted.clone());
    Loop {
        range: l.range.shifted(&lower.times(-1)),
        body: l.body.iter().map(|t| t.substitute(&map)).collect(),
        ..l
    }
}
