//! Finds the loops that a script refers to, and names the argument where it cannot.

use crate::analysis::position::{self, Position};
use crate::ir::{Loop, Nest, Tensor, Tree};
use crate::transform::{Arg, Error, ErrorKind, LoopRef};
use std::sync::Arc;

/// The position of the loop `reference`, which is parameter number `argument` (from 0).
pub(super) fn find(nest: &Nest, reference: &LoopRef, argument: usize) -> Result<Position, Error> {
    let found = match reference {
        LoopRef::Level(level) => position::at_level(nest, *level),
        LoopRef::Name(name) => position::named(nest, name),
    };
    found.map_err(|e| Error::from(e).at_argument(argument).on(nest, []))
}

/// As [`find`], where the level 0 stands for the whole nest: a position without steps.
pub(super) fn find_scope(
    nest: &Nest,
    reference: &LoopRef,
    argument: usize,
) -> Result<Position, Error> {
    match reference {
        LoopRef::Level(0) => Ok(Position::new()),
        _ => find(nest, reference, argument),
    }
}

/// What the loop at a position executes; for no position the trees of the nest.
pub(super) fn body_of<'a>(nest: &'a Nest, scope: &[usize]) -> &'a [Tree] {
    match position::chain(nest, scope).last() {
        Some(l) => &l.body,
        None => nest.trees(),
    }
}

/// The nest with another [body](body_of) there.
pub(super) fn with_body_of(nest: &Nest, scope: &[usize], body: Vec<Tree>) -> Nest {
    let trees = match position::chain(nest, scope).last() {
        None => body,
        Some(l) => {
            let l = Loop {
                body,
                ..(***l).clone()
            };
            position::splice(nest.trees(), scope, vec![Tree::of_loop(l)])
        }
    };
    nest.with_trees(trees)
}

/// The name of a tensor, which is parameter number `argument` (from 0).
pub(super) fn tensor_name(tensor: &Arg, argument: usize) -> Result<&str, Error> {
    let kind = match tensor {
        Arg::Word(name) => return Ok(name),
        Arg::Expr(expr) => match expr.tensor().and_then(Tensor::name) {
            Some(name) => return Ok(name.as_str()),
            None => ErrorKind::Unnamed,
        },
        _ => ErrorKind::Misdeclared,
    };
    Err(Error::from(kind).at_argument(argument))
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
