//! `plain_loops` makes the C of a nest plain loops, in which the compiler finds the vectors.
//!
//! ```rhai
//! let A = tensor([64]);
//! let B = eq(A * 2, [i] -> [i]);
//! print(build(B).vectorize("i").plain_loops());
//! ```
//!
//! ```text
//! f64 B[64], A[64]
//! vector for i in 0..64
//!   B[i] = A[i] * 2
//! ```
//!
//! Vector loops get the pragmas that Pluto emits, `ivdep` and `vector always`, instead of explicit
//! vectors, and `GCC ivdep` for gcc. A parallel loop gets `omp parallel for` alone, even if it is a
//! vector loop as well. Prefetches, streams and other hints are left out. `pluto` with
//! `code: "pluto"` ends in this step.
//!
//! Always legal.
//!
//! Refuses: nothing.
//!
//! Source: the C that Pluto emits.

use crate::args::NEST;
use crate::ir::Nest;
use crate::{Op, Returns, Value};

/// `plain_loops(nest)`.
pub static PLAIN_LOOPS: Op = Op {
    name: "plain_loops",
    params: &[NEST.any()],
    returns: Returns::Nest,
    file: include_str!("plain_loops.rs"),
    call: |args| Ok(Value::Nest(plain_loops(args.get(&NEST)?))),
};

/// The nest with plain loops as its C.
pub fn plain_loops(nest: &Nest) -> Nest {
    nest.left_to_compiler()
}
