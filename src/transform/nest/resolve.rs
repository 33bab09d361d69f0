//! Finds the loops that a script refers to, and names the argument where it cannot.

use crate::analysis::position::{self, Position};
use crate::ir::{Loop, Nest};
use crate::transform::{Error, LoopRef};
use std::sync::Arc;

/// The position of the loop `reference`, which is parameter number `argument` (from 0).
pub(super) fn find(nest: &Nest, reference: &LoopRef, argument: usize) -> Result<Position, Error> {
    let found = match reference {
        LoopRef::Level(level) => position::at_level(nest, *level),
        LoopRef::Name(name) => position::named(nest, name),
    };
    found.map_err(|e| Error::from(e).at_argument(argument).on(nest, []))
}

/// The loops from the root down to the one at `position`, which `find` returned.
pub(super) fn chain<'a>(nest: &'a Nest, position: &[usize]) -> Vec<&'a Arc<Loop>> {
    position::chain(nest, position)
}
