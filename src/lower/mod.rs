//! From tensor expressions to loop nests.

pub mod build;
pub mod flatten;
mod overwrite;
pub mod program;
mod steps;
mod target;
