//! Starts threads once for several parallel loops.
//!
//! ```rhai
//! nest(`
//! f64 A[100], B[100]
//! for t in 0..10
//!   parallel for i in 1..99
//!     B[i] = A[i - 1] + A[i + 1]
//!   parallel for i_2 in 1..99
//!     A[i_2] = B[i_2]
//! `)
//! ```
//!
//! Before:
//!
//! ```text
//! for t in 0..10
//!   parallel for i in 1..99
//!     B[i] = A[i - 1] + A[i + 1]
//!   parallel for i_2 in 1..99
//!     A[i_2] = B[i_2]
//! ```
//!
//! After:
//!
//! ```text
//! on all threads
//!   for t in 0..10
//!     shared for i in 1..99
//!       B[i] = A[i - 1] + A[i + 1]
//!     shared for i_2 in 1..99
//!       A[i_2] = B[i_2]
//! ```
//!
//! Consecutive parallel loops share one region, and so does a serial loop around them, which every
//! thread then executes. A barrier follows each parallel loop, unless the next one uses other
//! elements. Local tensors that the loops share are declared before the region, one of each.
//!
//! A loop with a threshold keeps a region of its own, since the threshold decides how many threads
//! run it. The work of the nest decides for all loops of a region.

use super::tree::{Context, Entry, Local, Loop as PlannedLoop, Mode, Node, Plan, Region};
use crate::analysis::bounds::Bounds;
use crate::ir::{Loop, Name, Tree};
use crate::legality::elidable_barriers;
use std::collections::HashSet;
use std::sync::Arc;

/// The plan with parallel loops in regions.
pub(super) fn parallel_region(plan: &Plan, _: &Context<'_>) -> Plan {
    plan.each(|part| part.with(outside(&part.nodes, &Bounds::default())))
}

/// Nodes outside of regions, which one thread executes.
fn outside(nodes: &[Node], bounds: &Bounds) -> Vec<Node> {
    let mut result = Vec::with_capacity(nodes.len());
    let mut rest = nodes;
    while let Some((first, others)) = rest.split_first() {
        let (team, after) = rest.split_at(length_of_team(rest));
        if team.iter().map(loops_to_share).sum::<usize>() > 1 {
            let mut shared: Vec<&Local> = Vec::new();
            team.iter()
                .for_each(|node| shared_locals(node, &mut shared));
            for (k, local) in shared.iter().enumerate() {
                if !shared[..k].iter().any(|other| other.tensor == local.tensor) {
                    result.push(Node::Local((*local).clone()));
                }
            }
            result.push(Node::Region(Region {
                around: with_work(team),
                body: inside(team, bounds),
            }));
            rest = after;
            continue;
        }
        rest = others;
        match (first, others.first()) {
            // Each thread ends its part with a fence.
            (Node::Loop(l), Some(Node::Fence)) if l.is_parallel() => {
                let l = PlannedLoop {
                    shows_remark: false,
                    ..entered(l, Entry::JoinWithoutWaiting)
                };
                result.push(Node::Region(Region {
                    around: Some(l.of.clone()),
                    body: vec![Node::Loop(Arc::new(l)), Node::Fence],
                }));
                rest = &others[1..];
            }
            (Node::Loop(l), _) if !l.is_parallel() && !l.is_vector() => {
                result.push(Node::Loop(Arc::new(PlannedLoop {
                    body: outside(&l.body, &within(&l.of, bounds)),
                    ..(**l).clone()
                })));
            }
            _ => result.push(first.clone()),
        }
    }
    result
}

/// Nodes in a region but outside of shared loops, which all threads execute.
fn inside(nodes: &[Node], bounds: &Bounds) -> Vec<Node> {
    let trees: Vec<Tree> = nodes.iter().filter_map(Node::tree).collect();
    let unwaited: HashSet<Name> = elidable_barriers(&trees, bounds);
    let mut result = Vec::with_capacity(nodes.len());
    for (k, node) in nodes.iter().enumerate() {
        match node {
            // It is declared before the region.
            Node::Local(_) => {}
            Node::Loop(l) if l.is_parallel() => {
                let fenced = matches!(nodes.get(k + 1), Some(Node::Fence));
                let entry = if fenced || unwaited.contains(&l.of.name) {
                    Entry::JoinWithoutWaiting
                } else {
                    Entry::Join
                };
                result.push(Node::Loop(Arc::new(entered(l, entry))));
            }
            Node::Loop(l) => result.push(Node::Loop(Arc::new(PlannedLoop {
                body: inside(&l.body, &within(&l.of, bounds)),
                ..(**l).clone()
            }))),
            Node::Fence => result.extend([Node::Fence, Node::Barrier]),
            other => result.push(other.clone()),
        }
    }
    result
}

