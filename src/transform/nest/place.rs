//! `place` decides where a local tensor of a block of a device lies.
//!
//! ```rhai
//! let A = tensor([64, 64]);
//! let B = eq(A, [i, j] -> [j, i]);
//! let tiles = build(B).tile(["i", "j"], [8, 8]).pack("j_o", A);
//! print(tiles.place("A_pack", "shared"));
//! ```
//!
//! ```text
//! f64 B[64][64], A[64][64]
//! for i_o in 0..8
//!   for j_o in 0..8
//!     local shared f64 A_pack[8][8]
//!     for A_pack_1 in 0..8
//!       for A_pack_2 in 0..8
//!         A_pack[A_pack_1][A_pack_2] = A[A_pack_1 + 8*i_o][A_pack_2 + 8*j_o]
//!     for j_i in 8*j_o..8*j_o + 8
//!       for i_i in 8*i_o..8*i_o + 8
//!         B[j_i][i_i] = A_pack[i_i - 8*i_o][j_i - 8*j_o]
//! ```
//!
//! A local tensor in the grid and outside of block loops lies in registers if its indices say which
//! thread uses each element. So does one whose elements lanes of a warp can pass on. The threads of
//! the block share all others. `place` says which of both it is to be: `"shared"` or `"registers"`. It
//! changes no result, and has no effect on processors.
//!
//! Always legal. `codegen` refuses registers for a tensor whose elements several threads use, and
//! shared memory for one that is declared inside of block loops.
//!
//! Refuses: a tensor that is not local to the nest.
//!
//! Source: memory types of Halide (`store_in`), scopes of TVM (`set_scope`).

use super::buffer::local;
use crate::args::{NEST, TENSOR};
use crate::ir::{Nest, Space, Tensor};
use crate::words::Word;
use crate::{Error, Op, Param, Returns, Value};

const SPACE: Param<Space> = Param::new("space");

/// `place(nest, tensor, space)`.
pub static PLACE: Op = Op {
    name: "place",
    params: &[NEST.any(), TENSOR.any(), SPACE.any()],
    returns: Returns::Nest,
    file: include_str!("place.rs"),
    call: |args| place(args.get(&NEST)?, args.get(&TENSOR)?, args.get(&SPACE)?).map(Value::Nest),
};

impl Word for Space {
    const WORDS: &'static [&'static str] = Space::WORDS;

    fn from_word(word: &str) -> Option<Space> {
        Space::from_word(word)
    }
}

/// The nest with the local tensor `label` in a space of the device.
///
/// # Errors
/// As the header says.
pub fn place(nest: &Nest, label: &str, space: Space) -> Result<Nest, Error> {
    let placed = local(nest, label, &TENSOR)?;
    let map = |tensor: &Tensor| match tensor.name() == placed.name() {
        true => tensor.in_space(space),
        false => tensor.clone(),
    };
    let trees = nest.trees().iter().map(|tree| tree.map_tensors(&map));
    Ok(nest.with_trees(trees.collect()))
}
