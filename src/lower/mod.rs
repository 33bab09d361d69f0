//! From tensor expressions to loop nests.

pub mod build;
pub mod flatten;
mod overwrite;
mod reductions;
mod steps;
mod target;
