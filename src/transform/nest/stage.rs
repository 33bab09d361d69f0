//! `stage` keeps what one iteration of a loop writes of a tensor in a local buffer until it ends.
//!
//! ```rhai
//! let A = tensor([40, 50]);
//! let B = tensor([50, 60]);
//! let C = contract(A, B, [2, 1]);
//! let tiles = build(C).tile(["i1", "i2"], [4, 16]).reorder(["i3", "i1_i", "i2_i"]);
//! print(tiles.stage("i2_o", C));
//! ```
//!
//! ```text
//! f64 C[40][60], A[40][50], B[50][60]
//! fill C[0..40][0..60] = 0
//! for i1_o in 0..10
//!   for i2_o in 0..4
//!     local f64 C_tile[4][16]
//!     for C_load_1 in 0..4
//!       for C_load_2 in 0..min(16, 60 - 16*i2_o)
//!         C_tile[C_load_1][C_load_2] = C[C_load_1 + 4*i1_o][C_load_2 + 16*i2_o]
//!     for i3 in 0..50
//!       for i1_i in 4*i1_o..4*i1_o + 4
//!         for i2_i in 16*i2_o..min(16*i2_o + 16, 60)
//!           C_tile[i1_i - 4*i1_o][i2_i - 16*i2_o] += A[i1_i][i3] * B[i3][i2_i]
//!     for C_store_1 in 0..4
//!       for C_store_2 in 0..min(16, 60 - 16*i2_o)
//!         C[C_store_1 + 4*i1_o][C_store_2 + 16*i2_o] = C_tile[C_store_1][C_store_2]
//! ```
//!
//! All accesses in the loop use the buffer, which is loaded before and stored after. Reads of
//! elements that the loop does not write, as boxes tell, keep the tensor. The load is left out if
//! the loop sets all of the buffer before it reads it. Then the store is left out as well, if only
//! the loop reads what it computes: a later assignment of the nest, in the same iteration. To get
//! there, place the initialization into the loop first (`place_init`); it then moves onto the buffer.
//! Dimensions with a single element are dropped. If the loops over the tile are unrolled, the
//! compiler keeps it in registers.
//!
//! A last argument gives the order of the buffer's dimensions, as dimensions of the tensor counted
//! from 1; without it they keep their order.
//!
//! ```rhai
//! let A = tensor([20, 30]);
//! let B = eq(vmul(A, 2, [[i, j], ]), [i, j]);
//! print(build(B).stripmine("i", 5).stage("i_o", B, [2, 1]));
//! ```
//!
//! ```text
//! f64 B[20][30], A[20][30]
//! for i_o in 0..4
//!   local f64 B_tile[30][5]
//!   for i_i in 5*i_o..5*i_o + 5
//!     for j in 0..30
//!       B_tile[j][i_i - 5*i_o] = A[i_i][j] * 2
//!   for B_store_2 in 0..30
//!     for B_store_1 in 0..5
//!       B[B_store_1 + 5*i_o][B_store_2] = B_tile[B_store_2][B_store_1]
//! ```
//!
//! Level 0 means the whole nest. The loops that copy are named after the tensor and its dimensions.
//! If a name is taken, the next buffer is `C_tile2`.
//!
//! Always legal: nothing else uses the tensor while an iteration runs. As before, parallel
//! iterations must not share a part of it.
//!
//! Refuses: a tensor that the loop does not use, or only reads; a list that is not an order of the
//! tensor's dimensions; a buffer of more than 1 GiB.
//!
//! Source: register tiles, Goto and van de Geijn, Anatomy of High-Performance Matrix
//! Multiplication, 2008; TVM calls it `cache_write`, Exo `stage_mem`.

use super::buffer::{Buffer, Scope, dimensions, free_names};
use super::resolve::{body_of, with_body_of};
use crate::analysis::definedness::{first_undefined, sets_all};
use crate::analysis::footprint::{AccessKind, Use, are_disjoint, uses};
use crate::args::{LOOP, NEST, Order, TENSOR};
use crate::ir::{Fill, Loop, Mode, Nest, Tensor, Tree};
use crate::refusals::{is_output, unnamed};
use crate::{Error, LoopRef, Op, Param, Returns, Value, refusal};
use std::cell::Cell;

const ORDER: Param<Option<Order>> = Param::new("order");

/// `stage(nest, loop, tensor, order?)`.
pub static STAGE: Op = Op {
    name: "stage",
    params: &[NEST.any(), LOOP.any(), TENSOR.any(), ORDER.any()],
    returns: Returns::Nest,
    file: include_str!("stage.rs"),
    call: |args| {
        stage(
            args.get(&NEST)?,
            args.get(&LOOP)?,
            args.get(&TENSOR)?,
            args.get(&ORDER)?,
        )
        .map(Value::Nest)
    },
};

