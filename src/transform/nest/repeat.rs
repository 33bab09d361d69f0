//! `repeat` wraps a nest in a loop that executes it several times: time steps.
//!
//! ```rhai
//! let A = tensor([8]);
//! let B = tensor([8]);
//! B = eq(vstencil(A, [[-1], [1]], [0.5, 0.5]), [i] -> [i], [8]);
//! let first = build(B);
//! A = eq(B, [i] -> [i]);
//! let steps = fuse_outer(first, build(A), 0).repeat("t", 100);
//! print(steps);
//! ```
//!
//! ```text
//! f64 B[8], A[8]
//! for t in 0..100
//!   for i in 1..7
//!     B[i] = 0.5 * A[i - 1] + 0.5 * A[i + 1]
//!   for i_2 in 0..8
//!     A[i_2] = B[i_2]
//! ```
//!
//! `repeat(nest, iterator, steps)` also changes what the nest should compute from then on: its
//! definition, executed `steps` times.
//!
//! Always legal.
//!
//! Refuses: fewer than one step; an iterator with the name of a loop of the nest.
//!
//! Source: the time loops of stencil codes.

use crate::ir::{Loop, Name, Nest, Range};
use crate::transform::{Arg, Error, ErrorKind, Kind, Op, Param, Returns, Value};

/// `repeat(nest, iterator, steps)`.
pub static REPEAT: Op = Op {
    name: "repeat",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("iterator", Kind::Text),
        Param::new("steps", Kind::Int),
    ],
    returns: Returns::Nest,
    file: include_str!("repeat.rs"),
    call: |args| match args {
        [Arg::Nest(nest), Arg::Word(iterator), Arg::Int(steps)] => {
            let name = Name::new(iterator);
            let name = name.map_err(|e| Error::from(ErrorKind::Name(e)).at_argument(1))?;
            repeat(nest, name, *steps).map(Value::Nest)
        }
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The nest in a loop of `steps` iterations.
///
/// # Errors
/// As the header says.
pub fn repeat(nest: &Nest, name: Name, steps: i64) -> Result<Nest, Error> {
    if steps < 1 {
        let (parameter, value) = ("steps", steps);
        let kind = ErrorKind::NotPositive { parameter, value };
        return Err(Error::from(kind).at_argument(2));
    }
    let original = |nest: &Nest| nest.untransformed().iter().any(|n| n.has_loop(&name));
    if nest.has_loop(&name) || original(nest) {
        let error = Error::from(ErrorKind::NameClash { name: name.clone() });
        return Err(error.at_argument(1).on(nest, [name]));
    }
    let time = Loop::serial(name, Range::constant(0, steps), Vec::new());
    Ok(nest.repeated(&time))
}
