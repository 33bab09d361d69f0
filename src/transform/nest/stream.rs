//! `stream` stores vectors to a tensor past the caches (non-temporal stores).
//!
//! ```rhai
//! let A = tensor([40, 50]);
//! let B = eq(A, [i, j] -> [i, j]);
//! print(build(B).vectorize("j").stream("j", B));
//! ```
//!
//! ```text
//! f64 B[40][50], A[40][50]
//! for i in 0..40
//!   vector for j in 0..50 stream(B)
//!     B[i][j] = A[i][j]
//! ```
//!
//! `stream(nest, loop, tensor)` is for results that no cache holds: what is stored is not read from
//! memory before, and what the caches hold stays there. It counts for the vector loops in the loop,
//! and for the loop itself, that are written with explicit vectors; where an address is not aligned,
//! and on machines that have no such stores, ordinary ones take their place. After the loop a fence
//! makes other threads see what was stored.
//!
//! Always legal: it changes no element.
//!
//! Refuses: tensors that are not assigned in the loop, or local; tensors that are read in it, or
//! updated, which reads them.
//!
//! Source: non-temporal stores, OpenMP 5.0, the clause `nontemporal`; McCalpin, STREAM.

use super::mode::mark;
use super::resolve::{chain, find};
use crate::ir::{Loop, Name, Nest, Tensor, Tree};
use crate::transform::{Arg, Error, ErrorKind, Kind, LoopRef, Op, Param, Returns, Value};

/// `stream(nest, loop, tensor)`.
pub static STREAM: Op = Op {
    name: "stream",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("loop", Kind::Loop),
        Param::new("tensor", Kind::Expr),
    ],
    returns: Returns::Nest,
    file: include_str!("stream.rs"),
    call: |args| match args {
        [Arg::Nest(nest), Arg::Loop(l), Arg::Expr(expr)] => {
            let tensor = expr.tensor().and_then(Tensor::name);
            let tensor = tensor.ok_or_else(|| Error::from(ErrorKind::Unnamed).at_argument(2))?;
            stream(nest, l, tensor).map(Value::Nest)
        }
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The nest with a loop that stores to `tensor` past the caches.
///
/// # Errors
/// As the header says.
pub fn stream(nest: &Nest, reference: &LoopRef, tensor: &Name) -> Result<Nest, Error> {
    let position = find(nest, reference, 1)?;
    let l = chain(nest, &position)[position.len() - 1];
    let local = nest.locals().iter().any(|t| t.name() == Some(tensor));
    let (mut assigned, mut read) = (false, false);
    uses(&l.body, tensor, &mut assigned, &mut read);
    let (name, label) = (l.name.clone(), tensor.to_string());
    let kind = match (assigned && !local, read) {
        (true, false) => {
            return mark(nest, reference, |mut l: Loop| {
                if !l.hints.stream.contains(tensor) {
                    l.hints.stream.push(tensor.clone());
                }
                l
            });
        }
        (true, true) => ErrorKind::StreamedRead {
            name: name.clone(),
            tensor: label,
        },
        (false, _) => ErrorKind::NothingToStream {
            name: name.clone(),
            tensor: label,
        },
    };
    Err(Error::from(kind).at_argument(2).on(nest, [name]))
}

/// Whether trees assign elements of a tensor, and whether they read it.
fn uses(trees: &[Tree], tensor: &Name, assigned: &mut bool, read: &mut bool) {
    for tree in trees {
        match tree {
            Tree::Loop(l) => uses(&l.body, tensor, assigned, read),
            Tree::Stmt(s) => {
                if s.target.name() == Some(tensor) {
                    *assigned = true;
                    *read |= s.update.is_some();
                }
                s.value
                    .for_each_access(&mut |t, _| *read |= t.name() == Some(tensor));
            }
            Tree::Fill(_) | Tree::Local(_) => {}
        }
    }
}
