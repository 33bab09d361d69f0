//! Kernels written by hand: compiled, run in workers, checked and measured.

#![allow(clippy::unwrap_used, clippy::panic)]

mod bounding;
mod compiling;
mod crashing;
mod measuring;
mod running;
mod screening;
mod stopping;
mod workshop;
