//! Tests of trees: operations, notations, proofs, schedules.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../classics/mod.rs"]
mod classics;
#[path = "../computations/mod.rs"]
mod computations;
#[path = "../config/mod.rs"]
mod config;
#[path = "../dialog/mod.rs"]
mod dialog;
#[path = "../worker/mod.rs"]
mod worker;

mod baseline;
mod computation;
mod contract;
mod device;
mod legality;
mod moves;
mod papers;
mod paths;
mod pipelines;
mod poly;
mod properties;
mod renaming;
mod schedules;
mod sparse;
mod teml;
