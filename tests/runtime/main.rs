//! Kernels written by hand: compiled, run in workers, checked and measured.

mod compiling;
mod crashing;
mod measuring;
mod running;
mod stopping;
mod workshop;
