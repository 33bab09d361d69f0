//! Scripts: the only room that knows Rhai.
//!
//! A [`Session`] runs scripts. Tensors, nests and index expressions are script values; every
//! operation of [`crate::transform::OPS`] is a function and a method. Names that nobody
//! declared and that look like iterators (`i`, `j2`, `kh`, `i_o`) are iterators.

mod actions;
mod call;
mod dialog;
mod errors;
mod fail;
mod lex;
mod methods;
mod modules;
mod names;
mod operations;
mod places;
mod rewrite;
mod session;
mod stack;
mod state;
mod suggest;
mod syntax;
mod values;
mod workbench;

pub use actions::Code;
pub use call::{Call, Function, Parameter};
pub use errors::ScriptError;
pub use fail::Failure;
pub use lex::is_incomplete;
pub use places::Places;
pub use session::Session;
pub use state::{Shared, State};
pub use values::{Index, show};
pub use workbench::{Mode, Workbench};
