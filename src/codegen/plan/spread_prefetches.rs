//! Prefetches elements for later iterations, as the nest demands.
//!
//! ```rhai
//! let x = tensor([100]);
//! let y = eq(x, [i] -> [i]);
//! build(y).prefetch("i", x, 16)
//! ```
//!
//! Before:
//!
//! ```text
//! for i in 0..100
//!   y[i] = x[i]
//! ```
//!
//! After:
//!
//! ```text
//! for i in 0..100
//!   fetch x[i + 16]
//!   y[i] = x[i]
//! ```
//!
//! If an inner loop prefetches for a loop around it, each of its iterations fetches an equal share:
//! many fetches at once would wait for each other. A prefetch is a hint: if its loop no longer
//! exists, nothing is fetched.

use super::tree::{Context, Fetch, Loop as PlannedLoop, Node, Plan};
use crate::analysis::prefetch_address::prefetch_addresses;
use crate::analysis::prefetch_plan::prefetch_plan;
use crate::ir::{Loop, Nest};
use std::sync::Arc;

/// The plan with prefetches at the start of iterations.
pub(super) fn spread_prefetches(plan: &Plan, context: &Context<'_>) -> Plan {
    let line = context.target.line.cast_signed();
    plan.each(|part| part.with(fetching(&part.nest, &part.nodes, line)))
}

fn fetching(nest: &Nest, nodes: &[Node], line: i64) -> Vec<Node> {
    let node = |node: &Node| match node {
        Node::Loop(l) if !l.is_vector() => {
            let inside = fetching(nest, &l.body, line);
            let body = fetches(nest, &l.of, line).map(Node::Fetch).chain(inside);
            Node::Loop(Arc::new(PlannedLoop {
                body: body.collect(),
                ..(**l).clone()
            }))
        }
        other => other.clone(),
    };
    nodes.iter().map(node).collect()
}

/// The prefetches of an iteration: single elements first, then shares.
fn fetches(nest: &Nest, l: &Loop, line: i64) -> impl Iterator<Item = Fetch> {
    let hints = || l.hints.prefetch.iter();
    let own = hints().filter(|fetch| fetch.of.is_none());
    let touched = own.flat_map(|fetch| prefetch_addresses(l, &fetch.tensor, fetch.distance, line));
    let shares = hints().filter_map(|fetch| prefetch_plan(nest, &l.name, fetch, line).ok());
    let all: Vec<Fetch> = touched
        .map(Fetch::Touch)
        .chain(shares.map(Fetch::Share))
        .collect();
    all.into_iter()
}
