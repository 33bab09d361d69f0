//! `prefetch` fetches elements of a tensor into the cache some iterations before they are used.
//!
//! ```rhai
//! let A = tensor([40, 50]);
//! let x = tensor([50]);
//! let y = eq(vsum(vmul(A, x, [[i, j], [j]]), [j]), [i]);
//! print(build(y).prefetch("i", A, 4));
//! ```
//!
//! ```text
//! f64 y[40], A[40][50], x[50]
//! fill y[0..40] = 0
//! for i in 0..40 prefetch(A, 4)
//!   for j in 0..50
//!     y[i] += A[i][j] * x[j]
//! ```
//!
//! `prefetch(nest, loop, tensor, distance)`: each iteration first prefetches for the iteration that
//! comes `distance` later. For each access to the tensor, it fetches one element: that of the first
//! iteration of the inner loops, here `A[i + 4][0]`, or the last element that exists. Of neighbors
//! that one cache line may hold, it fetches one. Loops over blocks are good places, since a line
//! holds several elements. A second distance for the same tensor replaces the first.
//!
//! With the name of an inner loop, the whole footprint of the later iteration is prefetched, line
//! by line. The iterations of that loop, and of the loops between the two, each fetch an equal
//! share. Memory is then read while the processor computes, which one burst of prefetches does not
//! achieve.
//!
//! ```rhai
//! let A = tensor([9, 12, 10]);
//! let B = tensor([9, 10, 16]);
//! let C = einsum("bik,bkj->bij", A, B);
//! print(build(C).prefetch("b", A, 1, "i"));
//! ```
//!
//! ```text
//! f64 C[9][12][16], A[9][12][10], B[9][10][16]
//! fill C[0..9][0..12][0..16] = 0
//! for b in 0..9
//!   for i in 0..12 prefetch(A, 1 of b)
//!     for j in 0..16
//!       for k in 0..10
//!         C[b][i][j] += A[b][i][k] * B[b][k][j]
//! ```
//!
//! If the loop ends before the later iteration, the prefetch wraps around: it fetches for the first
//! iterations of the loop in the next iteration of the loop around it.
//!
//! The footprint may be scattered in memory, such as some columns of several rows. Each inner
//! iteration then prefetches what it will touch itself: the same row at later columns.
//!
//! ```rhai
//! let A = tensor([40, 500]);
//! let R = eq(vmul(2, A, [(), [y, x]]), [y, x]);
//! let blocks = build(R).tile([4, 8]);
//! print(blocks.prefetch("x_o", A, 16, "y_i"));
//! ```
//!
//! ```text
//! f64 R[40][500], A[40][500]
//! for y_o in 0..10
//!   for x_o in 0..63
//!     for y_i in 4*y_o..4*y_o + 4 prefetch(A, 16 of x_o)
//!       for x_i in 8*x_o..min(8*x_o + 8, 500)
//!         R[y_i][x_i] = 2 * A[y_i][x_i]
//! ```
//!
//! Rows that are a multiple of a page apart have equal columns at the same place of their pages.
//! Fetching equal columns of all rows at once takes longer than fetching different columns of each.
//! A further number, `further`, therefore staggers the prefetches: each inner iteration fetches
//! that many iterations further ahead than the one before it.
//!
//! ```rhai
//! let A = tensor([40, 500]);
//! let R = eq(vmul(2, A, [(), [y, x]]), [y, x]);
//! print(build(R).tile([4, 8]).prefetch("x_o", A, 8, "y_i", 4));
//! ```
//!
//! ```text
//! f64 R[40][500], A[40][500]
//! for y_o in 0..10
//!   for x_o in 0..63
//!     for y_i in 4*y_o..4*y_o + 4 prefetch(A, 8 by 4 of x_o)
//!       for x_i in 8*x_o..min(8*x_o + 8, 500)
//!         R[y_i][x_i] = 2 * A[y_i][x_i]
//! ```
//!
//! The iterations of an inner loop that does not move through the tensor share the footprint row by
//! row. Here a sum prefetches the next block of its accumulator, one line with each of its parts.
//!
//! ```rhai
//! let A = tensor([16, 50]);
//! let B = tensor([50, 40]);
//! let C = contract(A, B, [2, 1]);
//! let blocks = build(C).tile(["i1", "i2"], [4, 8]).reorder(["i3", "i1_i", "i2_i"]).stage("i2_o", C);
//! print(blocks.stripmine("i3", 10).prefetch("i2_o", C, 1, "i3_o"));
//! ```
//!
//! ```text
//! f64 C[16][40], A[16][50], B[50][40]
//! fill C[0..16][0..40] = 0
//! for i1_o in 0..4
//!   for i2_o in 0..5
//!     local f64 C_tile[4][8]
//!     for C_load_1 in 0..4
//!       for C_load_2 in 0..8
//!         C_tile[C_load_1][C_load_2] = C[C_load_1 + 4*i1_o][C_load_2 + 8*i2_o]
//!     for i3_o in 0..5 prefetch(C, 1 of i2_o)
//!       for i3_i in 10*i3_o..10*i3_o + 10
//!         for i1_i in 4*i1_o..4*i1_o + 4
//!           for i2_i in 8*i2_o..8*i2_o + 8
//!             C_tile[i1_i - 4*i1_o][i2_i - 8*i2_o] += A[i1_i][i3_i] * B[i3_i][i2_i]
//!     for C_store_1 in 0..4
//!       for C_store_2 in 0..8
//!         C[C_store_1 + 4*i1_o][C_store_2 + 8*i2_o] = C_tile[C_store_1][C_store_2]
//! ```
//!
//! Where sizes decide how much a later iteration touches, that must be whole dimensions of a tensor.
//! Each inner iteration then fetches the next lines, until all are fetched.
//!
//! A row that an entry names is fetched as a whole: its place in memory tells nothing of the next one.
//!
//! ```rhai
//! let col = indices([90], 60);
//! let X = tensor([60, 16]);
//! let Y = eq(vat(X, [col[e], k]), [e, k]);
//! print(build(Y).prefetch("e", X, 8));
//! ```
//!
//! ```text
//! f64 Y[90][16], X[60][16]
//! i64 col[90] in 0..60
//! fill Y[0..90][0..16] = 0
//! for e in 0..90 prefetch(X, 8)
//!   let col_e = col[e]
//!     for k in 0..16
//!       Y[e][k] += X[col_e][k]
//! ```
//!
//! Always legal: it changes no element. A device does not prefetch; `double_buffer` copies tiles ahead
//! there.
//!
//! Refuses: tensors that no access inside the loop moves through; a `distance` or `further` below 1
//! or beyond 2^40; vector loops and loops inside them, which compilers would then not vectorize;
//! collapsed loops other than the innermost. With an inner loop also: an inner loop that is not
//! inside the other one, or whose trip count has no bound; an iteration whose footprint is
//! scattered in memory, and not in rows.
//!
//! Source: software prefetching, Mowry, Lam and Gupta, Design and Evaluation of a Compiler
//! Algorithm for Prefetching, 1992.

