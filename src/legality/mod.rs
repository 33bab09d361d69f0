//! Whether nests compute what their definition says: the one authority.
//!
//! [`check()`] proves it or shows what is wrong; [`prove`] is what code needs. [`race`] is a quick
//! test for parallel loops that needs no polyhedral library, and may refuse too much.

mod check;
mod concurrent;
mod dataflow;
mod equal;
mod find;
mod memory;
mod order;
mod program;
mod proof;
pub mod race;
mod reduction;
mod relations;
mod reroll;
mod violation;

pub use check::{Reductions, Undecided, Verdict, check};
pub use proof::{Proof, Refused, prove};
pub use violation::{Dependence, DependenceKind, Instance, Place, Violation};