fn entered(l: &PlannedLoop, entry: Entry) -> PlannedLoop {
    let mode = match l.mode {
        Mode::Parallel { simd, .. } => Mode::Parallel { entry, simd },
        ref mode => mode.clone(),
    };
    PlannedLoop { mode, ..l.clone() }
}

fn within(l: &Loop, bounds: &Bounds) -> Bounds {
    let mut inside = bounds.clone();
    inside.enter(l);
    inside
}

/// How many leading nodes can share one region. It declares one tensor of each name, so that
/// tensors of one name have to be equal.
fn length_of_team(nodes: &[Node]) -> usize {
    if !matches!(nodes.first(), Some(Node::Loop(_) | Node::Local(_))) {
        return 0;
    }
    let mut shared: Vec<&Local> = Vec::new();
    let mut count = 0;
    for node in nodes {
        shared_locals(node, &mut shared);
        let one_of_each = shared.iter().enumerate().all(|(k, b)| {
            let same_name = |a: &&&Local| a.tensor.name() == b.tensor.name();
            shared[..k]
                .iter()
                .filter(same_name)
                .all(|a| a.tensor == b.tensor)
        });
        if !one_of_each || !is_for_team(node) {
            break;
        }
        count += 1;
    }
    count
}

/// A parallel loop whose work decides whether threads are started, if all of a team have some.
fn with_work(nodes: &[Node]) -> Option<Arc<Loop>> {
    let mut found: Vec<&Arc<Loop>> = Vec::new();
    fn collect<'n>(nodes: &'n [Node], found: &mut Vec<&'n Arc<Loop>>) {
        for node in nodes {
            match node {
                Node::Loop(l) if l.is_parallel() => found.push(&l.of),
                Node::Loop(l) => collect(&l.body, found),
                _ => {}
            }
        }
    }
    collect(nodes, &mut found);
    let work = |l: &Loop| l.sharing().and_then(|sharing| sharing.work);
    let least = found.iter().min_by_key(|l| work(l))?;
    work(least).map(|_| Arc::clone(least))
}

/// Whether a node can share a region with others.
fn is_for_team(node: &Node) -> bool {
    match node {
        Node::Local(_) | Node::Fetch(_) | Node::Fence | Node::InOrder | Node::LoadFence => true,
        Node::Loop(l) => match l.mode {
            Mode::Parallel { .. } => l.of.sharing().is_none_or(|of| of.threshold.is_none()),
            Mode::Serial | Mode::Rolled | Mode::Collapsed { simd: false } => {
                l.body.iter().all(is_for_team) && loops_to_share(node) > 0
            }
            Mode::Simd | Mode::Collapsed { simd: true } | Mode::Unrolled(_) | Mode::Vector(_) => {
                false
            }
        },
        _ => false,
    }
}

/// The local tensors that the loops of a region share.
fn shared_locals<'n>(node: &'n Node, found: &mut Vec<&'n Local>) {
    match node {
        Node::Loop(l) if !l.is_parallel() => l.body.iter().for_each(|n| shared_locals(n, found)),
        Node::Local(local) => found.push(local),
        _ => {}
    }
}

/// The number of parallel loops; those in a serial loop count twice.
fn loops_to_share(node: &Node) -> usize {
    match node {
        Node::Loop(l) if l.is_parallel() => 1,
        Node::Loop(l) => {
            let inside: usize = l.body.iter().map(loops_to_share).sum();
            if is_once(&l.of) { inside } else { 2 * inside }
        }
        _ => 0,
    }
}

fn is_once(l: &Loop) -> bool {
    matches!(l.range.as_constant(), Some((low, high)) if high - low == 1)
}
