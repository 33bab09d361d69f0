//! Makes the first plan of a nest: loops run as they are marked, and everything else is undecided.
//!
//! Iterations of a parallel loop that is atomic may update the same elements, by atomic operations.
//! Vectors have none, so that vector loops around such updates run in order.

use super::tree::{Entry, Local, Loop, Mode, Node, Part, Space, Statement};
use crate::ir::{self, Name, Nest, Stmt, Tree};
use std::sync::Arc;

/// The plan of one nest.
pub(super) fn lower(nest: &Nest) -> Part {
    Part {
        nodes: nodes(nest.trees(), 0, &Shared::default()),
        nest: nest.clone(),
        both_ways: false,
    }
}

/// The nest without vector loops around atomic updates.
pub(super) fn in_order(nest: Nest) -> Nest {
    if !nest.loops().iter().any(|(_, l)| l.is_atomic()) {
        return nest;
    }
    let (trees, _) = trees_in_order(nest.trees(), &Shared::default());
    nest.with_trees(trees)
}

/// The local tensors inside of a loop whose updates are atomic. `None` outside of such loops.
#[derive(Clone, Default)]
struct Shared(Option<Vec<Name>>);

impl Shared {
    /// The same for the body of a loop.
    fn inside(&self, l: &ir::Loop) -> Shared {
        match &self.0 {
            None if l.is_atomic() => Shared(Some(Vec::new())),
            _ => self.clone(),
        }
    }

    /// The same with the local tensors of a sequence.
    fn with_locals(&self, trees: &[Tree]) -> Shared {
        let own = trees.iter().filter_map(|tree| match tree {
            Tree::Local(tensor) => tensor.name().cloned(),
            _ => None,
        });
        let all = self.0.as_ref();
        Shared(all.map(|known| known.iter().cloned().chain(own).collect()))
    }

    /// Whether a statement updates an element that several threads may update.
    fn is_atomic(&self, s: &Stmt) -> bool {
        let is_own = |own: &Vec<Name>| s.target.name().is_some_and(|name| own.contains(name));
        s.update.is_some() && self.0.as_ref().is_some_and(|own| !is_own(own))
    }
}

/// The trees without vector loops around atomic updates, and whether there are such updates.
fn trees_in_order(trees: &[Tree], shared: &Shared) -> (Vec<Tree>, bool) {
    let shared = shared.with_locals(trees);
    let mut any = false;
    let mut tree = |tree: &Tree| match tree {
        Tree::Loop(l) => {
            let (body, is_atomic) = trees_in_order(&l.body, &shared.inside(l));
            any |= is_atomic;
            let mode = match is_atomic {
                true => l.mode.without_lanes(),
                false => l.mode,
            };
            Tree::of_loop(ir::Loop {
                mode,
                body,
                ..(**l).clone()
            })
        }
        Tree::Stmt(s) => {
            any |= shared.is_atomic(s);
            tree.clone()
        }
        Tree::Fill(_) | Tree::Local(_) => tree.clone(),
    };
    let trees = trees.iter().map(&mut tree).collect();
    (trees, any)
}

/// The nodes of trees; `band` more loops share their iterations with a parallel one around.
fn nodes(trees: &[Tree], band: usize, shared: &Shared) -> Vec<Node> {
    let shared = shared.with_locals(trees);
    let node = |tree: &Tree| match tree {
        Tree::Loop(l) => {
            let simd = l.is_vector();
            let mode = match l.mode {
                ir::Mode::Parallel { .. } | ir::Mode::ParallelVector { .. } => Mode::Parallel {
                    entry: Entry::Call,
                    simd,
                },
                _ if band > 0 => Mode::Collapsed { simd },
                ir::Mode::Vector { .. } => Mode::Simd,
                // A nest with bound loops has a plan of its own.
                ir::Mode::Serial | ir::Mode::Bound { .. } => Mode::Serial,
            };
            Node::Loop(Arc::new(Loop {
                of: l.clone(),
                mode,
                why: None,
                shows_remark: true,
                body: nodes(&l.body, l.band_inside(band), &shared.inside(l)),
            }))
        }
        Tree::Stmt(s) => Node::Stmt(Statement {
            of: s.clone(),
            copies: false,
            held: false,
            past: false,
            atomic: shared.is_atomic(s),
        }),
        Tree::Fill(fill) => Node::Fill(fill.clone()),
        Tree::Local(tensor) => Node::Local(Local {
            tensor: tensor.clone(),
            space: Space::Stack,
            zeros: false,
            is_read: true,
        }),
    };
    trees.iter().map(node).collect()
}
