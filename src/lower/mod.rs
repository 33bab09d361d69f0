//! From tensor expressions to loop nests.

pub mod build;
mod explicit;
pub mod flatten;
mod no_program;
mod overwrite;
pub mod partition;
pub mod program;
mod reductions;
mod steps;
mod target;
