//! Stops compilers from hoisting epilogue loads, such as a bias, above the reduction.
//!
//! ```rhai
//! nest(`
//! f64 C[8][8], A[8][64], B[64][8], bias[8]
//! for i in 0..8
//!   local f64 T[8]
//!   vector for j in 0..8
//!     T[j] = 0
//!   for k in 0..64
//!     vector for j_2 in 0..8
//!       T[j_2] += A[i][k] * B[k][j_2]
//!   vector for j_3 in 0..8
//!     T[j_3] += bias[j_3]
//!   vector for j_4 in 0..8
//!     C[i][j_4] = T[j_4]
//! `)
//! ```
//!
//! Before:
//!
//! ```text
//! for i in 0..8
//!   local f64 T[8] on the stack
//!   for j in 0..8, in vectors of f64
//!     T[j] = 0
//!   for k in 0..64
//!     for j_2 in 0..8, in vectors of f64
//!       T[j_2] += A[i][k] * B[k][j_2]
//!   for j_3 in 0..8, in vectors of f64
//!     T[j_3] += bias[j_3]
//!   for j_4 in 0..8, in vectors of f64
//!     C[i][j_4] = T[j_4]
//! ```
//!
//! After:
//!
//! ```text
//! for i in 0..8
//!   local f64 T[8] on the stack
//!   for j in 0..8, in vectors of f64
//!     T[j] = 0
//!   for k in 0..64
//!     for j_2 in 0..8, in vectors of f64
//!       T[j_2] += A[i][k] * B[k][j_2]
//!   no load is moved above this
//!   for j_3 in 0..8, in vectors of f64
//!     T[j_3] += bias[j_3]
//!   for j_4 in 0..8, in vectors of f64
//!     C[i][j_4] = T[j_4]
//! ```
//!
//! Compilers hoist loads that are the same for the next tile out of the loop over tiles. They keep
//! the values in registers that the sum then lacks, so that the sum is spilled and reloaded with
//! each term.

use super::lanes::may_be_registers;
use super::tree::{Context, Loop as PlannedLoop, Node, Plan};
use crate::ir::{Index, Name, Stmt, Tensor};
use crate::target::Target;
use std::sync::Arc;

/// The plan with fences before epilogue loads.
pub(super) fn load_fence(plan: &Plan, context: &Context<'_>) -> Plan {
    plan.each(|part| part.with(fenced(&part.nodes, None, context.target)))
}

fn fenced(nodes: &[Node], around: Option<&Name>, target: &Target) -> Vec<Node> {
    let mut result: Vec<Node> = Vec::with_capacity(nodes.len());
    for (k, node) in nodes.iter().enumerate() {
        if around.is_some_and(|around| is_late(&nodes[..k], node, around, target)) {
            result.push(Node::LoadFence);
        }
        result.push(match node {
            Node::Loop(l) if !l.is_vector() => Node::Loop(Arc::new(PlannedLoop {
                body: fenced(&l.body, Some(&l.of.name), target),
                ..(**l).clone()
            })),
            other => other.clone(),
        });
    }
    result
}

/// Whether a node is an epilogue, with loads that could be hoisted above the sums in `earlier`
/// nodes of the same body.
fn is_late(earlier: &[Node], node: &Node, around: &Name, target: &Target) -> bool {
    let tiles = earlier.iter().filter_map(|node| match node {
        Node::Local(local) if may_be_registers(&local.tensor, target) => Some(&local.tensor),
        _ => None,
    });
    let tiles: Vec<&Tensor> = tiles.collect();
    let is_tile = |s: &Stmt| tiles.contains(&&s.target);
    let sums = |node: &Node| match node {
        Node::Loop(l) if !l.is_unrolled() && !l.is_vector() => {
            some(l, &|s| is_tile(s) && s.update.is_some())
        }
        _ => false,
    };
    let is_late = |s: &Stmt| is_tile(s) && reads_the_same(s, around, &tiles);
    let late = match node {
        Node::Loop(l) => some(l, &is_late),
        Node::Stmt(s) => is_late(&s.of),
        _ => false,
    };
    late && !sums(node) && earlier.iter().any(sums)
}

/// Whether any statement in a loop satisfies `like`.
fn some(l: &PlannedLoop, like: &dyn Fn(&Stmt) -> bool) -> bool {
    l.body.iter().any(|node| match node {
        Node::Loop(l) => some(l, like),
        Node::Stmt(s) => like(&s.of),
        _ => false,
    })
}

/// Whether a statement reads elements of other tensors that are invariant to the loop `around`.
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
