//! Finds the loops that a script refers to, and names the argument where it cannot.

use crate::analysis::position::{self, Position};
use crate::ir::{Loop, Nest};
use crate::transform::{Error, ErrorKind, LoopRef};
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

/// That the loop has the step 1.
pub(super) fn check_step(nest: &Nest, l: &Loop) -> Result<(), Error> {
    if l.range.step == 1 {
        return Ok(());
    }
    let (name, step) = (l.name.clone(), l.range.step);
    Err(Error::from(ErrorKind::Stepped { name, step }).on(nest, [l.name.clone()]))
}

/// That a number of iterations is at least 1; it is parameter number `argument` (from 0).
pub(super) fn check_positive(
    parameter: &'static str,
    value: i64,
    argument: usize,
) -> Result<(), Error> {
    match value {
        1.. => Ok(()),
        _ => Err(Error::from(ErrorKind::NotPositive { parameter, value }).at_argument(argument)),
    }
}

/// The refusal of a loop whose number of iterations varies.
pub(super) fn not_constant(nest: &Nest, l: &Loop) -> Error {
    let (name, range) = (l.name.clone(), l.range.to_string());
    Error::from(ErrorKind::NotConstant { name, range }).on(nest, [l.name.clone()])
}
