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
//! indices do not change. A parallel loop stays parallel over blocks, a vector loop stays
//! vector within them.
//!
//! The tail says what becomes of the last iterations where the factor does not divide their
//! number. `"guard"`, the default, bounds the last block by a `min`, which keeps the nest
//! perfect, so that tiles compose. `"cut"` gives them a loop `i_r` of their own after the
//! blocks, all of which then have the same size, so that they unroll; the loops inside are
//! copied there under the first numbers that are free, and a part without iterations is left
//! out. `"exact"` refuses.
//!
//! ```rhai
//! let A = tensor([10, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! print(build(B).stripmine("i", 4, "cut"));
//! ```
//!
//! ```text
//! f64 B[10][5], A[10][5]
//! for i_o in 0..2
//!   for i_i in 4*i_o..4*i_o + 4
//!     for j in 0..5
//!       B[i_i][j] = A[i_i][j]
//! for i_r in 8..10
//!   for j_2 in 0..5
//!     B[i_r][j_2] = A[i_r][j_2]
//! ```
//!
//! `"aligned"` is for loops whose bounds depend on others, as those of skewed loops do: blocks
//! start at multiples of the factor wherever the loop does, so that they are the same for all
//! iterations of the loops around, and the loops over blocks can move outward. Some blocks have no
//! iterations then.
//!
//! ```rhai
//! let A = tensor([10, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! print(build(B).skew("j", "i", 1).stripmine("j", 4, "aligned"));
//! ```
//!
//! ```text
//! f64 B[10][5], A[10][5]
//! for i in 0..10
//!   for j_o in 0..4
//!     for j_i in max(4*j_o, i)..min(4*j_o + 4, i + 5)
//!       B[i][-i + j_i] = A[i][-i + j_i]
//! ```
//!
//! Always legal: iterations keep their order.
//!
//! Refuses: factors below 1; steps other than 1; new names that are in use; other tails; with
//! `"guard"` several lower bounds; with `"cut"` and `"exact"` a number of iterations that depends on outer loops, with `"exact"` one
//! that the factor does not divide.
//!
//! Source: TeML eq. 20, for extents that the factor divides.

use super::parts::{Names, with_body};
use super::resolve::{chain, check_positive, check_step, find, not_constant};
use crate::analysis::bounds::{self, Bounds};
use crate::analysis::position::splice;
use crate::ir::{Affine, Hints, Loop, Name, Nest, Range, Sharing, Tree};
use crate::transform::{Arg, Error, ErrorKind, Kind, LoopRef, Op, Param, Returns, Value};

/// `stripmine(nest, loop, factor, tail?)`.
pub static STRIPMINE: Op = Op {
    name: "stripmine",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("loop", Kind::Loop),
        Param::new("factor", Kind::Int),
        Param::optional("tail", Kind::Word(TAILS)),
    ],
    returns: Returns::Nest,
    file: include_str!("stripmine.rs"),
    call: |args| match args {
        [Arg::Nest(nest), Arg::Loop(l), Arg::Int(factor)] => {
            stripmine(nest, l, *factor, Tail::Guard).map(Value::Nest)
        }
        [
            Arg::Nest(nest),
            Arg::Loop(l),
            Arg::Int(factor),
            Arg::Word(tail),
        ] => stripmine(nest, l, *factor, Tail::from_word(tail)?).map(Value::Nest),
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// What becomes of the iterations after the last whole block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// They are a block that a `min` bounds.
    Guard,
    /// They are a loop of their own.
    Cut,
    /// There must be none.
    Exact,
    /// Blocks start at multiples of the factor, and bounds cut the first and the last one.
    Aligned,
}

const TAILS: &[&str] = &["guard", "cut", "exact", "aligned"];

impl Tail {
    fn from_word(word: &str) -> Result<Tail, Error> {
        match word {
            "guard" => Ok(Tail::Guard),
            "cut" => Ok(Tail::Cut),
            "exact" => Ok(Tail::Exact),
            "aligned" => Ok(Tail::Aligned),
            _ => Err(Error::from(ErrorKind::NotOneOf {
                parameter: "tail",
                word: word.to_owned(),
                allowed: TAILS,
            })
            .at_argument(3)),
        }
    }
}

