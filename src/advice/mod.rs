//! Which steps are legal next, at each loop.
//!
//! Every candidate is applied, so that what is listed can be taken. Its result is judged by the
//! same proof that code needs, or, where it only runs the loops of a band in another order, by the
//! directions of the dependences in the band.

mod candidates;
mod known;
mod moves;

pub use candidates::OPERATIONS;
pub use known::known;
pub use moves::{Move, Moves, Scope, moves};
