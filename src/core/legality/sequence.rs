//! Whether nests compute the right values when executed sequentially.
//!
//! Programs in the order of the definition need no proof. Reordered ones are checked pair by pair
//! ([`super::order`]). Buffers are removed first, which often leaves a reordered program. Only then
//! are values followed to their producers ([`super::values`]).

use super::limit::OPERATIONS;
use super::order::{self, Unknown};
use super::program::Program;
use super::reordered::{is_reordered, is_reordered_with_locals};
use super::reused::reused;
use super::staging::unstaged;
use super::values::{self, Operands, Unequal};
use super::verdict::{Question, Undecided};
use super::violation::Violation;
use super::witness;
use crate::poly;

/// The first violation. `reassociates` tells whether an assignment's updates of one element may run
/// in any order.
pub(super) fn violation(
    program: &Program,
    reassociates: &dyn Fn(usize) -> bool,
) -> Result<Option<Violation>, Undecided> {
    if program.is_in_place() {
        return Ok(None);
    }
    if !is_reordered(program) {
        if is_legal_without_buffers(program, reassociates) {
            return Ok(None);
        }
        let wrong = values(program, reassociates)?;
        return Ok(wrong.map(|wrong| witness::wrong(program, &wrong)));
    }
    match limited(program, || order::violation(program, reassociates))? {
        Some(twice @ Violation::Twice { .. }) => {
            let harms = values(program, reassociates)?.is_some();
            Ok(harms.then_some(twice))
        }
        found => Ok(found),
    }
}

/// Whether there is no violation. This is quicker than [`violation`].
pub(super) fn holds(
    program: &Program,
    reassociates: &dyn Fn(usize) -> bool,
) -> Result<bool, Undecided> {
    if program.is_in_place() {
        return Ok(true);
    }
    if !is_reordered(program) {
        let is_legal = is_legal_without_buffers(program, reassociates);
        return Ok(is_legal || values(program, reassociates)?.is_none());
    }
    match limited(program, || order::holds(program, reassociates))? {
        order::Kept::Yes => Ok(true),
        order::Kept::No(_) => Ok(false),
        order::Kept::Repeated => Ok(values(program, reassociates)?.is_none()),
    }
}

/// Whether a program without its buffers executes the definition in a legal order. A program that
/// fails this test, or is undecided, may still be correct.
fn is_legal_without_buffers(program: &Program, reassociates: &dyn Fn(usize) -> bool) -> bool {
    if is_reordered_with_locals(program) {
        return is_kept(program, reassociates);
    }
    match poly::bounded(OPERATIONS, || unstaged(program)) {
        Ok(Some(unstaged)) => is_legal_without_buffers(&unstaged.program(program), reassociates),
        Ok(None) => is_legal_reuse(program, reassociates),
        Err(_) => false,
    }
}

/// Whether a reordered program executes each instance once, and in a legal order.
fn is_kept(program: &Program, reassociates: &dyn Fn(usize) -> bool) -> bool {
    let kept = poly::bounded(OPERATIONS, || Ok(order::holds(program, reassociates)));
    matches!(kept, Ok(Ok(order::Kept::Yes)))
}

/// Whether a program executes, in a legal order, its definition with other tensors, and these have the
/// right values.
fn is_legal_reuse(program: &Program, reassociates: &dyn Fn(usize) -> bool) -> bool {
    let Some(reused) = reused(program) else {
        return false;
    };
    let definition = reused.definition(program);
    let reordered = program.with_definition(definition.clone());
    is_reordered_with_locals(&reordered)
        && is_kept(&reordered, reassociates)
        && matches!(
            values(&program.with_leaves(definition), reassociates),
            Ok(None)
        )
}

/// The first operand or result whose value differs from the definition's.
fn values(
    program: &Program,
    reassociates: &dyn Fn(usize) -> bool,
) -> Result<Option<values::Wrong>, Undecided> {
    let operands = Operands::of(program)?;
    let unequal = limited(program, || {
        let wrong = values::wrong(program, &operands, reassociates);
        wrong.map_err(|error| Unknown {
            question: Question::Values,
            error,
        })
    })?;
    match unequal {
        Some(Unequal::Unresolved) => Err(Undecided::Copied),
        Some(Unequal::Opposed(k)) => {
            let leaf = &program.leaves[k];
            let original = leaf.assignment.and_then(|a| program.originals.get(a));
            Err(Undecided::Rewritten {
                statement: leaf.text(),
                original: original.map_or_else(String::new, |o| o.stmt.to_string()),
            })
        }
        Some(Unequal::Wrong(wrong)) => Ok(Some(wrong)),
        None => Ok(None),
    }
}

fn limited<T>(program: &Program, ask: impl FnOnce() -> Result<T, Unknown>) -> Result<T, Undecided> {
    let answer = poly::bounded(OPERATIONS, || Ok(ask()))?;
    answer.map_err(|Unknown { question, error }| Undecided::of(program, question, error))
}