/// The nest with a loop split into blocks of `factor` iterations.
///
/// # Errors
/// As the header says.
pub fn stripmine(nest: &Nest, reference: &LoopRef, factor: i64, tail: Tail) -> Result<Nest, Error> {
    let position = find(nest, reference, 1)?;
    check_positive("factor", factor, 2)?;
    let loops = chain(nest, &position);
    let l = loops[position.len() - 1];
    check_step(nest, l)?;
    let mut names = Names::of(nest);
    let new = [names.derive(&l.name, "o")?, names.derive(&l.name, "i")?];
    let trees = match tail {
        Tail::Guard => {
            let [lower] = l.range.lower.as_slice() else {
                return Err(not_constant(nest, l));
            };
            let around = Bounds::around(nest, loops[..position.len() - 1].iter().map(|l| &***l));
            let extent = largest_extent(lower, &l.range.upper, &around);
            let count = (extent / factor) + i64::from(extent % factor != 0);
            let upper = |full: Affine| block_end(full, l, lower, factor, count);
            vec![blocks(l, new, (lower, count, factor), upper)]
        }
        Tail::Aligned => {
            let mut around =
                Bounds::around(nest, loops[..position.len() - 1].iter().map(|l| &***l));
            around.enter(l);
            let (low, high) = around.get(&l.name).ok_or_else(|| not_constant(nest, l))?;
            vec![aligned(l, new, (low, high), factor)]
        }
        Tail::Cut | Tail::Exact => {
            let (lower, extent) = bounds::extent(&l.range).ok_or_else(|| not_constant(nest, l))?;
            let (count, rest) = (extent / factor, extent % factor);
            if tail == Tail::Exact && rest != 0 {
                let name = l.name.clone();
                let kind = ErrorKind::NotDivisible {
                    name: name.clone(),
                    extent,
                    factor,
                };
                return Err(Error::from(kind).at_argument(2).on(nest, [name]));
            }
            let mut trees = Vec::new();
            if count > 0 {
                trees.push(blocks(l, new, (&lower, count, factor), |full| vec![full]));
            }
            if rest > 0 {
                let name = names.derive(&l.name, "r")?;
                let start = lower.plus_constant(count.saturating_mul(factor));
                trees.push(names.part(l, name, Range::of_extent(&start, rest)));
            }
            trees
        }
    };
    Ok(nest.with_trees(splice(nest.trees(), &position, trees)))
}

/// The loops over `count` blocks of `factor` iterations from `lower` on, and within one, where
/// `upper` makes the bounds from the end of a whole block.
fn blocks(
    l: &Loop,
    [outer, inner]: [Name; 2],
    (lower, count, factor): (&Affine, i64, i64),
    upper: impl Fn(Affine) -> Vec<Affine>,
) -> Tree {
    let start = lower.plus(&Affine::iterator(outer.clone()).times(factor));
    let within = Range {
        upper: upper(start.plus_constant(factor)),
        lower: vec![start],
        step: 1,
    };
    split(
        l,
        [outer, inner],
        [Range::constant(0, count), within],
        factor,
    )
}

/// The loop over blocks that start at multiples of `factor`, and the loop within one; the iterator
/// takes no values beyond `low` and `high`.
fn aligned(l: &Loop, [outer, inner]: [Name; 2], (low, high): (i64, i64), factor: i64) -> Tree {
    let (first, last) = (low.div_euclid(factor), high.div_euclid(factor));
    let last = last.max(first - 1);
    let start = Affine::iterator(outer.clone()).times(factor);
    // Constants that no block reaches beyond cut nothing.
    let (least, end) = (
        first.saturating_mul(factor),
        last.saturating_add(1).saturating_mul(factor),
    );
    let own = |bounds: &[Affine], cuts: &dyn Fn(i64) -> bool| -> Vec<Affine> {
        let bounds = bounds.iter().filter(|b| b.as_constant().is_none_or(cuts));
        bounds.cloned().collect()
    };
    let lower = own(&l.range.lower, &|c| c > least);
    let upper = own(&l.range.upper, &|c| c < end);
    let within = Range {
        upper: [start.plus_constant(factor)]
            .into_iter()
            .chain(upper)
            .collect(),
        lower: [start].into_iter().chain(lower).collect(),
        step: 1,
    };
    let blocks = Range::constant(first, last.saturating_add(1));
    split(l, [outer, inner], [blocks, within], factor)
}

/// The loop over the `blocks` of `factor` iterations, and the loop `within` one.
fn split(l: &Loop, [outer, inner]: [Name; 2], [blocks, within]: [Range; 2], factor: i64) -> Tree {
    let serial = Loop {
        parallel: false,
        sharing: Sharing::default(),
        ..l.clone()
    };
    let within = with_body(&serial, inner, within, l.body.clone());
    let in_blocks = |iterations: i64| iterations / factor + i64::from(iterations % factor != 0);
    Tree::of_loop(Loop {
        name: outer,
        range: blocks,
        parallel: l.parallel,
        sharing: Sharing {
            collapse: 1,
            schedule: l.sharing.schedule,
            chunk: l.sharing.chunk.map(in_blocks),
            threshold: l.sharing.threshold.map(in_blocks),
        },
        vector: false,
        lanes: None,
        hints: Hints::default(),
        body: vec![within],
        made_by: None,
    })
}

/// The most iterations that the loop has for any values of the loops around it.
fn largest_extent(lower: &Affine, upper: &[Affine], around: &Bounds) -> i64 {
    let extents = upper.iter().map(|u| u.minus(lower));
    let largest = extents.filter_map(|e| Some(around.interval(&e)?.1)).min();
    largest.unwrap_or(0).max(0)
}

/// The end of a block: `full`, and those of the loop's own bounds that can be less.
fn block_end(full: Affine, l: &Loop, lower: &Affine, factor: i64, blocks: i64) -> Vec<Affine> {
    let mut end = vec![full];
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
