//! From tensor expressions to loop nests.

pub mod build;
mod explicit;
mod faults;
pub mod flatten;
mod no_nest;
mod no_program;
mod overwrite;
pub mod partition;
pub mod program;
mod reductions;
mod statement;
mod steps;
mod target;
mod update;

pub use explicit::explicit;
pub use reductions::in_steps;
