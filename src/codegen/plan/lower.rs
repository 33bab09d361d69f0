//! Makes the first plan of a nest: loops run as they are marked, and everything else is undecided.

use super::tree::{Entry, Local, Loop, Mode, Node, Part, Space, Statement};
use crate::ir::{self, Nest, Tree};
use std::sync::Arc;

/// The plan of one nest.
pub(crate) fn lower(nest: &Nest) -> Part {
    Part {
        nodes: nodes(nest.trees(), 0),
        nest: nest.clone(),
        both_ways: false,
    }
}

/// The nodes of trees; `band` more loops share their iterations with a parallel one around.
fn nodes(trees: &[Tree], band: usize) -> Vec<Node> {
    let node = |tree: &Tree| match tree {
        Tree::Loop(l) => {
            let band = l.sharing().map_or(band, |sharing| sharing.collapse);
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
                body: nodes(&l.body, band.saturating_sub(1)),
            }))
        }
        Tree::Stmt(s) => Node::Stmt(Statement {
            of: s.clone(),
            copies: false,
            held: false,
            past: false,
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
