//! The plan of a kernel: all decisions about its code.
//!
//! A plan is an immutable tree, which prints as pseudo-code. First, nests are rewritten. Then they
//! become plans, which passes transform. Each rewrite and each pass is one file with one pure
//! function, and a line in a table below. Passes read the decisions of earlier ones from the nodes.

mod allocate;
mod choose_vectors;
mod free_names;
mod keep_order;
pub(super) mod lanes;
mod load_fence;
mod load_once;
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
use crate::target::Target;
use tree::Context;

/// A rewrite or a pass.
struct Step<F> {
    /// The name of its function and of its file.
    name: &'static str,
    /// Its file; the header is its documentation.
    file: &'static str,
    run: F,
    /// Whether it only gives hints to compilers and processors. The cost model ignores these, so
    /// predictions skip it.
    hints: bool,
}

/// From nest to nest.
type Rewrite = Step<fn(&Nest, &Target) -> Nest>;

/// From plan to plan.
type Pass = Step<fn(&Plan, &Context<'_>) -> Plan>;

/// The values of [`Step::hints`].
const DECIDES: bool = false;
const HINTS: bool = true;

macro_rules! steps {
    ($($name:ident: $hints:ident),* $(,)?) => {
        &[$(Step {
            name: stringify!($name),
            file: include_str!(concat!(stringify!($name), ".rs")),
            run: $name::$name,
            hints: $hints,
        }),*]
    };
}

/// All rewrites, in order.
static REWRITES: &[Rewrite] = steps![
    // Makes blocks and loops over lanes, for the next one to simplify.
    outer_lanes: DECIDES,
    // All decisions need its constant trip counts.
    simplify: DECIDES,
    // Its copies are register tiles, whose rows the next one may pad.
    load_once: HINTS,
    // Decisions about vectors see the padded rows.
    pad_rows: DECIDES,
];

/// All passes, in order.
static PASSES: &[Pass] = steps![
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

/// The plan before and after a rewrite or a pass.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    /// Its file.
    pub file: &'static str,
    /// The plan before it.
    pub before: Plan,
    /// The plan after it.
    pub after: Plan,
}

/// The nests before all rewrites. The proof of a plan compares it with them; they are proved.
fn first(nests: &[Nest]) -> Vec<Nest> {
    let nests = nests.iter().map(Nest::as_definition);
    nests.map(lower::in_order).collect()
}

/// The nests after a rewrite. Plain loops stay as they are.
fn rewritten(nests: &[Nest], rewrite: &Rewrite, context: &Context<'_>) -> Vec<Nest> {
    let one = |nest: &Nest| match nest.is_left_to_compiler() {
        true => nest.clone(),
        false => (rewrite.run)(nest, context.target),
    };
    nests.iter().map(one).collect()
}

/// The plan before all passes.
fn lowered(nests: &[Nest]) -> Plan {
    Plan {
        parts: nests.iter().map(lower::lower).collect(),
    }
}

/// The plan of nests that run in order; `None` if the user stopped it.
pub(super) fn plan(nests: &[Nest], context: &Context<'_>) -> Option<Plan> {
    planned(|_| true, nests, context)
}

/// The plan without hints, for predictions.
pub(super) fn without_hints(nests: &[Nest], context: &Context<'_>) -> Option<Plan> {
    planned(|hints| !hints, nests, context)
}

/// The plan after the steps that `takes` chooses: it is asked whether a step only gives hints.
fn planned(takes: impl Fn(bool) -> bool, nests: &[Nest], context: &Context<'_>) -> Option<Plan> {
    let mut rewrites = REWRITES.iter().filter(|step| takes(step.hints));
    let nests = rewrites.try_fold(first(nests), |nests, rewrite| {
        (!is_stopped()).then(|| rewritten(&nests, rewrite, context))
    })?;
    let mut passes = PASSES.iter().filter(|step| takes(step.hints));
    passes.try_fold(lowered(&nests), |plan, pass| {
        (!is_stopped()).then(|| (pass.run)(&plan, context))
    })
}

/// The plans before and after each rewrite and each pass.
pub(super) fn stages(nests: &[Nest], context: &Context<'_>) -> Vec<Stage> {
    let mut nests = first(nests);
    let mut before = lowered(&nests);
    let mut stages = Vec::new();
    let mut stage = |name, file, after: Plan| {
        let before = std::mem::replace(&mut before, after.clone());
        stages.push(Stage {
            name,
            file,
            before,
            after: after.clone(),
        });
        after
    };
    for rewrite in REWRITES {
        nests = rewritten(&nests, rewrite, context);
        stage(rewrite.name, rewrite.file, lowered(&nests));
    }
    let mut plan = lowered(&nests);
    for pass in PASSES {
        plan = stage(pass.name, pass.file, (pass.run)(&plan, context));
    }
    stages
}
