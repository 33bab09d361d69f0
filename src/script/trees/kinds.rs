//! The words for kinds of nodes and for modes of loops.

use crate::ir::Mode;

pub(super) const ACCESS: &str = "access";
pub(super) const TARGET: &str = "target";
pub(super) const NUMBER: &str = "number";
pub(super) const INDEX: &str = "index";
pub(super) const OP: &str = "op";
pub(super) const REDUCTION: &str = "reduction";
pub(super) const VIRTUAL: &str = "virtual";
pub(super) const ASSIGNMENT: &str = "assignment";
pub(super) const PIECES: &str = "pieces";
pub(super) const NEST: &str = "nest";
pub(super) const LOOP: &str = "loop";
pub(super) const STATEMENT: &str = "statement";
pub(super) const FILL: &str = "fill";
pub(super) const LOCAL: &str = "local";

/// The function that takes one of two values.
pub(super) const SELECT: &str = "select";

pub(super) const SERIAL: &str = "serial";
pub(super) const PARALLEL: &str = "parallel";
pub(super) const VECTOR: &str = "vector";
pub(super) const PARALLEL_VECTOR: &str = "parallel vector";

/// The word for a mode.
pub(super) fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Serial => SERIAL,
        Mode::Parallel { .. } => PARALLEL,
        Mode::Vector { .. } => VECTOR,
        Mode::ParallelVector { .. } => PARALLEL_VECTOR,
        Mode::Bound { axis } => axis.word(),
    }
}