use super::mode::mark;
use super::resolve::{chain, check_positive, find};
use crate::analysis::prefetch_address::prefetch_addresses;
use crate::analysis::prefetch_plan::{NoSlice, prefetch_plan};
use crate::args::{LOOP, NEST, TENSOR};
use crate::ir::{Loop, Name, Nest, Prefetch};
use crate::refusals::{not_constant, not_inside};
use crate::target::LINE;
use crate::{Error, LoopRef, Op, Param, Returns, Value, refusal};

const DISTANCE: Param<i64> = Param::new("distance");
const INSIDE: Param<Option<LoopRef>> = Param::new("inside");
const FURTHER: Param<Option<i64>> = Param::new("further");

/// `prefetch(nest, loop, tensor, distance)`.
pub static PREFETCH: Op = Op {
    name: "prefetch",
    params: &[
        NEST.any(),
        LOOP.any(),
        TENSOR.any(),
        DISTANCE.any(),
        INSIDE.any(),
        FURTHER.any(),
    ],
    returns: Returns::Nest,
    file: include_str!("prefetch.rs"),
    call: |args| {
        let (nest, l, distance) = (args.get(&NEST)?, args.get(&LOOP)?, args.get(&DISTANCE)?);
        let name = Name::new(args.get(&TENSOR)?).map_err(|error| Error::from(error).at(&TENSOR));
        let (tensor, further) = (name?, args.get(&FURTHER)?);
        match args.get(&INSIDE)? {
            None => prefetch(nest, l, &tensor, distance),
            Some(inner) => prefetch_shares(nest, l, tensor, (distance, further), inner),
        }
        .map(Value::Nest)
    },
};

