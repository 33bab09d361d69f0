//! From loop nests to C text. Pure: no files, no compiler, no script.

mod emit;
mod fill;
mod generate;
mod hazard;
mod kernel;
mod lanes;
mod late;
mod part;
mod plain;
mod power;
mod pragma;
mod prefetch;
mod room;
mod settle;
mod stream;
pub mod symbol;
mod team;
mod used;
mod value;
mod vectors;

pub use generate::{NoCode, generate, generate_for};
pub use kernel::{ALIGNMENT, BASE, C_BEGINS, C_ENDS, Header, Kernel, Param, Role, Vectors, unit};
