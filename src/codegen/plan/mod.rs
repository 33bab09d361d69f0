//! The plan of a kernel: all decisions about its code.
//!
//! A plan is an immutable tree, which prints as pseudo-code. Passes transform plans. Each pass is
//! one file with one pure function, and a line in the table below; later passes read the decisions
//! of earlier ones from the nodes.

mod allocate;
mod choose_vectors;
mod free_names;
mod keep_order;
pub(super) mod lanes;
mod load_fence;
mod lower;
mod outline;
mod pad_rows;
mod parallel_region;
mod partial_vectors;
pub(super) mod power;
mod pseudo;
mod roll_sums;
mod simplify;
mod spread_prefetches;
pub(super) mod stream;
pub mod tree;

pub use tree::Plan;

use crate::ir::Nest;
use crate::legality::is_stopped;
use tree::Context;

/// A pass: from plan to plan.
struct Pass {
    /// The name of its function and of its file.
    name: &'static str,
    /// Its file; the header is its documentation.
    file: &'static str,
    run: fn(&Plan, &Context<'_>) -> Plan,
    /// Whether it only gives hints to compilers and processors. The cost model ignores these, so
    /// predictions skip it.
    hints: bool,
}

/// The values of [`Pass::hints`].
const DECIDES: bool = false;
const HINTS: bool = true;

macro_rules! passes {
    ($($name:ident: $hints:ident),* $(,)?) => {
        &[$(Pass {
            name: stringify!($name),
            file: include_str!(concat!(stringify!($name), ".rs")),
            run: $name::$name,
            hints: $hints,
        }),*]
    };
}

/// All passes, in order.
static PASSES: &[Pass] = passes![
    simplify: DECIDES,
    pad_rows: DECIDES,
    choose_vectors: DECIDES,
    stream: DECIDES,
    partial_vectors: DECIDES,
    load_fence: HINTS,
    spread_prefetches: HINTS,
    roll_sums: DECIDES,
    keep_order: DECIDES,
    parallel_region: DECIDES,
    outline: HINTS,
    allocate: DECIDES,
];

/// The plan before and after a pass.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The name of the pass.
    pub name: &'static str,
    /// The file of that pass.
    pub file: &'static str,
    /// The plan before it.
    pub before: Plan,
    /// The plan after it.
    pub after: Plan,
}

fn first(nests: &[Nest]) -> Plan {
    Plan {
        parts: nests.iter().map(lower::lower).collect(),
    }
}

/// The plan of nests that run in order; `None` if the user stopped it.
pub(super) fn plan(nests: &[Nest], context: &Context<'_>) -> Option<Plan> {
    planned(PASSES.iter(), nests, context)
}

/// The plan without hints, for predictions.
pub(super) fn without_hints(nests: &[Nest], context: &Context<'_>) -> Option<Plan> {
    planned(PASSES.iter().filter(|pass| !pass.hints), nests, context)
}

fn planned<'p>(
    mut passes: impl Iterator<Item = &'p Pass>,
    nests: &[Nest],
    context: &Context<'_>,
) -> Option<Plan> {
    passes.try_fold(first(nests), |plan, pass| {
        (!is_stopped()).then(|| (pass.run)(&plan, context))
    })
}

/// The plans before and after each pass.
pub(super) fn stages(nests: &[Nest], context: &Context<'_>) -> Vec<Stage> {
    let mut before = first(nests);
    let mut stages = Vec::new();
    for pass in PASSES {
        let after = (pass.run)(&before, context);
        stages.push(Stage {
            name: pass.name,
            file: pass.file,
            before,
            after: after.clone(),
        });
        before = after;
    }
    stages
}
