//! `annotate` attaches a remark to a loop; printed nests and the C show it.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! print(build(B).annotate("i", "one row at a time"));
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5]
//! for i in 0..4 // one row at a time
//!   for j in 0..5
//!     B[i][j] = A[i][j]
//! ```
//!
//! A second remark on the same loop replaces the first. In the C it becomes a comment.
//!
//! Always legal: it changes nothing.
//!
//! Refuses: text of several lines; characters other than letters, digits, spaces and punctuation; a
//! backslash, `/*`, `*/` or `??`, which C interprets even inside comments; empty text; leading or
//! trailing spaces.
//!
//! Source: `annotate` of TVM's schedules.

use super::mode::mark;
use super::resolve::find;
use crate::args::{LOOP, NEST, Text};
use crate::ir::Nest;
use crate::refusals::{is_remark, not_a_remark};
use crate::{Error, LoopRef, Op, Param, Returns, Value};

const TEXT: Param<Text> = Param::new("text");

/// `annotate(nest, loop, text)`.
pub static ANNOTATE: Op = Op {
    name: "annotate",
    params: &[NEST.any(), LOOP.any(), TEXT.any()],
    returns: Returns::Nest,
    file: include_str!("annotate.rs"),
    call: |args| annotate(args.get(&NEST)?, args.get(&LOOP)?, args.get(&TEXT)?).map(Value::Nest),
};

/// The nest with a remark beside a loop.
///
/// # Errors
/// As the header says.
pub fn annotate(nest: &Nest, reference: &LoopRef, text: &str) -> Result<Nest, Error> {
    find(nest, reference, &LOOP)?;
    if !is_remark(text) {
        return Err(not_a_remark(text, &TEXT));
    }
    mark(nest, reference, |mut l| {
        l.hints.remark = Some(text.into());
        l
    })
}
