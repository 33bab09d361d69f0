//! `unroll` replaces a loop, or blocks of it, by one copy of its body per iteration.
//!
//! ```rhai
//! let A = tensor([3]);
//! let B = eq(A, [i] -> [i]);
//! print(build(B).unroll("i"));
//! ```
//!
//! ```text
//! f64 B[3], A[3]
//! B[0] = A[0]
//! B[1] = A[1]
//! B[2] = A[2]
//! ```
//!
//! The copies of a loop `j` inside are named `j_u0`, `j_u1` … Unrolling the outermost loop
//! leaves a sequence.
//!
//! With a factor, the loop is first stripmined with the tail `"cut"`, and the loop within blocks is
//! unrolled. The loop over blocks keeps step 1, so that all other transformations accept it.
//!
//! ```rhai
//! let A = tensor([10]);
//! let B = eq(A, [i] -> [i]);
//! print(build(B).unroll("i", 3));
//! ```
//!
//! ```text
//! f64 B[10], A[10]
//! for i_o in 0..3
//!   B[3*i_o] = A[3*i_o]
//!   B[3*i_o + 1] = A[3*i_o + 1]
//!   B[3*i_o + 2] = A[3*i_o + 2]
//! for i_r in 9..10
//!   B[i_r] = A[i_r]
//! ```
//!
//! Always legal: iterations keep their order. Copies of a vector loop's iterations are no longer
//! vectorized.
//!
//! Refuses: a trip count that depends on outer loops; factors below 1; with a factor, steps other
//! than 1; results that are too large; new names that are in use.
//!
//! Source: TeML eq. 25.

use super::parts::names;
use super::resolve::{chain, find};
use super::stripmine::cut;
use crate::analysis::bounds::Bounds;
use crate::analysis::position::splice;
use crate::analysis::verify::{Invalid, MAX_TREES};
use crate::args::{LOOP, NEST};
use crate::ir::{Name, Nest, Tensor, Tree};
use crate::refusals::{name_clash, not_constant};
use crate::{Error, LoopRef, Op, Param, Returns, Value};

const FACTOR: Param<Option<i64>> = Param::new("factor");

/// `unroll(nest, loop, factor?)`.
pub static UNROLL: Op = Op {
    name: "unroll",
    params: &[NEST.any(), LOOP.any(), FACTOR.any()],
    returns: Returns::Nest,
    file: include_str!("unroll.rs"),
    call: |args| {
        let (nest, l) = (args.get(&NEST)?, args.get(&LOOP)?);
        let unrolled = match args.get(&FACTOR)? {
            None => unroll(nest, l),
            Some(factor) => unroll_by(nest, l, factor),
        };
        unrolled.map(Value::Nest).map_err(or_jam)
    },
};

/// The error, with help for unrolling loops that contain loops.
fn or_jam(error: Error) -> Error {
    let loops = error.nest.iter().flat_map(Nest::loops);
    let mut culprits = loops.filter(|(_, l)| error.culprits.contains(&l.name));
    if !culprits.any(|(_, l)| l.body.iter().any(|t| t.as_loop().is_some())) {
        return error;
    }
    let jam = "`unroll_and_jam` keeps one copy of the loops inside";
    let help = error.help.as_ref();
    let help = help.map_or(jam.to_owned(), |help| format!("{help}; {jam}"));
    error.help(help)
}

/// The nest with a loop fully unrolled.
///
/// # Errors
/// As the header says.
pub fn unroll(nest: &Nest, reference: &LoopRef) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let loops = chain(nest, &position);
    let l = loops[position.len() - 1];
    let refuse = |error: Error| error.on(nest, [l.name.clone()]);
    let around = Bounds::around(nest, loops[..position.len() - 1].iter().map(|l| &***l));
    let extent = around.extent(&l.range);
    let (lower, extent) = extent.ok_or_else(|| not_constant(nest, l))?;
    let values = (0..extent).step_by(usize::try_from(l.range.step).unwrap_or(1));
    let body: usize = l.body.iter().map(Tree::size).sum();
    let copies = values.clone().count();
    let trees = copies.saturating_mul(body.max(1));
    if trees > MAX_TREES {
        return Err(refuse(Invalid::TooLarge { trees }.into()));
    }

    let inner: Vec<&Name> = l.body.iter().flat_map(names).collect();
    let locals = declared(&l.body);
    let mut unrolled = Vec::with_capacity(trees);
    for (copy, value) in values.enumerate() {
        let renamed = |name: &Name| {
            (copies > 1 && inner.contains(&name)).then(|| name.derived(format!("u{copy}")))
        };
        if let Some(clash) = inner
            .iter()
            .filter_map(|n| renamed(n))
            .find(|n| nest.has_loop(n))
        {
            return Err(refuse(name_clash(&clash)));
        }
        let fixed = |name: &Name| (*name == l.name).then(|| lower.plus_constant(value));
        let copy = l.body.iter().map(|tree| {
            let tree = tree.substitute(&fixed).rename_loops(&renamed);
            tree.rename_tensors(&|name| copied_local(&locals, name, copy, copies))
        });
        unrolled.extend(copy);
    }
    Ok(nest.with_trees(splice(nest.trees(), &position, unrolled)))
}

/// The names of the local tensors that the trees declare.
pub(super) fn declared(trees: &[Tree]) -> Vec<&Name> {
    let locals = trees.iter().flat_map(Tree::locals);
    locals.filter_map(Tensor::name).collect()
}

/// The name of a local tensor in one of several copies of its scope.
pub(super) fn copied_local(
    locals: &[&Name],
    name: &Name,
    copy: usize,
    copies: usize,
) -> Option<Name> {
    let renamed = copies > 1 && locals.contains(&name);
    renamed.then(|| name.derived(format!("u{copy}")))
}

/// The nest with blocks of `factor` iterations of a loop unrolled.
///
/// # Errors
/// As the header says.
pub fn unroll_by(nest: &Nest, reference: &LoopRef, factor: i64) -> Result<Nest, Error> {
    let cut = cut(nest, reference, factor)?;
    let position = find(nest, reference, &LOOP)?;
    let name = &chain(nest, &position)[position.len() - 1].name;
    let within = name.derived("i");
    // With fewer iterations than the factor, the remainder is the whole loop.
    if !cut.has_loop(&within) {
        return Ok(cut);
    }
    let unrolled = unroll(&cut, &LoopRef::Name(within.to_string()));
    unrolled.map_err(|e| e.on(nest, [name.clone()]))
}
