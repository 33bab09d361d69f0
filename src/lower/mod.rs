//! From tensor expressions to loop nests.

pub mod build;
mod flatten;
mod overwrite;
mod steps;
mod target;
