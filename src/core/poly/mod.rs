//! Integer sets and relations, exact: a thin safe layer over isl, loaded at run time. It does not
//! know loops.
//!
//! isl is the standard library of the field (Verdoolaege, *isl: An Integer Set Library for the
//! Polyhedral Model*, ICMS 2010). Sets and maps are read from its notation, or built from
//! [`Piece`]s. Pieces are faster, and get names and signs right:
//!
//! ```
//! use teml_core::poly::{Error, Piece, Relation::Less, Set, bounded};
//! # fn main() -> Result<(), Error> {
//! # if teml_core::poly::available().is_err() { return Ok(()); }
//! let even = Set::read("{ S[i] : 0 <= i < 8 and i mod 2 = 0 }")?;
//! let small = Set::new(&[Piece::set("S", ["i"]).constrain("i", Less, 5)])?;
//! let both = bounded(10_000, || even.intersect(&small))?;
//! assert_eq!(both.points(10)?.len(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! # Guarantees
//!
//! - **Every failure is a value**: a missing library ([`Error::Missing`] names the package),
//!   invalid text, sets that do not match, an exceeded budget ([`bounded`]).
//! - **Safe code cannot misuse isl.** Each thread has one context. Sets and maps cannot leave their
//!   thread, and keep its context alive. isl frees only what it owns.
//! - **Long computations can be stopped.** They ask [`is_stopped`], also outside of isl.
//!
//! ```compile_fail
//! let set = teml_core::poly::Set::read("{ [i] }").unwrap();
//! std::thread::spawn(move || set.is_empty()); // a set stays in its thread
//! ```
//!
//! There is no `coalesce`. In isl 0.25 it adds points to some unions with divisibility constraints.
//! One example is `{ [i, j] : 2 <= i < 4 and -2 <= j < 0 and i + j < 2 }` with
//! `{ [i, j] : 1 <= i < 5 and -1 <= j < 1 and (i + j) mod 3 = 0 }`. It also changes sets that share
//! their representation with the argument.
//!
//! Every method names the function of isl that it calls; the manual of isl is its reference.

mod assumed;
mod cone;
mod context;
mod contradiction;
mod error;
mod flow;
mod handle;
mod library;
mod linear;
mod map;
mod minimum;
mod names;
mod notation;
mod pieces;
mod point;
mod relation;
mod set;
mod stop;

pub use assumed::{Assumed, Parameters, assuming};
pub use cone::Condition;
pub use context::bounded;
pub use error::Error;
pub use flow::{Accesses, Flow};
pub use library::available;
pub use linear::Linear;
pub use map::{Map, UnionMap};
pub use notation::Piece;
pub use point::Point;
pub use relation::{Constraint, Relation};
pub use set::{Set, UnionSet};
pub use stop::{is_stopped, resume, stop};

#[cfg(test)]
mod ownership;