/// The nest with a loop that prefetches elements of `tensor`.
///
/// # Errors
/// As the header says.
pub fn prefetch(
    nest: &Nest,
    reference: &LoopRef,
    tensor: &Name,
    distance: i64,
) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    check_positive(distance, &DISTANCE)?;
    let l = chain(nest, &position)[position.len() - 1];
    if prefetch_addresses(l, tensor, distance, LINE.cast_signed()).is_empty() {
        return Err(nothing_to_prefetch(nest, &l.name, tensor));
    }
    let fetch = Prefetch {
        tensor: tensor.clone(),
        distance,
        further: 0,
        of: None,
    };
    marked(nest, reference, fetch)
}

/// The iterations of the loop `inner` prefetch, in equal shares, the footprint that a later
/// iteration of the loop `reference` around it has in `tensor`. With `further`, each iteration
/// fetches that many iterations further ahead than the one before it.
///
/// # Errors
/// As the header says.
fn prefetch_shares(
    nest: &Nest,
    reference: &LoopRef,
    tensor: Name,
    (distance, further): (i64, Option<i64>),
    inner: &LoopRef,
) -> Result<Nest, Error> {
    let name = |reference, parameter| -> Result<Name, Error> {
        let position = find(nest, reference, parameter)?;
        Ok(chain(nest, &position)[position.len() - 1].name.clone())
    };
    let (of, inside) = (name(reference, &LOOP)?, name(inner, &INSIDE)?);
    check_positive(distance, &DISTANCE)?;
    further.map_or(Ok(()), |by| check_positive(by, &FURTHER))?;
    let fetch = Prefetch {
        tensor,
        distance,
        further: further.unwrap_or(0),
        of: Some(of.clone()),
    };
    let tensor = &fetch.tensor;
    match prefetch_plan(nest, &inside, &fetch, LINE.cast_signed()) {
        Ok(_) => marked(nest, inner, fetch),
        Err(NoSlice::NotInside) => Err(not_inside(nest, &inside, &of).at(&INSIDE)),
        Err(NoSlice::Invariant) => Err(nothing_to_prefetch(nest, &of, tensor)),
        Err(NoSlice::Unknown(l)) => {
            let position = find(nest, &LoopRef::Name(l.to_string()), &INSIDE)?;
            let l = chain(nest, &position)[position.len() - 1];
            Err(not_constant(nest, l).at(&INSIDE))
        }
        Err(NoSlice::Scattered) => {
            let text = format!(
                "what an iteration of `{of}` touches of {tensor} lies here and there in memory"
            );
            let error = refusal(text).help(
                "fetch for a loop whose iterations touch whole rows, or pack the tensor first",
            );
            Err(error.at(&TENSOR).on(nest, [of]))
        }
    }
}

/// The refusal if no access to a tensor moves with a loop.
fn nothing_to_prefetch(nest: &Nest, name: &Name, tensor: &Name) -> Error {
    let text =
        format!("no access to {tensor} in `{name}` moves from one iteration of it to the next");
    let error = refusal(text).help("prefetch in a loop whose iterator indexes the tensor");
    error.at(&TENSOR).on(nest, [name.clone()])
}

fn marked(nest: &Nest, reference: &LoopRef, fetch: Prefetch) -> Result<Nest, Error> {
    mark(nest, reference, |mut l: Loop| {
        l.hints.prefetch.retain(|old| old.tensor != fetch.tensor);
        l.hints.prefetch.push(fetch.clone());
        l
    })
}
