//! `inline` replaces each read of an elementwise nest's tensor by the expression that computes it.
//!
//! ```rhai
//! let A = tensor([10]);
//! let B = vmul(A, 2, [[i], ]);
//! let B = eq(B, [i]);
//! let C = add(B, B, [[i - 1], [i + 1]] -> [i]);
//! print(build(B).inline(build(C)));
//! ```
//!
//! ```text
//! f64 A[10], C[9]
//! for i in 1..9
//!   C[i] = A[i - 1] * 2 + A[i + 1] * 2
//! ```
//!
//! `inline(producer, consumer)`: the consumer keeps its loops, if need be in blocks. Each read of the producer's tensor
//! becomes its value, recomputed. The producer's loops disappear, and the tensor is no longer an
//! argument of the nest.
//!
//! If the producer sets `5*i + k` with `k` in 0..5, the consumer reads `i` and `k` as the quotient
//! and the remainder of its index. Its loops are split into blocks where that needs them:
//!
//! ```rhai
//! let A = tensor([3]);
//! let B = tensor([5]);
//! let K = mul(A, B, [[i], [k]] -> [5*i + k]);
//! let x = tensor([15]);
//! let y = add(K, x, [[n], [n]] -> [n]);
//! print(build(K).inline(build(y)));
//! ```
//!
//! ```text
//! f64 A[3], B[5], y[15], x[15]
//! for n_o in 0..3
//!   for n_i in 5*n_o..5*n_o + 5
//!     y[n_i] = A[n_o] * B[n_i - 5*n_o] + x[n_i]
//! ```
//!
//! Legal when only the consumer reads the tensor, since it is not stored. The rest is checked.
//!
//! Refuses: a producer that is not a single assignment in a perfect nest whose loops run from
//! numbers to numbers or sizes; one
//! that indexes a dimension of its target by anything but a constant or iterators of its own that
//! set each element once; an index whose quotient is not affine; a reduction; a producer that needs the old contents of its target; a consumer that does not read
//! the tensor, or reads elements that the producer does not set; a consumer that writes the tensor
//! or an input of the producer.
//!
//! Source: inlining of producers, Halide's `compute_inline` (Ragan-Kelley et al., PLDI 2013).

use super::fuse_outer::following;
use super::mixed_radix::{self, Loops, with_blocks};
use super::producer::{Plain, Producer, Replacement, not_plain, replace_reads};
use crate::analysis::footprint::Use;
use crate::ir::{Affine, Expr, MAX_SIZE, Name, Nest, Origin, Tensor, Tree};
use crate::refusals::too_complex;
use crate::{Error, Op, Param, Returns, Value, refusal};

const PRODUCER: Param<Nest> = Param::new("producer");
const CONSUMER: Param<Nest> = Param::new("consumer");

/// `inline(producer, consumer)`.
pub static INLINE: Op = Op {
    name: "inline",
    params: &[PRODUCER.any(), CONSUMER.any()],
    returns: Returns::Nest,
    file: include_str!("inline.rs"),
    call: |args| inline(args.get(&PRODUCER)?, args.get(&CONSUMER)?).map(Value::Nest),
};

/// The consumer with the producer's value in place of each read of the producer's tensor.
///
/// # Errors
/// As the header says.
pub fn inline(nest: &Nest, consumer: &Nest) -> Result<Nest, Error> {
    let plain = Plain::of(nest, &PRODUCER)?;
    let mut dimensions = Vec::new();
    let stmt = plain.stmt;
    let producer = Producer::over(plain, nest, &PRODUCER, |tensor, _, loops| {
        dimensions = mixed_radix::dimensions(tensor.label(), &stmt.index, loops)?;
        Ok(dimensions
            .iter()
            .map(|d| (d.low, d.extent.clone()))
            .collect())
    })?;
    if stmt.update.is_some() {
        let tensor = stmt.target.label();
        let text = format!(
            "{tensor} is the result of a reduction, which has no value that could be inserted"
        );
        let error = refusal(text).help("compute_at computes reductions in a loop");
        return Err(error.at(&PRODUCER).on(nest, []));
    }
    let alone = |name: &Name| !stmt.index.iter().any(|a| a.mentions(name));
    if let Some(name) = stmt.value.iterators().into_iter().find(alone) {
        let found = format!("`{name}` indexes the value alone");
        return Err(not_plain(&PRODUCER, &found).on(nest, []));
    }
    let consumer = &following(nest, consumer);
    producer.check_consumer(consumer, &CONSUMER)?;

    let indices = |consumer: &Nest| {
        let reads = producer.reads_in(consumer);
        let index = |read: &Use| read.region.iter().map(|(index, _)| index.clone()).collect();
        reads.iter().map(index).collect::<Vec<Vec<Affine>>>()
    };
    let consumer = &with_blocks(consumer, &dimensions, &indices, &CONSUMER)?;
    let loops = Loops::of(consumer);
    // `target[… i + 2 …]` is read as `target[… x …]`: i is x - 2.
    let iterator = |read: &[Affine], name: &Name| {
        let mut values = dimensions.iter().zip(read);
        values.find_map(|(dimension, read)| dimension.value(name, read, &loops))
    };
    let value = |read: &[Affine]| stmt.value.substitute(&|name| iterator(read, name));
    let origin = |read: &[Affine]| {
        let origin = stmt.origin.as_ref()?;
        let mut names = origin.point.iter().flat_map(Affine::terms);
        if names.any(|(name, _)| iterator(read, name).is_none()) {
            return None;
        }
        let point = origin.point.iter();
        let point = point.map(|a| a.substitute(&|name| iterator(read, name)));
        Some(Origin {
            assignment: origin.assignment,
            point: point.collect(),
        })
    };
    let too_complex = || too_complex().at(&CONSUMER);
    let size = |reads: u64| reads.saturating_mul(stmt.value.size());
    if reads(consumer, producer.tensor()).any(|n| size(n) > MAX_SIZE) {
        return Err(too_complex());
    }
    let with = Replacement {
        value: &value,
        origin: &origin,
    };
    let inlined = |t: &Tree| replace_reads(t, producer.tensor(), &with);
    let trees: Vec<Tree> = consumer.trees().iter().map(inlined).collect();
    let result = nest.joined(consumer, trees);
    if values(&result).all(Expr::is_in_limits) {
        return Ok(result);
    }
    Err(too_complex())
}

/// The values of all statements.
fn values(nest: &Nest) -> impl Iterator<Item = &Expr> {
    nest.lines().into_iter().filter_map(|line| match line.tree {
        Tree::Stmt(s) => Some(&s.value),
        _ => None,
    })
}

/// The number of reads of the tensor in each statement.
fn reads(nest: &Nest, tensor: &Tensor) -> impl Iterator<Item = u64> {
    values(nest).map(move |value| {
        let mut count = 0;
        value.for_each_tensor(&mut |t| count += u64::from(t == tensor));
        count
    })
}
