//! Outlines the iterations of parallel loops as C functions.
//!
//! ```rhai
//! nest(`
//! f64 C[64][64], A[64][64]
//! parallel for i in 0..64
//!   vector for j in 0..64
//!     C[i][j] = A[i][j]
//! `)
//! ```
//!
//! Before:
//!
//! ```text
//! parallel for i in 0..64
//!   for j in 0..64, in vectors of f64
//!     C[i][j] = A[i][j]
//! ```
//!
//! After:
//!
//! ```text
//! parallel for i in 0..64
//!   function of i, C, A
//!     for j in 0..64, in vectors of f64
//!       C[i][j] = A[i][j]
//! ```
//!
//! gcc loses `restrict` in parallel regions and for variables, but honors it for parameters.

use super::free_names::FreeNames;
use super::keep_order::goes_both_ways;
use super::tree::{Context, Loop as PlannedLoop, Mode, Node, Outlined, Part, Plan, Region};
use crate::analysis::bounds::Bounds;
use crate::analysis::levels::executions;
use crate::ir::{Name, Schedule};
use std::sync::Arc;

/// Outline an iteration only if it executes at least this many statements: a call costs about as
/// much as a few of them.
const WORTH_A_CALL: f64 = 32.0;

/// The plan with outlined functions. Plain loops have them too: compilers know everywhere that
/// Pluto's arrays do not overlap, which are variables of a file.
pub(super) fn outline(plan: &Plan, _: &Context<'_>) -> Plan {
    let one = |part: &Part| {
        part.with(outlined(
            &part.nodes,
            0,
            &mut Vec::new(),
            &Bounds::default(),
        ))
    };
    Plan {
        parts: plan.parts.iter().map(one).collect(),
    }
}

/// Outlines the iterations in `nodes`. `band` more loops share their iterations with a parallel one
/// around; `iterators` belong to the loops around, outermost first.
fn outlined(
    nodes: &[Node],
    mut band: usize,
    iterators: &mut Vec<Name>,
    around: &Bounds,
) -> Vec<Node> {
    let mut result = Vec::with_capacity(nodes.len());
    for node in nodes {
        result.push(match node {
            Node::Loop(l) if !l.is_vector() => {
                let band = match l.mode {
                    Mode::Parallel { .. } => l.of.collapse(),
                    _ => std::mem::take(&mut band),
                };
                let mut bounds = around.clone();
                bounds.enter(&l.of);
                iterators.push(l.of.name.clone());
                // Lanes of a vector loop cannot be calls.
                let schedule = l.of.sharing().and_then(|sharing| sharing.schedule);
                // A call runs all iterations of a share then.
                let is_of_share = schedule == Some(Schedule::Balanced);
                let is_worth = || is_of_share || executions(&l.of.body, &bounds) >= WORTH_A_CALL;
                let body = if band == 1 && !l.is_simd() && is_worth() {
                    let body = outlined(&l.body, 0, iterators, &bounds);
                    let free = FreeNames::of(&l.body);
                    let used = iterators.iter().filter(|name| free.mentions(name)).cloned();
                    vec![Node::Outlined(Outlined {
                        of: l.of.name.clone(),
                        iterators: used.chain(free.sizes()).collect(),
                        tensors: free.tensors,
                        both_ways: goes_both_ways(&l.of.body),
                        body,
                    })]
                } else {
                    outlined(&l.body, band.saturating_sub(1), iterators, &bounds)
                };
                iterators.pop();
                Node::Loop(Arc::new(PlannedLoop {
                    body,
                    ..(**l).clone()
                }))
            }
            Node::Region(region) => Node::Region(Region {
                body: outlined(&region.body, band, iterators, around),
                ..region.clone()
            }),
            other => other.clone(),
        });
    }
    result
}
