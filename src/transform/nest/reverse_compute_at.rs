//! `reverse_compute_at` moves a consumer into a loop of its producer: each iteration consumes what
//! it has just finished.
//!
//! ```rhai
//! let A = tensor([8, 5]);
//! let B = tensor([5, 12]);
//! let T = contract(A, B, [2, 1]);
//! let x = tensor([12]);
//! let C = mul(T, x, [[i, j], [j]] -> [i, j]);
//! let tiles = build(T).tile(["i1", "i2"], [4, 6]).reorder(["i3", "i1_i", "i2_i"]);
//! print(tiles.reverse_compute_at(build(C), "i2_o"));
//! ```
//!
//! ```text
//! f64 T[8][12], A[8][5], B[5][12], C[8][12], x[12]
//! fill T[0..8][0..12] = 0
//! for i1_o in 0..2
//!   for i2_o in 0..2
//!     for i3 in 0..5
//!       for i1_i in 4*i1_o..4*i1_o + 4
//!         for i2_i in 6*i2_o..6*i2_o + 6
//!           T[i1_i][i2_i] += A[i1_i][i3] * B[i3][i2_i]
//!     for i in 4*i1_o..4*i1_o + 4
//!       for j in 6*i2_o..6*i2_o + 6
//!         C[i][j] = T[i][j] * x[j]
//! ```
//!
//! `reverse_compute_at(producer, consumer, loop)`: the consumer's loops run at the end of each
//! iteration of the producer's loop, over the box of elements that the iteration writes. They keep
//! their order and modes. Loops whose names the producer has get the first free number; loops of a
//! single iteration disappear. A consumer that sums is initialized before the producer. The tensor
//! remains an argument; `localize` and `reuse_buffer` keep it elsewhere. Level 0 means no loop: the
//! consumer comes last in the nest.
//!
//! If several loops finish a part each, as after `peel`, list them; each gets its part:
//! `nest.reverse_compute_at(build(C), ["i_o", "i_b"])`.
//!
//! Legal when each iteration computes all that the consumer reads, and no later iteration changes
//! it. `check` proves it.
//!
//! Refuses: a consumer that is not a single assignment in a perfect nest whose loops run from
//! numbers to numbers or sizes; one
//! that reads none or several of the tensors that the producer writes; one that indexes a dimension
//! of the tensor by anything but one iterator of its own or a constant, or its reads differently; a
//! loop that does not write the tensor; iterations that share elements, as those of a reduction's
//! own loops do.
//!
//! Source: TVM's `reverse_compute_at` (Feng et al., TensorIR, ASPLOS 2023), the epilogue of
//! CUTLASS.

use super::compute_at::clipped;
use super::fills::repeats;
use super::fuse_outer::following;
use super::parts::{Names, over_box};
use super::producer::{Plain, not_plain, region};
use super::resolve::{body_of, chain, find_scope, with_body_of};
use crate::analysis::footprint::{AccessKind, Side, Use, footprint, uses};
use crate::analysis::position;
use crate::args::LoopOrLoops;
use crate::ir::{Affine, Constant, Fill, Index, Loop, Nest, Tensor, Tree};
use crate::{Error, LoopRef, Op, Param, Returns, Value, refusal};

const PRODUCER: Param<Nest> = Param::new("producer");
const CONSUMER: Param<Nest> = Param::new("consumer");
const LOOP: Param<LoopOrLoops> = Param::new("loop");

/// `reverse_compute_at(producer, consumer, loop)`.
pub static REVERSE_COMPUTE_AT: Op = Op {
    name: "reverse_compute_at",
    params: &[PRODUCER.any(), CONSUMER.any(), LOOP.any()],
    returns: Returns::Nest,
    file: include_str!("reverse_compute_at.rs"),
    call: |args| {
        reverse_compute_at(args.get(&PRODUCER)?, args.get(&CONSUMER)?, args.get(&LOOP)?)
            .map(Value::Nest)
    },
};

