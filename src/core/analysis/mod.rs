//! Questions about trees, each answered in one place: shapes and ranges, positions, bounds,
//! what a nest computes, what comes later, what is touched, whether that is inside and what is set before it is read,
//! well-formedness, counted work. Trees are only read here.

mod iterator_range;
mod mismatch;
mod solver;

pub mod bounds;
pub mod computation;
pub mod count;
pub mod definedness;
pub mod footprint;
pub mod implied;
mod inside;
pub mod levels;
pub mod mixed_radix;
pub mod outside;
pub mod position;
pub mod prefetch_address;
pub mod prefetch_plan;
pub mod program;
pub mod project;
pub mod relative;
pub mod shape;
pub mod verify;
pub mod work;