/// The nest in which each iteration of a loop works on a buffer in place of `tensor`.
///
/// # Errors
/// As the header says.
pub fn stage(
    nest: &Nest,
    reference: &LoopRef,
    tensor: &str,
    order: Option<&[i64]>,
) -> Result<Nest, Error> {
    let mut scope = Scope::find(nest, (reference, &LOOP), (tensor, &TENSOR))?;
    if scope.uses.iter().all(|u| u.access == AccessKind::Read) {
        let text = format!("{} only reads {tensor}", scope.place());
        let error = refusal(text).help("`pack` keeps what is read in a buffer");
        return Err(error.on(nest, scope.name));
    }
    let depth = scope.position.len();
    let (writes, reads): (Vec<&Use>, Vec<&Use>) = scope
        .uses
        .iter()
        .partition(|u| u.access != AccessKind::Read);
    let is_apart = |read: &&Use| writes.iter().all(|w| are_disjoint(nest, read, w, depth));
    let apart: Vec<bool> = reads.iter().map(is_apart).collect();
    let mut left = apart.iter();
    scope
        .uses
        .retain(|u| u.access != AccessKind::Read || left.next() == Some(&false));
    let setter = sets_all(nest, &scope.uses, depth);
    let setter = setter.filter(|_| first_undefined(nest, &scope.uses, depth).is_none());
    let is_set = setter.is_some();
    let is_opening = setter.is_some_and(|setter| opens(nest, setter, &scope));
    let sides = scope.footprint(nest);
    let order = dimensions(scope.tensor, order, &ORDER)?;
    let name = scope.tensor.name().ok_or_else(unnamed)?;
    let [tile, load, store] = free_names(nest, name, ["tile", "load", "store"], order.len());
    let buffer = Buffer::new(tile, scope.tensor, sides, &order);
    let mut body = vec![buffer.declaration()];
    if !is_set {
        body.push(buffer.load(&load));
    }
    let seen = Cell::new(0);
    let chosen = |access: AccessKind| {
        let read = seen.get();
        seen.set(read + usize::from(access == AccessKind::Read));
        access != AccessKind::Read || apart.get(read) != Some(&true)
    };
    let mut rest = body_of(nest, &scope.position);
    if let Some((Tree::Loop(first), others)) = rest.split_first().filter(|_| is_opening) {
        body.extend(filled(first).map(|fill| buffer.filled(fill)));
        rest = others;
    }
    body.extend(buffer.redirect_where(rest, &chosen));
    if !(is_set && is_dead_after(nest, scope.tensor, &scope.uses, &scope.position)) {
        body.push(buffer.store(&store));
    }
    Ok(with_body_of(nest, &scope.position, body))
}

/// Whether an iteration begins with loops that set all that it uses of the tensor. One fill of the
/// whole buffer does the same, and a buffer that no loop sets element by element stays in registers.
fn opens(nest: &Nest, setter: &Use, scope: &Scope) -> bool {
    let first = body_of(nest, &scope.position).first();
    let starts = setter.position.get(scope.position.len()) == Some(&0);
    starts && matches!(first, Some(Tree::Loop(l)) if filled(l).is_some())
}

/// The fill that is all that a loop does, for as many iterations as sizes say.
fn filled(l: &Loop) -> Option<&Fill> {
    let mut ends = l.range.upper.iter();
    let is_open = l.mode == Mode::Serial && ends.any(|end| end.sizes().next().is_some());
    match &l.body[..] {
        [Tree::Loop(inner)] if is_open => filled(inner),
        [Tree::Fill(fill)] if is_open => Some(fill),
        _ => None,
    }
}

/// Whether no later read needs what the iterations of a loop leave in a tensor. Only later assignments
/// use the tensor, and all reads except those in `own` are of other elements.
fn is_dead_after(nest: &Nest, tensor: &Tensor, own: &[Use], scope: &[usize]) -> bool {
    if is_output(nest, tensor) || !nest.is_passed_on(tensor) {
        return false;
    }
    let is_own = |u: &Use| {
        let same = |other: &Use| (&other.position, &other.region) == (&u.position, &u.region);
        u.position.starts_with(scope) && own.iter().any(same)
    };
    let is_apart = |read: &Use| {
        let mut writes = own.iter().filter(|u| u.access != AccessKind::Read);
        writes.all(|write| are_disjoint(nest, read, write, 0))
    };
    let all = uses(nest, tensor.label());
    let mut reads = all
        .iter()
        .filter(|u| matches!(u.access, AccessKind::Read | AccessKind::Update));
    reads.all(|read| is_own(read) || is_apart(read))
}
