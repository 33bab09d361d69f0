//! Which steps are legal next, at each loop.
//!
//! Every candidate is applied, so that what is listed can be taken. Its result is known where it
//! changes the nest, or, where it only runs the loops of a band in another order, by the directions of
//! the dependences in the band. What that leaves open is known by the same proof that code needs.

mod candidates;
mod known;
mod moves;
mod questions;
mod step;

pub use known::known;
pub use moves::{Moves, moves};
pub use questions::{OPERATIONS, Scope};
pub use step::Move;
