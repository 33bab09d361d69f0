//! `stream` stores vectors of a tensor with non-temporal stores, which bypass the caches.
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
//! `stream(nest, loop, tensor)` is for results too large for any cache. Their old contents are not
//! read from memory, and cached data stays cached. It applies to the loop itself and to the vector
//! loops in it, if they are written with explicit vectors. Ordinary stores are used at unaligned
//! addresses, for the remainder of a row, and on machines without non-temporal stores. A fence
//! after the loop makes the stored values visible to other threads.
//!
//! Always legal: it changes no element.
//!
//! Refuses: tensors that are not assigned in the loop; local tensors; tensors that are read in it,
//! or updated, which reads them.
//!
//! Source: non-temporal stores, OpenMP 5.0, the clause `nontemporal`; McCalpin, STREAM.

use super::mode::mark;
use super::resolve::{chain, find};
use crate::args::{LOOP, NEST, TENSOR};
use crate::ir::{Loop, Name, Nest, Tree};
use crate::{Error, LoopRef, Op, Returns, Value, refusal};

/// `stream(nest, loop, tensor)`.
pub static STREAM: Op = Op {
    name: "stream",
    params: &[NEST.any(), LOOP.any(), TENSOR.any()],
    returns: Returns::Nest,
    file: include_str!("stream.rs"),
    call: |args| stream(args.get(&NEST)?, args.get(&LOOP)?, args.get(&TENSOR)?).map(Value::Nest),
};

/// The nest with a loop that stores `tensor` past the caches.
///
/// # Errors
/// As the header says.
pub fn stream(nest: &Nest, reference: &LoopRef, tensor: &str) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let l = chain(nest, &position)[position.len() - 1];
    let (mut assigned, mut read) = (None, false);
    uses(&l.body, tensor, &mut assigned, &mut read);
    let local = nest.locals().iter().any(|t| t.label() == tensor);
    let name = &l.name;
    let error = match assigned.filter(|_| !local) {
        Some(assigned) if !read => {
            return mark(nest, reference, |mut l: Loop| {
                if !l.hints.stream.contains(&assigned) {
                    l.hints.stream.push(assigned.clone());
                }
                l
            });
        }
        Some(_) => {
            let text = format!("`{name}` reads {tensor}, and should find it in the caches");
            refusal(text).help(
                "stream what no iteration reads or updates, in a loop around nothing but its \
                 assignment",
            )
        }
        None => {
            let text = format!("`{name}` stores nothing to {tensor} in memory");
            refusal(text).help(
                "stream a result in a loop that assigns its elements; local tensors stay in the \
                 caches",
            )
        }
    };
    Err(error.at(&TENSOR).on(nest, [name.clone()]))
}

/// Finds the tensor of that name if trees assign its elements, and whether they read it.
fn uses(trees: &[Tree], tensor: &str, assigned: &mut Option<Name>, read: &mut bool) {
    for tree in trees {
        match tree {
            Tree::Loop(l) => uses(&l.body, tensor, assigned, read),
            Tree::Stmt(s) => {
                if s.target.label() == tensor {
                    *assigned = s.target.name().cloned();
                    *read |= s.update.is_some();
                }
                s.value
                    .for_each_tensor(&mut |t| *read |= t.label() == tensor);
            }
            Tree::Fill(_) | Tree::Local(_) => {}
        }
    }
}
