//! Messages: errors in plain words, with the place in the script.

pub mod around;
pub mod blame;
pub mod errors;
pub mod fail;
pub mod frames;
pub mod habits;
pub mod suggest;
pub mod syntax;
pub mod unknown;
pub mod unused;
