//! Which steps are legal next, at each loop.
//!
//! Every candidate is applied and its result judged, so that what is listed can be taken, and is
//! legal by the same proof that code needs.

mod candidates;
mod moves;

pub use moves::{Move, Moves, moves};
