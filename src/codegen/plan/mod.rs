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
mod outer_lanes;
mod outline;
mod pad_rows;
mod parallel_region;
mod partial_vectors;
pub(super) mod power;
mod pseudo;
pub(super) mod raise;
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
    // Makes blocks and loops over lanes, for the next pass to simplify.
    outer_lanes: DECIDES,
    // Rewrites the nest, so it comes before all decisions. They need its constant trip counts.
    simplify: DECIDES,
    // Rewrites the nest again, before vectors are chosen: these decisions see the padded rows.
    pad_rows: DECIDES,
    // The first decision on nodes: most passes below ask which loops are vectors or unrolled.
    choose_vectors: DECIDES,
    // Only vector loops stream.
    stream: DECIDES,
    // A loop that streams aligns its stores first, so that streams come before the ends of vectors.
    partial_vectors: DECIDES,
    // Asks which loops over terms are neither vectors nor unrolled.
    load_fence: HINTS,
    // Vector loops do not prefetch, so they are known by now.
    spread_prefetches: HINTS,
    // Counts the registers of unrolled loops, so it comes before the next pass rolls some of them.
    roll_sums: DECIDES,
    // Judges the loops that are still unrolled. It does not look into regions and functions.
    keep_order: DECIDES,
    // Moves loops, with the fences of `stream`, into regions. It does not look into functions.
    parallel_region: DECIDES,
    // Moves bodies into functions, into which no pass above looks.
    outline: HINTS,
    // Counts the stack in the final order of local tensors: regions move them.
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

/// The plan before all passes. Its proof compares the last one with these nests, which are proved.
fn first(nests: &[Nest]) -> Plan {
    let part = |nest: &Nest| lower::lower(&nest.as_definition());
    Plan {
        parts: nests.iter().map(part).collect(),
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
