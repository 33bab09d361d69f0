//! The legal next steps at each loop.
//!
//! Every candidate is applied, so each listed step can be taken. It is judged only where it changes
//! the nest. If it only reorders or reverses the loops of a band, the directions of the dependences
//! in the band decide, where they can. The proof that code needs decides the rest.
//!
//! Bands are judged on all cores. Each band has its own budget, so that the answer does not depend
//! on the number of cores. Parallel and vector loops are judged apart from the order.

mod candidates;
mod known;
mod moves;
mod questions;
mod step;

pub use known::known;
pub use moves::{Moves, moves};
pub use questions::{OPERATIONS, Scope};
pub use step::Move;
