//! Transformations: one file each, one pure function each, and one table of them all.

mod error;
mod op;

pub use error::{Class, Error, ErrorKind};
pub use op::{Arg, Arrow, Iters, Kind, LoopRef, Op, Param, Returns, Value, apply};

/// All operations, in the order in which help lists them.
pub static OPS: &[&Op] = &[];
