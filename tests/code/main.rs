//! From trees to plans, C, and computed values.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../dialog/mod.rs"]
mod dialog;
#[path = "../folder/mod.rs"]
mod folder;
#[path = "../waiting/mod.rs"]
mod waiting;
#[path = "../worker/mod.rs"]
mod worker;

mod blas;
mod compilers;
mod data;
mod device;
mod dispatch;
mod emitted;
mod functions;
mod handles;
mod kernels;
mod machine;
mod numpy;
mod plans;
mod polybench;
mod python;
mod results;
mod runtime;
mod rust;
mod sparse_files;
mod support;
mod sweep;
mod table2;
mod targets;
mod tensors;
mod tune;
mod tuning;
mod turns;
mod vectors;
mod views;
mod workspace;
