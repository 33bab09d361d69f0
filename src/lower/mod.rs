//! From tensor expressions to loop nests.

pub mod build;
pub mod flatten;
mod overwrite;
pub mod partition;
pub mod program;
mod reductions;
mod steps;
mod target;
