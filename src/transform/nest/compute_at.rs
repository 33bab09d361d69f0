//! `compute_at` moves a producer into a loop of its consumer: each iteration computes only what it
//! reads.
//!
//! ```rhai
//! let A = tensor([10, 12]);
//! let B = mul(A, A, [[y, x], [y, x]] -> [y, x]);
//! let C = add(B, B, [[y - 1, x], [y + 1, x]] -> [y, x]);
//! print(build(B).compute_at(build(C), "y"));
//! ```
//!
//! ```text
//! f64 A[10][12], C[9][12]
//! for y in 1..9
//!   local f64 B[3][12]
//!   for y_2 in y - 1..y + 2
//!     for x_2 in 0..12
//!       B[y_2 - y + 1][x_2] = A[y_2][x_2] * A[y_2][x_2]
//!   for x in 0..12
//!     C[y][x] = B[0][x] + B[2][x]
//! ```
//!
//! `compute_at(producer, consumer, loop)`: the producer's tensor becomes local to an iteration of
//! the loop. It is as large as the box of elements that an iteration reads. The producer's loops
//! run at the start of the loop's body, over that box, as far as the producer sets it. They keep
//! their order and modes. Loops whose names the consumer has get the first free number; loops and
//! dimensions with a single element disappear. The initialization of a reduction moves along.
//!
//! Elements that several iterations read are recomputed by each of them, also elements that do not
//! depend on the loop's iteration. In some dimension, there may be no box of constant size, smaller
//! than the tensor, that holds what an iteration reads. Each iteration then computes all of that
//! dimension. Level 0 means no loop: the tensor is local to the whole nest.
//!
//! With blocks, the last one of them smaller:
//!
//! ```rhai
//! let A = tensor([11]);
//! let B = vmul(A, 2, [[i], ]);
//! let B = eq(B, [i]);
//! let C = add(B, B, [[i - 1], [i + 1]] -> [i]);
//! print(build(B).compute_at(build(C).stripmine("i", 4), "i_o"));
//! ```
//!
//! ```text
//! f64 A[11], C[10]
//! for i_o in 0..3
//!   local f64 B[6]
//!   for i in 4*i_o..min(4*i_o + 6, 11)
//!     B[i - 4*i_o] = A[i] * 2
//!   for i_i in 4*i_o + 1..min(4*i_o + 5, 10)
//!     C[i_i] = B[i_i - 4*i_o - 1] + B[i_i - 4*i_o + 1]
//! ```
//!
//! If several loops read a part each, as after `peel`, list them. Each gets a local tensor of its
//! own, as large as that part. A tensor of a different shape gets a different name:
//!
//! ```rhai
//! let A = tensor([11]);
//! let B = vmul(A, 2, [[i], ]);
//! let B = eq(B, [i]);
//! let C = add(B, B, [[i - 1], [i + 1]] -> [i]);
//! let blocks = build(C).peel("i", 2, "front").stripmine("i", 4, "cut");
//! print(build(B).compute_at(blocks, ["i_f", "i_o", "i_r"]));
//! ```
//!
//! ```text
//! f64 A[11], C[10]
//! for i_f in 1..3
//!   local f64 B[3]
//!   for i in i_f - 1..i_f + 2
//!     B[i - i_f + 1] = A[i] * 2
//!   C[i_f] = B[0] + B[2]
//! for i_o in 0..1
//!   local f64 B_part[6]
//!   for i_2 in 4*i_o + 2..4*i_o + 8
//!     B_part[i_2 - 4*i_o - 2] = A[i_2] * 2
//!   for i_i in 4*i_o + 3..4*i_o + 7
//!     C[i_i] = B_part[i_i - 4*i_o - 3] + B_part[i_i - 4*i_o - 1]
//! for i_r in 7..10
//!   local f64 B[3]
//!   for i_3 in i_r - 1..i_r + 2
//!     B[i_3 - i_r + 1] = A[i_3] * 2
//!   C[i_r] = B[0] + B[2]
//! ```
//!
//! Legal when only the consumer reads the tensor, which is no longer an argument of the nest. The
//! rest is checked.
//!
//! Refuses: a producer that is not a single assignment in a perfect nest whose loops run from
//! numbers to numbers or sizes; one
//! that indexes a dimension of its target by anything but one iterator of its own or a constant;
//! one that needs the old contents of its target; a consumer that does not read the tensor, reads
//! it outside of the loops, or reads elements that the producer does not set; a consumer that
//! writes the tensor or an input of the producer; a list with a loop inside another one, or with a
//! loop that reads nothing of the tensor.
//!
//! Source: Halide's `compute_at`, with `store_at` at the same loop (Ragan-Kelley et al., PLDI
//! 2013).

