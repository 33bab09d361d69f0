//! The tool as people use it: commands, scripts, messages, and the pages that they read.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../folder/mod.rs"]
mod folder;
#[path = "../waiting/mod.rs"]
mod waiting;

mod bench;
mod cli;
mod definitions;
mod environment;
mod examples;
mod gallery;
mod house;
mod library;
mod meta;
mod output;
mod prose;
mod readme;
mod repl_pty;
mod script;
mod scripts;
mod stop;
mod trees;
mod workers;
