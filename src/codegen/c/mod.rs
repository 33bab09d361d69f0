//! Prints plans as C.

mod fill;
mod lanes;
mod plain;
mod power;
mod pragma;
mod prefetch;
pub(super) mod printer;
mod shares;
pub(super) mod value;
mod vectors;
