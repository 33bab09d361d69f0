//! Integer sets and relations: every operation against brute force, and errors.

use crate::config;
mod empty;
mod first;
mod flow;
mod legality;
mod limits;
mod maps;
mod regions;
mod sets;
