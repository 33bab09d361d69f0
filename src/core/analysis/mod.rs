//! Questions about trees, each answered in one place: shapes and ranges, positions, bounds,
//! what a nest computes, what comes later, what is touched, whether that is inside and what is set before it is read,
//! well-formedness, counted work. Trees are only read here.

mod iterator_range;
mod mismatch;
mod solver;

pub mod ahead;
pub mod bounds;
pub mod computation;
pub mod count;
pub mod digits;
pub mod footprint;
pub mod implied;
mod inside;
pub mod levels;
pub mod outside;
pub mod position;
pub mod program;
pub mod project;
pub mod relative;
pub mod setting;
pub mod shape;
pub mod share;
pub mod verify;
pub mod work;
