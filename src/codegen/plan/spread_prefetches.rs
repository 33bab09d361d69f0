//! Fetches what later iterations use, where the nest asks for it.
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
//! Where a loop inside fetches for one around it, each of its iterations gets an equal share: many
//! fetches at once would wait for each other.

use super::tree::{Context, Fetch, Loop as PlannedLoop, Node, Plan};
use crate::analysis::prefetch_address::prefetch_addresses;
use crate::analysis::prefetch_plan::prefetch_plan;
use crate::ir::{Loop, Nest};
use std::sync::Arc;

/// The plan in which iterations begin with what they fetch.
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

/// What an iteration of a loop fetches: elements of its own, then its shares.
fn fetches(nest: &Nest, l: &Loop, line: i64) -> impl Iterator<Item = Fetch> {
    let hints = || l.hints.prefetch.iter();
    let own = hints().filter(|fetch| fetch.of.is_none());
    let touched = own.flat_map(|fetch| prefetch_addresses(l, &fetch.tensor, fetch.distance, line));
    let shares = hints().filter_map(|fetch| prefetch_plan(nest, &l.name, fetch, line).ok());
    let all: Vec<Fetch> = touched
        .map(Fetch::Touch)
        .chain(shares.map(Fetch::Slice))
        .collect();
    all.into_iter()
}
