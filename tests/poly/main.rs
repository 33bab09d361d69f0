//! Integer sets and relations: every operation against brute force, and what can go wrong.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../properties/config.rs"]
mod config;
mod empty;
mod first;
mod flow;
mod legality;
mod limits;
mod maps;
mod regions;
mod sets;
