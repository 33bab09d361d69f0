//! `assume` accepts a nest whose correctness is not proved, on your responsibility.
//!
//! ```rhai
//! let A = tensor([4]);
//! let s = sum(A, [1]);
//! print(build(s).reverse("i1").assume("these sums are exact"));
//! ```
//!
//! ```text
//! f64 s[], A[4]
//! fill s[] = 0
//! for i1 in 0..4
//!   s[] += A[3 - i1]
//! ```
//!
//! A nest has code only if it is proved to compute what its definition says. `assume` lifts this
//! for the nest and for every nest made from it. The reason appears in the C and below every table.
//! Results are still compared with the reference.
//!
//! Always legal.
//!
//! Refuses: reasons that `annotate` refuses as text.
//!
//! Source: the opt-outs for schedules that cannot be proved, such as the pragmas of Pluto and
//! Halide.

use crate::args::{NEST, Text};
use crate::ir::Nest;
use crate::refusals::{is_remark, not_a_remark};
use crate::{Error, Op, Param, Returns, Value};

const REASON: Param<Text> = Param::new("reason");

/// `assume(nest, reason)`.
pub static ASSUME: Op = Op {
    name: "assume",
    params: &[NEST.any(), REASON.any()],
    returns: Returns::Nest,
    file: include_str!("assume.rs"),
    call: |args| assume(args.get(&NEST)?, args.get(&REASON)?).map(Value::Nest),
};

/// The nest with the assumption that it is correct.
///
/// # Errors
/// As the header says.
pub fn assume(nest: &Nest, reason: &str) -> Result<Nest, Error> {
    if !is_remark(reason) {
        return Err(not_a_remark(reason, &REASON));
    }
    Ok(nest.assumed(reason))
}