/// The producer with the consumer at the end of each iteration of the loops.
///
/// # Errors
/// As the header says.
pub fn reverse_compute_at(
    producer: &Nest,
    consumer: &Nest,
    references: &[LoopRef],
) -> Result<Nest, Error> {
    let consumer = following(producer, consumer);
    let consumer = Consumer::of(&consumer, producer)?;
    let mut goals = Vec::new();
    for reference in references {
        let goal = find_scope(producer, reference, &LOOP)?;
        let loops = chain(producer, &goal);
        let name = loops.last().map(|l| l.name.clone());
        goals.push((name, consumer.part(producer, &goal)?));
    }
    if goals.is_empty() {
        return Err(refusal("there is no loop to compute the consumer in").at(&LOOP));
    }
    let mut names = Names::of(producer);
    let mut nest = producer.clone();
    for (name, sides) in goals {
        let goal = match name {
            Some(name) => position::named(&nest, name.as_str()).map_err(Error::from)?,
            None => Vec::new(),
        };
        let Plain { loops, stmt, .. } = &consumer.plain;
        let computed = over_box(loops, &consumer.index, &sides, &mut names, |image| {
            stmt.substitute(image)
        });
        let body = body_of(&nest, &goal).iter().cloned();
        nest = with_body_of(&nest, &goal, body.chain([computed]).collect());
    }
    let fill = consumer.plain.fill.cloned().map(Tree::Fill);
    let trees = fill.into_iter().chain(nest.trees().iter().cloned());
    Ok(producer.joined(consumer.nest, trees.collect()))
}

/// An assignment, and its reads of a tensor that a producer writes.
struct Consumer<'a> {
    nest: &'a Nest,
    plain: Plain<'a>,
    tensor: &'a Tensor,
    index: Vec<Affine>,
    /// The box of elements that it reads.
    region: Vec<(i64, Affine)>,
}

impl<'a> Consumer<'a> {
    fn of(nest: &'a Nest, producer: &Nest) -> Result<Consumer<'a>, Error> {
        let plain = Plain::of(nest, &CONSUMER)?;
        let refuse = |error: Error| Err(error.at(&CONSUMER).on(nest, []));
        let mut reads: Vec<(&Tensor, Vec<Affine>)> = Vec::new();
        plain.stmt.value.for_each_access(&mut |tensor, index| {
            let index = match index {
                Index::At(index) => index.to_vec(),
                Index::Unset | Index::Forbidden => Vec::new(),
            };
            let same = |u: &Use| u.tensor == tensor && u.access != AccessKind::Read;
            if uses(producer, tensor.label()).iter().any(same) {
                reads.push((tensor, index));
            }
        });
        let Some((tensor, index)) = reads.first().cloned() else {
            return refuse(refusal(
                "the consumer reads nothing that the producer writes",
            ));
        };
        let shown = |index: &[Affine]| {
            let index: String = index.iter().map(|a| format!("[{a}]")).collect();
            format!("{}{index}", tensor.label())
        };
        for (other, at) in &reads {
            if *other != tensor {
                let found = [tensor, other].map(Tensor::label).join(", ");
                let error = refusal(format!(
                    "the consumer reads several tensors that the producer writes: {found}"
                ));
                return refuse(error.help("fuse_outer and fuse join loops of any nests"));
            }
            if *at != index {
                let (one, other) = (shown(&index), shown(at));
                let error = refusal(format!("the consumer reads both {one} and {other}"));
                let help = "compute_at computes a producer where its neighbors are read";
                return refuse(error.help(help));
            }
        }
        let region = region(tensor, &index, &plain.loops);
        let region = region.map_err(|found| not_plain(&CONSUMER, &found).on(nest, []))?;
        Ok(Consumer {
            nest,
            plain,
            tensor,
            index,
            region,
        })
    }

    /// The box of elements that one iteration of the loop at `goal` finishes.
    fn part(&self, producer: &Nest, goal: &[usize]) -> Result<Vec<Side>, Error> {
        let loops = chain(producer, goal);
        let name = loops.last().map(|l| l.name.clone());
        let tensor = self.tensor.label();
        let mut writes = uses(producer, self.tensor.label());
        writes.retain(|u| u.access != AccessKind::Read && u.position.starts_with(goal));
        let Some(sides) = footprint(producer, &writes, loops.len()) else {
            let place = name
                .as_ref()
                .map_or("the nest".to_owned(), |l| format!("`{l}`"));
            let error = refusal(format!("{place} does not write {tensor}"));
            return Err(error.at(&LOOP).on(producer, name));
        };
        let written = Fill {
            target: self.tensor.clone(),
            region: sides.iter().map(|s| (s.low.clone(), s.count())).collect(),
            value: Constant::F64(0.0),
            origin: None,
        };
        if let Some(name) = repeats(producer, &written, &loops, &[]) {
            let error = refusal(format!(
                "iterations of `{name}` write the same elements of {tensor}, which the last one \
                 finishes"
            ));
            let error = error.help(
                "choose a loop outside of it, or take its last iteration apart: \
                 `peel(loop, 1, \"back\")`",
            );
            return Err(error.at(&LOOP).on(producer, [name]));
        }
        let around = producer.context().iter();
        let around: Vec<&Loop> = around.chain(loops.iter().map(|l| &***l)).collect();
        let clip = |(side, set): (Side, &(i64, Affine))| clipped(side, set, &around);
        Ok(sides.into_iter().zip(&self.region).map(clip).collect())
    }
}
