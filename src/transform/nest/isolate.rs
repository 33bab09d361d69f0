//! `isolate` splits a loop at iterations that alone run some statements inside, such as the tiles on a
//! diagonal. The other iterations need not ask for them.
//!
//! ```rhai
//! let p = nest(`
//!   f64 A[192]
//!   for k_o in 0..6
//!     for j in 32*k_o..32*k_o + 32
//!       A[j] += 1
//!     for j_2 in max(32*k_o, 100)..min(32*k_o + 32, 101)
//!       A[j_2] *= 2
//! `);
//! print(p.isolate("k_o").tighten());
//! ```
//!
//! ```text
//! f64 A[192]
//! for k_o in 0..3
//!   for j in 32*k_o..32*k_o + 32
//!     A[j] += 1
//! for k_o_b in 3..4
//!   for j_3 in 32*k_o_b..32*k_o_b + 32
//!     A[j_3] += 1
//!   A[100] *= 2
//! for k_o_b_2 in 4..6
//!   for j_4 in 32*k_o_b_2..32*k_o_b_2 + 32
//!     A[j_4] += 1
//! ```
//!
//! Which iterations run a statement follows from the bounds of the loops inside. The first part keeps
//! the name of the loop, later ones are called `k_o_b`, `k_o_b_2` and so on. Loops inside are copied
//! there under the first free numbers. Parts that execute nothing are left out. Bodies are whole
//! copies: `tighten` drops from each part what it never runs.
//!
//! Always legal: iterations keep their order.
//!
//! Refuses: a loop in which all statements run in several iterations, or whose bounds are read; more
//! than six parts; steps other than 1.
//!
//! Source: index-set splitting, Griebl, Feautrier and Lengauer, Index Set Splitting, 2000; the
//! separation of statements in Quilleré, Rajopadhye and Wilde, Generation of Efficient Nested Loops
//! from Polyhedra, 2000.

use super::parts::Names;
use super::resolve::{chain, check_step, find};
use crate::analysis::implied::simplified_range;
use crate::analysis::position::splice;
use crate::analysis::reached::{Alternative, alternatives, is_never};
use crate::args::{LOOP, NEST};
use crate::ir::{Affine, Loop, Nest, Range, Role, Tree};
use crate::{Error, LoopRef, Op, Returns, Value, refusal};

/// `isolate(nest, loop)`.
pub static ISOLATE: Op = Op {
    name: "isolate",
    params: &[NEST.any(), LOOP.any()],
    returns: Returns::Nest,
    file: include_str!("isolate.rs"),
    call: |args| isolate(args.get(&NEST)?, args.get(&LOOP)?).map(Value::Nest),
};

/// The bound of the number of parts.
const MAX_PARTS: usize = 6;

/// The nest with a loop split at iterations that alone run some statements.
///
/// # Errors
/// As the header says.
pub fn isolate(nest: &Nest, reference: &LoopRef) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let loops = chain(nest, &position);
    let l = loops[position.len() - 1];
    check_step(nest, l)?;
    let outer = loops[..position.len() - 1].iter().map(|l| &***l);
    let around: Vec<&Loop> = nest.context().iter().chain(outer).collect();
    let ways = alternatives(&l.body);
    let live = |range: &Range| -> Vec<usize> {
        let own = with_range(l, range);
        let inside: Vec<&Loop> = around.iter().copied().chain([&own]).collect();
        let runs = |k: &usize| !is_never(&ways[*k], &inside);
        (0..ways.len()).filter(runs).collect()
    };
    let mut parts = vec![(l.range.clone(), live(&l.range))];
    for at in ways.iter().flat_map(|way| single(l, way)) {
        for at in [at.clone(), at.plus_constant(1)] {
            let halves = |(range, _): &(Range, Vec<usize>)| {
                let (mut before, mut after) = (range.clone(), range.clone());
                before.upper.push(at.clone());
                after.lower.push(at.clone());
                [before, after].map(|half| (live(&half), half))
            };
            let split: Vec<_> = parts.iter().map(halves).collect();
            let differ = |[before, after]: &[(Vec<usize>, Range); 2]| before.0 != after.0;
            if !split.iter().any(differ) {
                continue;
            }
            let all = split.into_iter().flatten();
            let some = all.filter(|(live, _)| !live.is_empty());
            parts = some
                .map(|(live, range)| (simplified_range(&range, &around), live))
                .collect();
        }
    }
    let (name, count) = (&l.name, parts.len());
    let refused = |text: String| Err(refusal(text).on(nest, [name.clone()]));
    if count < 2 || l.range.within.is_some() {
        return refused(format!(
            "`{name}` has no iteration that alone runs a statement inside of it"
        ));
    }
    if count > MAX_PARTS {
        return refused(format!(
            "`{name}` would be cut into {count} parts, and {MAX_PARTS} are the most"
        ));
    }
    let mut names = Names::of(nest);
    let mut trees: Vec<Tree> = Vec::with_capacity(parts.len());
    for (range, _) in parts {
        trees.push(if trees.is_empty() {
            Tree::of_loop(Loop {
                range,
                ..(**l).clone()
            })
        } else {
            let name = names.free(&l.name.derived("b"));
            names.part(l, Role::Peeled, name, range)
        });
    }
    Ok(nest.with_trees(splice(nest.trees(), &position, trees)))
}

fn with_range(l: &Loop, range: &Range) -> Loop {
    Loop {
        range: range.clone(),
        body: Vec::new(),
        ..l.clone()
    }
}

/// The only iteration of a loop in an alternative, if bounds say so, and the loop has others.
fn single(l: &Loop, way: &Alternative) -> Option<Affine> {
    let iterator = Affine::iterator(l.name.clone());
    let with = |factor: i64| way.iter().filter(move |v| v.coefficient(&l.name) == factor);
    let lower: Vec<Affine> = with(1).map(|v| iterator.minus(v)).collect();
    let upper: Vec<Affine> = with(-1).map(|v| v.plus(&iterator)).collect();
    let ends = l.range.upper.iter().map(|end| end.plus_constant(-1));
    let ends: Vec<Affine> = ends.collect();
    let all = lower.iter().chain(&l.range.lower);
    let mut both = all.flat_map(|low| upper.iter().chain(&ends).filter(move |at| *at == low));
    both.find(|at| lower.contains(at) || upper.contains(at))
        .cloned()
}
