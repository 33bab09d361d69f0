//! `stripmine` splits a loop into blocks: a loop over blocks and one over the block's values.
//!
//! ```rhai
//! let A = tensor([10]);
//! let B = eq(A, [i] -> [i]);
//! print(build(B).stripmine("i", 4));
//! ```
//!
//! ```text
//! f64 B[10], A[10]
//! for i_o in 0..3
//!   for i_i in 4*i_o..min(4*i_o + 4, 10)
//!     B[i_i] = A[i_i]
//! ```
//!
//! `i` becomes `i_o` over blocks and `i_i` within one; `i_i` keeps the values of `i`, so that
//! indices do not change. Where the factor does not divide the extent, the last block is
//! guarded by a `min` in its bound (the tail `guard`), which keeps the nest perfect. A parallel
//! loop stays parallel over blocks, a vector loop stays vector within them.
//!
//! Always legal: iterations keep their order.
//!
//! Refuses: factors below 1; steps other than 1; new names that are in use.
//!
//! Source: TeML eq. 20, for extents that the factor divides.

use super::resolve::{chain, find};
use crate::analysis::bounds::Bounds;
use crate::analysis::position::splice;
use crate::ir::{Affine, Loop, Name, Nest, Range, Tree};
use crate::transform::{Arg, Error, ErrorKind, Kind, LoopRef, Op, Param, Returns, Value};

/// `stripmine(nest, loop, factor)`.
pub static STRIPMINE: Op = Op {
    name: "stripmine",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("loop", Kind::Loop),
        Param::new("factor", Kind::Int),
    ],
    returns: Returns::Nest,
    file: include_str!("stripmine.rs"),
    call: |args| match args {
        [Arg::Nest(nest), Arg::Loop(l), Arg::Int(factor)] => {
            stripmine(nest, l, *factor).map(Value::Nest)
        }
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The nest with a loop split into blocks of `factor` iterations.
///
/// # Errors
/// As the header says.
pub fn stripmine(nest: &Nest, reference: &LoopRef, factor: i64) -> Result<Nest, Error> {
    let position = find(nest, reference, 1)?;
    if factor < 1 {
        let kind = ErrorKind::NotPositive {
            parameter: "factor",
            value: factor,
        };
        return Err(Error::from(kind).at_argument(2));
    }
    let loops = chain(nest, &position);
    let l = loops[position.len() - 1];
    if l.range.step != 1 {
        let (name, step) = (l.name.clone(), l.range.step);
        return Err(Error::from(ErrorKind::Stepped {
            name: name.clone(),
            step,
        })
        .on(nest, [name]));
    }
    let [lower] = l.range.lower.as_slice() else {
        let (name, range) = (l.name.clone(), l.range.to_string());
        let kind = ErrorKind::NotConstant {
            name: name.clone(),
            range,
        };
        return Err(Error::from(kind).on(nest, [name]));
    };
    let (outer, inner) = (l.name.derived("o"), l.name.derived("i"));
    for name in [&outer, &inner] {
        if nest.has_loop(name) {
            let kind = ErrorKind::NameClash { name: name.clone() };
            return Err(Error::from(kind).on(nest, [name.clone(), l.name.clone()]));
        }
    }

    let around = Bounds::around(nest, loops[..position.len() - 1].iter().map(|l| &***l));
    let extent = largest_extent(lower, &l.range.upper, &around);
    let blocks = (extent / factor) + i64::from(extent % factor != 0);
    let start = lower.plus(&Affine::iterator(outer.clone()).times(factor));
    let upper = block_end(&start.plus_constant(factor), l, lower, factor, blocks);
    let rename = |name: &Name| (*name == l.name).then(|| Affine::iterator(inner.clone()));
    let within = Tree::of_loop(Loop {
        name: inner.clone(),
        range: Range {
            lower: vec![start],
            upper,
            step: 1,
        },
        parallel: false,
        vector: l.vector,
        body: l.body.iter().map(|t| t.substitute(&rename)).collect(),
        made_by: None,
    });
    let over = Tree::of_loop(Loop {
        name: outer,
        range: Range::constant(0, blocks),
        parallel: l.parallel,
        vector: false,
        body: vec![within],
        made_by: None,
    });
    Ok(nest.with_trees(splice(nest.trees(), &position, vec![over])))
}

/// The most iterations that the loop has for any values of the loops around it.
fn largest_extent(lower: &Affine, upper: &[Affine], around: &Bounds) -> i64 {
    let extents = upper.iter().map(|u| u.minus(lower));
    let largest = extents.filter_map(|e| Some(around.interval(&e)?.1)).min();
    largest.unwrap_or(0).max(0)
}

/// The end of a block: `full`, and those of the loop's own bounds that can be less.
fn block_end(full: &Affine, l: &Loop, lower: &Affine, factor: i64, blocks: i64) -> Vec<Affine> {
    let mut end = vec![full.clone()];
    for bound in &l.range.upper {
        // A bound that every block reaches exactly or that lies behind them cuts nothing.
        let distance = bound.minus(lower).as_constant();
        let covered = factor.checked_mul(blocks);
        let cuts = !matches!((distance, covered), (Some(d), Some(c)) if d >= c);
        if cuts {
            end.push(bound.clone());
        }
    }
    end
}
