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

use crate::ir::{Hints, Nest};
use crate::transform::{Arg, Error, ErrorKind, Kind, Op, Param, Returns, Value};

/// `assume(nest, reason)`.
pub static ASSUME: Op = Op {
    name: "assume",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("reason", Kind::Text),
    ],
    returns: Returns::Nest,
    file: include_str!("assume.rs"),
    call: |args| match args {
        [Arg::Nest(nest), Arg::Word(reason)] => assume(nest, reason).map(Value::Nest),
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The nest with the assumption that it is correct.
///
/// # Errors
/// As the header says.
pub fn assume(nest: &Nest, reason: &str) -> Result<Nest, Error> {
    if !Hints::is_remark(reason) {
        let text = reason.to_owned();
        return Err(Error::from(ErrorKind::NotARemark { text }).at_argument(1));
    }
    Ok(nest.assumed(reason))
}