use super::buffer::free_names;
use super::fuse_outer::following;
use super::parts::{Names, over_box};
use super::producer::{Producer, Replacement, replace_reads};
use super::resolve::{body_of, chain, find_scope, with_body_of};
use crate::analysis::facts::is_nonnegative;
use crate::analysis::footprint::{Side, Use, footprint};
use crate::analysis::implied::simplified_range;
use crate::analysis::position::Position;
use crate::args::LoopOrLoops;
use crate::ir::{Affine, Expr, Fill, Loop, Name, Nest, Shape, Stmt, Tensor, Tree};
use crate::{Error, LoopRef, Op, Param, Returns, Value, refusal};
use std::sync::Arc;

const PRODUCER: Param<Nest> = Param::new("producer");
const CONSUMER: Param<Nest> = Param::new("consumer");
const LOOP: Param<LoopOrLoops> = Param::new("loop");

/// `compute_at(producer, consumer, loop)`.
pub static COMPUTE_AT: Op = Op {
    name: "compute_at",
    params: &[PRODUCER.any(), CONSUMER.any(), LOOP.any()],
    returns: Returns::Nest,
    file: include_str!("compute_at.rs"),
    call: |args| {
        compute_at(args.get(&PRODUCER)?, args.get(&CONSUMER)?, args.get(&LOOP)?).map(Value::Nest)
    },
};

/// The consumer with the producer in each iteration of the loops.
///
/// # Errors
/// As the header says.
pub fn compute_at(nest: &Nest, consumer: &Nest, references: &[LoopRef]) -> Result<Nest, Error> {
    let producer = Producer::of(nest, &PRODUCER)?;
    let consumer = &following(nest, consumer);
    let places = references.iter().map(|r| find_scope(consumer, r, &LOOP));
    let places = places.collect::<Result<Vec<Position>, Error>>()?;
    producer.check_consumer(consumer, &CONSUMER)?;
    let tensor = producer.tensor();
    let label = tensor.label();
    let name = |place: &Position| chain(consumer, place).last().map(|l| l.name.clone());
    let reads = producer.reads_in(consumer);
    let is_read = |place: &Position| reads.iter().any(|used| used.position.starts_with(place));
    for (k, place) in places.iter().enumerate() {
        let mut others = places[..k].iter();
        let shared = others.any(|o| o.starts_with(place) || place.starts_with(o));
        let idle = places.len() > 1 && (shared || !is_read(place));
        if let (Some(name), true) = (name(place), idle) {
            let text = format!("`{name}` reads nothing of {label} that the other loops do not");
            let error = refusal(text).help("leave it out of the list");
            return Err(error.at(&LOOP).on(consumer, [name]));
        }
    }
    let in_none = |used: &Use| !places.iter().any(|p| used.position.starts_with(p));
    if reads.iter().any(in_none) {
        let names: Vec<Name> = places.iter().filter_map(name).collect();
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let loops = match quoted.as_slice() {
            [] => "a list without loops".to_owned(),
            quoted => quoted.join(" and "),
        };
        let text = format!("{label} is read outside of {loops}, too");
        let help = "choose a loop around all reads, or the level 0 for the whole nest";
        return Err(refusal(text).help(help).at(&LOOP).on(consumer, names));
    }

    let mut names = Names::of(consumer);
    let mut placed = consumer.clone();
    let mut locals = Vec::new();
    for place in &places {
        let loops = chain(consumer, place);
        let own = reads.iter().filter(|used| used.position.starts_with(place));
        let own: Vec<Use> = own.cloned().collect();
        let mut part = Part::of(&producer, consumer, &own, &loops);
        part.local = one_of_each(part.local, &mut locals, &placed);
        let mut body = vec![Tree::Local(part.local.clone())];
        body.extend(producer.fill.map(|fill| part.fill(fill)));
        body.push(part.loops(&producer, &mut names));
        let read = Replacement {
            value: &|index| part.access(index),
            origin: &|_| None,
        };
        let old = body_of(consumer, place).iter();
        body.extend(old.map(|t| replace_reads(t, tensor, &read)));
        // The places are disjoint: a change at one does not move the others.
        placed = with_body_of(&placed, place, body);
    }
    Ok(nest.joined(consumer, placed.trees().to_vec()))
}

