//! Finds the loops that a script refers to, and blames the argument if there is none.

use crate::analysis::position::{self, Position};
use crate::failure::Parameter;
use crate::ir::{Loop, Nest, Segment, Tree};
use crate::{Error, LoopRef, limitation, mistake, refusal};
use std::sync::Arc;

/// The position of the loop `reference`, which is the argument for `parameter`.
pub(super) fn find(
    nest: &Nest,
    reference: &LoopRef,
    parameter: &dyn Parameter,
) -> Result<Position, Error> {
    let found = match reference {
        LoopRef::Level(level) => position::at_level(nest, *level),
        LoopRef::Name(name) => position::named(nest, name),
    };
    found.map_err(|why| Error::from(why).at(parameter).on(nest, []))
}

/// As [`find`], but level 0 is the whole nest: a position without steps.
pub(super) fn find_scope(
    nest: &Nest,
    reference: &LoopRef,
    parameter: &dyn Parameter,
) -> Result<Position, Error> {
    match reference {
        LoopRef::Level(0) => Ok(Position::new()),
        _ => find(nest, reference, parameter),
    }
}

/// The body of the loop at a position; the trees of the nest if the position is empty.
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

/// The loops from the root down to the one at `position`, which `find` returned.
pub(super) fn chain<'a>(nest: &'a Nest, position: &[usize]) -> Vec<&'a Arc<Loop>> {
    position::chain(nest, position)
}

/// Checks that the loop has step 1 and affine bounds.
pub(super) fn check_step(nest: &Nest, l: &Loop) -> Result<(), Error> {
    if let Some(segment) = &l.range.within {
        return Err(bounds_are_read(nest, l, segment));
    }
    if l.range.step == 1 {
        return Ok(());
    }
    let (name, step) = (&l.name, l.range.step);
    let text = format!("`{name}` has the step {step}, and this is for loops of step 1");
    let error = refusal(text).help("transform the loop before its step changes");
    Err(error.on(nest, [name.clone()]))
}

fn bounds_are_read(nest: &Nest, l: &Loop, segment: &Segment) -> Error {
    let (name, read) = (&l.name, segment.lower.as_ref().unwrap_or(&segment.upper));
    let text = format!("the bounds of `{name}` are read from `{read}`, and this needs affine ones");
    let error = limitation(text).help("the loops around and inside have affine bounds");
    error.on(nest, [name.clone()])
}

/// Checks that a number, the argument for `parameter`, is at least 1.
pub(super) fn check_positive(value: i64, parameter: &dyn Parameter) -> Result<(), Error> {
    if value >= 1 {
        return Ok(());
    }
    let name = parameter.name();
    let text = format!("`{name}` must be at least 1, and {value} is not");
    Err(mistake(text).at(parameter))
}
