//! `distribute` splits a loop: each loop and each statement in its body gets a loop of its own.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! let C = eq(B, [i, j] -> [i, j]);
//! print(fuse_outer(build(B), build(C), 2).distribute("j"));
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5], C[4][5]
//! for i in 0..4
//!   for j in 0..5
//!     B[i][j] = A[i][j]
//!   for j_2 in 0..5
//!     C[i][j_2] = B[i][j_2]
//! ```
//!
//! The first loop keeps the name; the others get the first free numbers.
//!
//! Legal when no iteration depends on a statement further down in the body of an earlier iteration.
//! `check` proves it.
//!
//! Refuses: a loop whose body is a single loop or statement.
//!
//! Source: loop distribution, Allen and Kennedy, Optimizing Compilers for Modern Architectures,
//! 2001; it undoes TeML eqs. 22 and 23.

use super::parts::{Names, with_body};
use super::resolve::{chain, find};
use crate::analysis::position::splice;
use crate::ir::{Loop, Nest, Tree};
use crate::transform::{Arg, Error, ErrorKind, Kind, LoopRef, Op, Param, Returns, Value};

/// `distribute(nest, loop)`.
pub static DISTRIBUTE: Op = Op {
    name: "distribute",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("loop", Kind::Loop),
    ],
    returns: Returns::Nest,
    file: include_str!("distribute.rs"),
    call: |args| match args {
        [Arg::Nest(nest), Arg::Loop(l)] => distribute(nest, l).map(Value::Nest),
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The nest with one loop for each tree in a loop.
///
/// # Errors
/// As the header says.
pub fn distribute(nest: &Nest, reference: &LoopRef) -> Result<Nest, Error> {
    let position = find(nest, reference, 1)?;
    let l = chain(nest, &position)[position.len() - 1];
    let (Some((first, others)), 2..) = (l.body.split_first(), l.body.len()) else {
        let name = l.name.clone();
        let kind = ErrorKind::NothingToDistribute { name: name.clone() };
        return Err(Error::from(kind).on(nest, [name]));
    };
    let mut loops = vec![Tree::of_loop(Loop {
        body: vec![first.clone()],
        ..(**l).clone()
    })];
    let mut names = Names::of(nest);
    for tree in others {
        let name = names.number(&l.name);
        loops.push(with_body(l, name, l.range.clone(), vec![tree.clone()]));
    }
    Ok(nest.with_trees(splice(nest.trees(), &position, loops)))
}
