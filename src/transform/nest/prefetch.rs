//! `prefetch` fetches elements of a tensor into the cache some iterations before they are used.
//!
//! ```rhai
//! let A = tensor([40, 50]);
//! let x = tensor([50]);
//! let y = eq(vsum(vmul(A, x, [[i, j], [j]]), [j]), [i]);
//! print(build(y).prefetch("i", A, 4));
//! ```
//!
//! ```text
//! f64 y[40], A[40][50], x[50]
//! fill y[0..40] = 0
//! for i in 0..40 prefetch(A, 4)
//!   for j in 0..50
//!     y[i] += A[i][j] * x[j]
//! ```
//!
//! `prefetch(nest, loop, tensor, distance)` makes each iteration start by fetching what the one
//! `distance` iterations later touches: for each access to the tensor the element of the first
//! iteration of the loops inside, here `A[i + 4][0]`, or the last element that exists. A cache
//! line holds several elements, so blocks of loops inside make good places. A second distance for
//! the same tensor replaces the first.
//!
//! Always legal: it changes no element.
//!
//! Refuses: tensors that no access inside of the loop moves through; distances below 1 or beyond
//! 2^40; vector loops and loops inside of them, which compilers do not vectorize then; collapsed
//! loops other than the innermost.
//!
//! Source: software prefetching, Mowry, Lam and Gupta, Design and Evaluation of a Compiler
//! Algorithm for Prefetching, 1992.

use super::mode::mark;
use super::resolve::{chain, check_positive, find};
use crate::analysis::ahead::ahead;
use crate::ir::{Loop, Name, Nest, Tensor};
use crate::transform::{Arg, Error, ErrorKind, Kind, LoopRef, Op, Param, Returns, Value};

/// `prefetch(nest, loop, tensor, distance)`.
pub static PREFETCH: Op = Op {
    name: "prefetch",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("loop", Kind::Loop),
        Param::new("tensor", Kind::Expr),
        Param::new("distance", Kind::Int),
    ],
    returns: Returns::Nest,
    file: include_str!("prefetch.rs"),
    call: |args| match args {
        [
            Arg::Nest(nest),
            Arg::Loop(l),
            Arg::Expr(expr),
            Arg::Int(distance),
        ] => {
            let tensor = expr.tensor().and_then(Tensor::name);
            let tensor = tensor.ok_or_else(|| Error::from(ErrorKind::Unnamed).at_argument(2))?;
            prefetch(nest, l, tensor, *distance).map(Value::Nest)
        }
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The nest with a loop that fetches elements of `tensor`.
///
/// # Errors
/// As the header says.
pub fn prefetch(
    nest: &Nest,
    reference: &LoopRef,
    tensor: &Name,
    distance: i64,
) -> Result<Nest, Error> {
    let position = find(nest, reference, 1)?;
    check_positive("distance", distance, 3)?;
    let l = chain(nest, &position)[position.len() - 1];
    if ahead(l, tensor, distance).is_empty() {
        let (name, tensor) = (l.name.clone(), tensor.to_string());
        let kind = ErrorKind::NothingToPrefetch {
            name: name.clone(),
            tensor,
        };
        return Err(Error::from(kind).at_argument(2).on(nest, [name]));
    }
    mark(nest, reference, |mut l: Loop| {
        l.hints.prefetch.retain(|(name, _)| name != tensor);
        l.hints.prefetch.push((tensor.clone(), distance));
        l
    })
}