/// Reuses an existing local tensor of the same shape. One of another shape gets another name.
fn one_of_each(local: Tensor, locals: &mut Vec<Tensor>, nest: &Nest) -> Tensor {
    let same = |other: &&Tensor| other.shape() == local.shape();
    if let Some(other) = locals.iter().find(same) {
        return other.clone();
    }
    let name = local.name().filter(|_| !locals.is_empty());
    let free = name.map(|name| free_names(nest, name, ["part"], 0));
    let local = free.map_or(local.clone(), |[name]| local.named(name));
    locals.push(local.clone());
    local
}

/// The part of the tensor that an iteration reads.
struct Part {
    /// The buffer, without dimensions in which a single element is read.
    local: Tensor,
    sides: Vec<Side>,
}

impl Part {
    fn of(producer: &Producer, consumer: &Nest, reads: &[Use], loops: &[&Arc<Loop>]) -> Part {
        let around = consumer.context().iter();
        let around: Vec<&Loop> = around.chain(loops.iter().map(|l| &***l)).collect();
        let read = footprint(consumer, reads, loops.len()).unwrap_or_default();
        let clip = |(side, set): (Side, &(i64, Affine))| clipped(side, set, &around);
        let sides: Vec<Side> = read.into_iter().zip(&producer.region).map(clip).collect();
        let tensor = producer.tensor();
        let extents = sides.iter().map(|side| side.extent);
        let shape = Shape::of_extents(extents.filter(|extent| *extent > 1));
        let local = match (tensor.is_scalar(), tensor.name()) {
            (false, Some(name)) => Tensor::new(shape, tensor.elem()).named(name.clone()),
            _ => tensor.clone(),
        };
        Part { local, sides }
    }

    /// Translates indices of the tensor to indices of the local one.
    fn index(&self, index: &[Affine]) -> Vec<Affine> {
        let sides = index.iter().zip(&self.sides);
        let kept = sides.filter(|(_, side)| side.extent > 1);
        kept.map(|(index, side)| index.minus(&side.low)).collect()
    }

    fn access(&self, index: &[Affine]) -> Expr {
        Expr::element(&self.local, self.index(index))
    }

    fn fill(&self, fill: &Fill) -> Tree {
        Tree::Fill(Arc::new(Fill {
            target: self.local.clone(),
            region: self.local.shape().whole(),
            ..fill.clone()
        }))
    }

    /// The producer's loops over the elements that are read.
    fn loops(&self, producer: &Producer, names: &mut Names) -> Tree {
        let stmt = Stmt {
            target: self.local.clone(),
            ..Stmt::clone(producer.stmt)
        };
        over_box(&producer.loops, &stmt.index, &self.sides, names, |image| {
            let stmt = stmt.substitute(image);
            Stmt {
                index: self.index(&stmt.index),
                ..stmt
            }
        })
    }
}

/// Clips the side of a box to the indices that are set: `count` of them from `first` on. `around`
/// are the loops around it.
pub(super) fn clipped(side: Side, (first, count): &(i64, Affine), around: &[&Loop]) -> Side {
    let is_negative = |a: &Affine| !is_nonnegative(a, around);
    let (first, end) = (Affine::constant(*first), count.plus_constant(*first));
    let mut read = side.offsets.shifted(&side.low);
    let is_inside = |bound: &Affine| {
        let from = [bound.minus(&first), end.minus(bound)];
        let mut from = from.iter().filter_map(Affine::as_constant);
        bound.as_constant().is_none() || from.all(|distance| distance > 0)
    };
    read.lower.retain(is_inside);
    read.upper.retain(is_inside);
    if read
        .lower
        .iter()
        .all(|bound| is_negative(&bound.minus(&first)))
    {
        read.lower.push(first.clone());
    }
    if read
        .upper
        .iter()
        .all(|bound| is_negative(&end.minus(bound)))
    {
        read.upper.push(end);
    }
    // Fusion compares ranges, so bounds that others imply would be in its way.
    let read = simplified_range(&read, around);
    let all = count.as_constant().map(i64::unsigned_abs);
    let low = match all {
        Some(all) if side.extent >= all => first,
        _ => side.low,
    };
    Side {
        offsets: read.shifted(&low.times(-1)),
        extent: all.map_or(side.extent, |all| side.extent.min(all)),
        low,
    }
}
