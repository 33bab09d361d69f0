//! `pack` copies what one iteration of a loop reads of a tensor into a contiguous local buffer.
//!
//! ```rhai
//! let A = tensor([64, 100]);
//! let B = eq(A, [i, j] -> [j, i]);
//! print(build(B).tile(["j", "i"], [32, 16]).pack("i_o", A, [2, 1]));
//! ```
//!
//! ```text
//! f64 B[100][64], A[64][100]
//! for j_o in 0..4
//!   for i_o in 0..4
//!     local f64 A_pack[32][16]
//!     for A_pack_2 in 0..min(32, 100 - 32*j_o)
//!       for A_pack_1 in 0..16
//!         A_pack[A_pack_2][A_pack_1] = A[A_pack_1 + 16*i_o][A_pack_2 + 32*j_o]
//!     for j_i in 32*j_o..min(32*j_o + 32, 100)
//!       for i_i in 16*i_o..16*i_o + 16
//!         B[j_i][i_i] = A_pack[j_i - 32*j_o][i_i - 16*i_o]
//! ```
//!
//! The buffer holds the footprint of an iteration: the smallest box of constant size that covers
//! its reads. The last argument gives the order of the buffer's dimensions, as dimensions of the
//! tensor counted from 1; without it they keep their order. Dimensions with a single element are
//! dropped. The tensor may be a buffer, given by its name: `pack("k", "A_pack")`. If a name is
//! taken, the next buffer is `A_pack2`.
//!
//! If a tensor is read several times, a last argument selects the read that uses the buffer; the
//! other reads keep the tensor. It counts the reads in the order of the text, from 1.
//!
//! ```rhai
//! let A = tensor([30, 20]);
//! let C = contract(A, vtranspose(A, [[1, 2]]), [2, 1]);
//! print(build(C).pack(0, A, [2, 1], 2));
//! ```
//!
//! ```text
//! f64 C[30][30], A[30][20]
//! local f64 A_pack[20][30]
//! for A_pack_2 in 0..20
//!   for A_pack_1 in 0..30
//!     A_pack[A_pack_2][A_pack_1] = A[A_pack_1][A_pack_2]
//! fill C[0..30][0..30] = 0
//! for i1 in 0..30
//!   for i2 in 0..30
//!     for i3 in 0..20
//!       C[i1][i2] += A[i1][i3] * A_pack[i3][i2]
//! ```
//!
//! Level 0 means the whole nest: `pack(0, A, [2, 1])` changes the layout of `A` once, before all
//! loops. The loops that copy are named after the buffer and the dimension of the tensor, so that
//! you can transform them like other loops.
//!
//! The loop may also write the tensor, except for the packed elements. The trailing update of a
//! factorization reads rows and columns that it does not change:
//!
//! ```rhai
//! let p = nest(`
//!   f64 A[30][40]
//!   for i in 10..30
//!     for j in 10..40
//!       A[i][j] -= A[i][0] * A[0][j]
//! `);
//! print(p.pack("i", "A", [1, 2], 2));
//! ```
//!
//! ```text
//! f64 A[30][40]
//! for i in 10..30
//!   local f64 A_pack[30]
//!   for A_pack_2 in 0..30
//!     A_pack[A_pack_2] = A[0][A_pack_2 + 10]
//!   for j in 10..40
//!     A[i][j] -= A[i][0] * A_pack[j - 10]
//! ```
//!
//! Always legal: each iteration has its own buffer, whose contents do not change.
//!
//! Refuses: a tensor that the loop does not use; elements that it may write, as boxes tell; a list
//! that is not an order of the tensor's dimensions; a number that selects none of the reads; a
//! buffer of more than 1 GiB.
//!
//! Source: packing, Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008;
//! Halide calls it `in`, TVM `cache_read`, Exo `stage_mem`.

use super::buffer::{Buffer, Scope, dimensions, free_names, text_at};
use super::resolve::{body_of, with_body_of};
use crate::analysis::footprint::{AccessKind, Use, are_disjoint};
use crate::args::{LOOP, NEST, Order, TENSOR};
use crate::ir::Nest;
use crate::refusals::unnamed;
use crate::{Error, LoopRef, Op, Param, Returns, Value, mistake, refusal};
use std::cell::Cell;

const ORDER: Param<Option<Order>> = Param::new("order");
const READ: Param<Option<i64>> = Param::new("read");

/// `pack(nest, loop, tensor, order?, read?)`.
pub static PACK: Op = Op {
    name: "pack",
    params: &[
        NEST.any(),
        LOOP.any(),
        TENSOR.any(),
        ORDER.any(),
        READ.any(),
    ],
    returns: Returns::Nest,
    file: include_str!("pack.rs"),
    call: |args| {
        pack(
            args.get(&NEST)?,
            args.get(&LOOP)?,
            args.get(&TENSOR)?,
            args.get(&ORDER)?,
            args.get(&READ)?,
        )
        .map(Value::Nest)
    },
};

/// The nest in which each iteration of a loop reads `tensor` from a buffer: at the read number
/// `read`, or everywhere.
///
/// # Errors
/// As the header says.
pub fn pack(
    nest: &Nest,
    reference: &LoopRef,
    tensor: &str,
    order: Option<&[i64]>,
    read: Option<i64>,
) -> Result<Nest, Error> {
    let mut scope = Scope::find(nest, (reference, &LOOP), (tensor, &TENSOR))?;
    let is_read = |used: &Use| used.access == AccessKind::Read;
    let (reads, writes): (Vec<Use>, Vec<Use>) = scope.uses.drain(..).partition(is_read);
    scope.uses = reads;
    let order = dimensions(scope.tensor, order, &ORDER)?;
    if let Some(read) = read {
        let number = usize::try_from(read).ok().and_then(|n| n.checked_sub(1));
        let Some(chosen) = number.and_then(|n| scope.uses.get(n)).cloned() else {
            let reads = scope.uses.len();
            let times = match reads {
                1 => "once".to_owned(),
                reads => format!("{reads} times"),
            };
            let place = scope.place();
            let text =
                format!("{place} reads {tensor} {times}: {read} is not between 1 and {reads}");
            let error = mistake(text).help("without a number, all reads use the buffer");
            return Err(error.at(&READ).on(nest, scope.name));
        };
        scope.uses = vec![chosen];
    }
    let depth = scope.position.len();
    let changes = |write: &&Use| {
        scope
            .uses
            .iter()
            .any(|read| !are_disjoint(nest, read, write, depth))
    };
    if let Some(write) = writes.iter().find(changes).or(if scope.uses.is_empty() {
        writes.first()
    } else {
        None
    }) {
        let (place, text) = (scope.place(), text_at(nest, write));
        let text = format!("{place} writes {tensor}, but would read a copy of it: {text}");
        let error = refusal(text).help("`stage` keeps what is written in a buffer");
        return Err(error.on(nest, scope.name));
    }
    let sides = scope.footprint(nest);
    let name = scope.tensor.name().ok_or_else(unnamed)?;
    let [name] = free_names(nest, name, ["pack"], order.len());
    let buffer = Buffer::new(name.clone(), scope.tensor, sides, &order);
    let mut body = vec![buffer.declaration(), buffer.load(&name)];
    let seen = Cell::new(0);
    let chosen = |access: AccessKind| {
        seen.set(seen.get() + i64::from(access == AccessKind::Read));
        access == AccessKind::Read && read.is_none_or(|read| read == seen.get())
    };
    body.extend(buffer.redirect_where(body_of(nest, &scope.position), &chosen));
    Ok(with_body_of(nest, &scope.position, body))
}
