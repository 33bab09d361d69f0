//! `bind` runs the iterations of a loop on an axis of a device, such as a GPU.
//!
//! ```rhai
//! let A = tensor([1000]);
//! let B = eq(A, [i] -> [i]);
//! let blocks = build(B).stripmine("i", 256);
//! print(blocks.bind("i_o", "grid.x").bind("i_i", "block.x"));
//! ```
//!
//! ```text
//! f64 B[1000], A[1000]
//! grid.x for i_o in 0..4
//!   block.x for i_i in 256*i_o..min(256*i_o + 256, 1000)
//!     B[i_i] = A[i_i]
//! ```
//!
//! A device starts a grid of blocks, and each block has threads. The axes are `grid.x`, `grid.y` and
//! `grid.z` for blocks, `block.x`, `block.y` and `block.z` for the threads of a block. Neighbors in
//! x run side by side, so the loop that moves along the rows of tensors belongs there.
//!
//! `lane` is one more axis of a block, inside of the others: `lane` and `block.x` together number the
//! threads in x. Lanes that differ in nothing else run in step, in a *warp*. They wait for each other
//! without the rest of the block, and read what another lane keeps in registers:
//!
//! ```rhai
//! let A = tensor([8, 32]);
//! let y = eq(vsum(vat(A, [i, k]), [k]), [i]);
//! reductions("reassoc");
//! let rows = build(y).place_init("i").bind("i", "grid.x").stage("i", y).rfactor("k").bind("k", "lane");
//! print(rows.stripmine("k_2", 8).rfactor("k_2_o").bind("k_2_o", "lane"));
//! ```
//!
//! ```text
//! f64 y[8], A[8][32]
//! grid.x for i in 0..8
//!   local f64 y_tile[]
//!   fill y_tile[] = 0
//!   local f64 y_tile_k[32]
//!   fill y_tile_k[0..32] = 0
//!   lane for k in 0..32
//!     y_tile_k[k] += A[i][k]
//!   local f64 y_tile_k_2_o[4]
//!   fill y_tile_k_2_o[0..4] = 0
//!   lane for k_2_o in 0..4
//!     for k_2_i in 8*k_2_o..8*k_2_o + 8
//!       y_tile_k_2_o[k_2_o] += y_tile_k[k_2_i]
//!   for k_2_o_2 in 0..4
//!     y_tile[] += y_tile_k_2_o[k_2_o_2]
//!   y[i] = y_tile[]
//! ```
//!
//! - Grid loops are perfectly nested. Each chain of them is one start of the device. Serial loops
//!   around it run on the processor, and start the device in each iteration.
//! - Each chain of block loops is a phase. Phases of one block share its threads, and run one after
//!   the other. Barriers are placed between phases where threads exchange data. A statement outside
//!   of all block loops runs on one thread.
//! - A local tensor that is declared in the grid loops and outside of block loops is shared by the
//!   threads of a block. If its indices say which thread uses each element, each thread keeps its
//!   own part in registers. A local tensor inside block loops belongs to its thread.
//!
//! A nest with such loops becomes a kernel for CUDA, HIP or OpenCL, and C that starts it.
//!
//! Legal when no iteration writes an element that another one reads or writes. `codegen` proves it,
//! and proves that a barrier lies between threads that exchange data: one of the warp, if all of
//! them are lanes of one. The number of lanes has to divide that of the device's warps.
//!
//! Refuses: unknown axes; two loops on one axis, one in the other; a loop in or around vector loops.
//!
//! Source: TeML §7 names GPUs; the axes are CUDA's and OpenCL's; `bind` is TVM's word.

use super::mode::mark;
use super::resolve::{chain, find};
use crate::args::{LOOP, NEST};
use crate::ir::{Axis, Loop, Mode, Nest};
use crate::words::Word;
use crate::{Error, LoopRef, Op, Param, Returns, Value, refusal};

const AXIS: Param<Axis> = Param::new("axis");

/// `bind(nest, loop, axis)`.
pub static BIND: Op = Op {
    name: "bind",
    params: &[NEST.any(), LOOP.any(), AXIS.any()],
    returns: Returns::Nest,
    file: include_str!("bind.rs"),
    call: |args| bind(args.get(&NEST)?, args.get(&LOOP)?, args.get(&AXIS)?).map(Value::Nest),
};

impl Word for Axis {
    const WORDS: &'static [&'static str] = Axis::WORDS;

    fn from_word(word: &str) -> Option<Axis> {
        Axis::from_word(word)
    }
}

/// Runs a loop on an axis of a device.
///
/// # Errors
/// A loop that does not exist; a loop in or around one on the same axis.
pub fn bind(nest: &Nest, reference: &LoopRef, axis: Axis) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let chain = chain(nest, &position);
    let name = chain[chain.len() - 1].name.clone();
    let loops = nest.loops();
    let around = chain.iter().map(|l| &***l);
    let inside = loops
        .iter()
        .filter(|(outer, _)| outer.iter().any(|l| l.name == name));
    let mut others = around
        .chain(inside.map(|(_, l)| *l))
        .filter(|l| l.name != name);
    if let Some(other) = others.find(|other| other.axis() == Some(axis)) {
        let other = other.name.clone();
        let text = format!("loop `{other}` already runs on {axis}, and one is inside the other");
        let error = refusal(text).help("bind one of them to another axis");
        return Err(error.at(&LOOP).on(nest, [name, other]));
    }
    mark(nest, reference, |l| Loop {
        mode: Mode::Bound { axis },
        ..l
    })
}
