//! From trees to the plan of a launch.

use super::plan::{Kernel, Node};
use crate::analysis::launches::extent;
use crate::ir::{Affine, Axis, Index, Loop, Name, Tensor, Tree};
use std::collections::HashSet;

/// Adds what each block executes to the plan of a launch.
pub(super) struct Lowering<'a> {
    pub(super) kernel: &'a mut Kernel,
    /// The positions of barriers.
    pub(super) barriers: &'a [Vec<usize>],
    /// The tensors that are in registers of a thread.
    pub(super) registers: HashSet<Name>,
}

/// Loops with more iterations are not unrolled: their tensors stay in memory.
const MOST_COPIES: i64 = 64;

impl Lowering<'_> {
    /// The nodes of a sequence at `position`, inside `chain`.
    pub(super) fn sequence<'t>(
        &mut self,
        trees: &'t [Tree],
        position: &mut Vec<usize>,
        chain: &mut Vec<&'t Loop>,
    ) -> Vec<Node> {
        let mut nodes = Vec::new();
        for k in 0..=trees.len() {
            position.push(k);
            if self.barriers.contains(position) {
                nodes.push(Node::Barrier);
            }
            if let Some(tree) = trees.get(k) {
                nodes.extend(self.tree(tree, position, chain));
            }
            position.pop();
        }
        nodes
    }

    fn tree<'t>(
        &mut self,
        tree: &'t Tree,
        position: &mut Vec<usize>,
        chain: &mut Vec<&'t Loop>,
    ) -> Option<Node> {
        let in_phase = chain.iter().any(|l| l.is_block());
        let node = match tree {
            Tree::Local(tensor) if in_phase => {
                self.registers.extend(tensor.name().cloned());
                return Some(Node::Local(tensor.clone()));
            }
            Tree::Local(_) => return None,
            Tree::Stmt(s) => Node::Stmt(s.clone()),
            Tree::Fill(fill) => Node::Fill(fill.clone()),
            Tree::Loop(l) => {
                let ends = self.ends(l);
                let count = extent(l, chain);
                chain.push(l);
                let body = self.sequence(&l.body, position, chain);
                chain.pop();
                let of = l.clone();
                match l.axis() {
                    Some(axis) => Node::Threads {
                        of,
                        dimension: axis.dimension,
                        ends,
                        body,
                    },
                    None => Node::Loop {
                        unrolled: count.is_some_and(|count| count <= MOST_COPIES)
                            && self.indexes_registers(&l.body, &l.name),
                        of,
                        body,
                    },
                }
            }
        };
        // Serial loops around phases run on all threads.
        let is_uniform = tree.as_loop().is_some_and(|l| has_phase(l));
        if in_phase || is_uniform && !tree.as_loop().is_some_and(|l| l.is_block()) {
            return Some(node);
        }
        let bound = tree.as_loop().map(|l| axes(l)).unwrap_or_default();
        let dimensions = (0..Axis::DIMENSIONS).filter(|d| self.kernel.threads[*d] > 1);
        let dimensions: Vec<usize> = dimensions.filter(|d| !bound.contains(d)).collect();
        Some(match dimensions.is_empty() {
            true => node,
            false => Node::First {
                dimensions,
                body: vec![node],
            },
        })
    }

    /// The upper bounds of a bound loop that a thread of the block may reach.
    fn ends(&self, l: &Loop) -> Vec<Affine> {
        let (Some(axis), [lower]) = (l.axis(), l.range.lower.as_slice()) else {
            return Vec::new();
        };
        let threads = self.kernel.threads[axis.dimension];
        let is_far = |upper: &&Affine| {
            let count = upper.minus(lower).as_constant();
            count.is_some_and(|count| count >= threads)
        };
        let upper = l.range.upper.iter();
        upper.filter(|upper| !is_far(upper)).cloned().collect()
    }

    /// Whether trees use an iterator in an index of a tensor in registers.
    fn indexes_registers(&self, trees: &[Tree], name: &Name) -> bool {
        let is_own = |tensor: &Tensor| tensor.name().is_some_and(|n| self.registers.contains(n));
        let uses = |index: &[Affine]| index.iter().any(|a| a.mentions(name));
        trees.iter().any(|tree| match tree {
            Tree::Local(_) => false,
            Tree::Loop(l) => {
                let bounds: Vec<Affine> = l.range.bounds().cloned().collect();
                self.indexes_registers(&l.body, name)
                    || uses(&bounds) && self.indexes_registers(&l.body, &l.name)
            }
            Tree::Fill(fill) => {
                is_own(&fill.target) && fill.region.iter().any(|(low, _)| low.mentions(name))
            }
            Tree::Stmt(s) => {
                let mut found = is_own(&s.target) && uses(&s.index);
                s.value.for_each_access(&mut |tensor, index| {
                    if let Index::At(index) = index {
                        found |= is_own(tensor) && uses(index);
                    }
                });
                found
            }
        })
    }
}

/// Whether a loop, or one in it, is a phase.
fn has_phase(l: &Loop) -> bool {
    let mut inner = l.body.iter().filter_map(Tree::as_loop);
    l.is_block() || inner.any(|l| has_phase(l))
}

/// The dimensions that a phase binds.
fn axes(l: &Loop) -> Vec<usize> {
    let own = l.axis().map(|axis| axis.dimension);
    let inner = match l.body.as_slice() {
        [Tree::Loop(inner)] if inner.is_block() => axes(inner),
        _ => Vec::new(),
    };
    own.into_iter().chain(inner).collect()
}
