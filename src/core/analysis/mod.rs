//! Analyses of trees, one per question. They cover shapes and ranges, positions, bounds,
//! computations, prefetches, footprints, accesses outside of tensors, definedness, well-formedness
//! and work counts. Analyses only read trees.

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
