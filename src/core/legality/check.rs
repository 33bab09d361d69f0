//! The proof that nests execute what their definition says, in an order that keeps its meaning.
//!
//! Where statements are only reordered, their order is what can be wrong, and what is wrong is
//! told as a dependence ([`super::order`]). Where values pass through local tensors, are computed
//! again, or where partial results are combined, it is decided where each operand has its value
//! from ([`super::values`]). No parallel or vector loop may run two iterations at the same time that
//! touch one element ([`super::concurrent`]). All these are questions about relations between
//! integer points and are decided exactly.

use super::concurrent::conflict;
use super::independence::{Race, first_race};
use super::memo::{self, origins};
use super::pieces::pieces;
use super::program::Program;
use super::reassociation::{Reductions, reassociates};
use super::reordered::is_reordered;
use super::reroll::Reroll;
use super::sequence;
use super::verdict::{Undecided, Verdict};
use super::violation::Violation;
use super::witness;
use crate::analysis::outside::{Outside, first_outside};
use crate::analysis::shape::Mismatch;
use crate::ir::{Nest, Tree};

/// Whether `nests`, in order, compute what their definition says.
pub fn check(nests: &[Nest], reductions: Reductions) -> Verdict {
    if !nests.is_empty() && nests.iter().all(is_as_built) {
        return Verdict::Legal;
    }
    memo::known(nests, reductions, checked)
}

/// Whether a nest is what its definition was before any step.
fn is_as_built(nest: &Nest) -> bool {
    let is_same = |trees: &[Tree]| trees == nest.trees() && origins(trees) == origins(nest.trees());
    matches!(nest.originals(), [part] if is_same(&part.trees))
}

fn checked(nests: &[Nest], reductions: Reductions) -> Verdict {
    match decide(nests, reductions) {
        Verdict::Illegal(violation) if reductions == Reductions::Strict => {
            let allowed = decide(nests, Reductions::Reassociate);
            Verdict::Illegal(if allowed == Verdict::Legal {
                Box::new(Violation::Reassociated(violation))
            } else {
                violation
            })
        }
        verdict => verdict,
    }
}

fn decide(nests: &[Nest], reductions: Reductions) -> Verdict {
    if nests.iter().any(|n| n.originals().is_empty()) {
        return Verdict::Undecided(Undecided::NoDefinition);
    }
    let trees: Vec<Vec<Tree>> = nests.iter().map(|n| n.trees().to_vec()).collect();
    let mut reroll = Reroll::default();
    let rolled: Vec<Vec<Tree>> = trees.iter().map(|t| reroll.sequence(t)).collect();
    let program = Program::of(nests, &rolled);
    let reassociates = |a: usize| reassociates(&program, a, reductions);
    let in_sequence = in_sequence(&program, nests, &|p| sequence::violation(p, &reassociates));
    if let Ok(Some(violation)) = in_sequence {
        // Where an iteration too many leaves a tensor, that says more.
        let outside = match violation {
            Violation::Extra { .. } => outside(nests).ok().flatten(),
            _ => None,
        };
        let violation = outside.unwrap_or(violation);
        return Verdict::Illegal(Box::new(violation));
    }
    // What is certain counts more than what is not known.
    match (concurrent(&program, nests), in_sequence) {
        (Ok(Some(violation)), _) => Verdict::Illegal(Box::new(violation)),
        (_, Err(undecided)) | (Err(undecided), _) => Verdict::Undecided(undecided),
        (Ok(None), Ok(_)) => match outside(nests) {
            Ok(None) => Verdict::Legal,
            Ok(Some(violation)) => Verdict::Illegal(Box::new(violation)),
            Err(undecided) => Verdict::Undecided(undecided),
        },
    }
}

/// The first access that leaves its tensor. The questions about values do not show it where the
/// tensor is local, nor where nothing reads the value.
pub(super) fn outside(nests: &[Nest]) -> Result<Option<Violation>, Undecided> {
    for (nest, outside) in nests.iter().map(|n| first_outside(n.trees())).enumerate() {
        match outside {
            None => {}
            Some(Outside {
                why: Mismatch::Unclear { .. },
                text,
            }) => return Err(Undecided::Outside { nest, text }),
            Some(outside) => return Ok(Some(Violation::Outside { nest, outside })),
        }
    }
    Ok(None)
}

/// What is wrong with a program that runs `nests`, as `ask` says of programs: piece by piece where
/// that is enough.
pub(super) fn in_sequence<T>(
    program: &Program,
    nests: &[Nest],
    ask: &dyn Fn(&Program) -> Result<Option<T>, Undecided>,
) -> Result<Option<T>, Undecided> {
    let pieces = pieces(program, nests);
    let mut open = None;
    for piece in &pieces {
        match ask(piece) {
            Ok(None) => {}
            // Where only the order is wrong, it is wrong with other pieces around it, too.
            Ok(Some(wrong)) if is_reordered(piece) => return Ok(Some(wrong)),
            // A value that is wrong here may be one that nobody needs.
            Ok(Some(_)) => return ask(program),
            Err(undecided @ (Undecided::Budget { .. } | Undecided::Library(_))) => {
                open = open.or(Some(undecided));
            }
            Err(_) => return ask(program),
        }
    }
    match open {
        Some(undecided) => Err(undecided),
        None if pieces.is_empty() => ask(program),
        None => Ok(None),
    }
}

/// Two iterations that run at the same time although they touch one element.
fn concurrent(program: &Program, nests: &[Nest]) -> Result<Option<Violation>, Undecided> {
    for (k, _) in suspects(nests) {
        let nest = program.of_nest(k);
        if let Some(conflict) = conflict(&nest)? {
            return Ok(Some(witness::concurrent(&nest, &conflict)));
        }
    }
    Ok(None)
}

/// The nests of which the quick test does not say that all parallel and vector loops are independent.
pub(super) fn suspects(nests: &[Nest]) -> impl Iterator<Item = (usize, Race)> {
    let nests = nests.iter().enumerate();
    nests.filter_map(|(k, nest)| Some((k, first_race(nest)?)))
}
