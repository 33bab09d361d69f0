//! The proof that nests execute their definition in an order that preserves its meaning.
//!
//! If statements are only reordered, the proof compares their order, and reports an error as a
//! dependence ([`super::order`]). Otherwise values pass through local tensors, are recomputed, or
//! combine partial results. The proof then follows each operand to its producer
//! ([`super::values`]). No parallel or vector loop may run two conflicting iterations at the same
//! time ([`super::concurrent`]). All these questions concern relations between integer points and
//! are decided exactly.
//!
//! `interp::symbolic` executes the same question instance by instance. It shares no code with this
//! proof, and tests it.

use super::concurrent::conflict;
use super::dense::dense;
use super::independence::{Race, first_race};
use super::memo::{self, origins};
use super::pieces::pieces;
use super::program::Program;
use super::reassociation::{Reductions, reassociates};
use super::reordered::is_reordered;
use super::reroll::Reroll;
use super::sequence;
use super::sizes::for_all_sizes;
use super::verdict::{Undecided, Verdict};
use super::violation::Violation;
use super::witness;
use crate::analysis::outside::{Outside, first_outside};
use crate::analysis::shape::Mismatch;
use crate::ir::{Name, Nest, Tree, point_text};
use crate::poly::{Error, Parameters};

/// Whether `nests`, in order, compute their definition.
///
/// Of nests with variants, all plans have to, each at the sizes that it is for.
pub fn check(nests: &[Nest], reductions: Reductions) -> Verdict {
    if nests.iter().any(|nest| !nest.variants().is_empty()) {
        let plans = Nest::plans(nests).into_iter();
        let mut verdicts = plans.map(|(_, plan)| check(&plan, reductions));
        return verdicts
            .find(|v| *v != Verdict::Legal)
            .unwrap_or(Verdict::Legal);
    }
    if let (Some(rounded), Reductions::Strict) = (rounded(nests), reductions) {
        return Verdict::Illegal(Box::new(rounded));
    }
    if !nests.is_empty() && nests.iter().all(is_as_built) {
        return Verdict::Legal;
    }
    memo::known(&Nest::alike(nests), reductions, checked)
}

/// The first nest that relies on a law which rounds differently.
fn rounded(nests: &[Nest]) -> Option<Violation> {
    nests.iter().enumerate().find_map(|(nest, n)| {
        let law = n.laws().iter().find(|law| !law.is_exact)?.text.clone();
        Some(Violation::Rounded { nest, law })
    })
}

/// Whether a nest is its definition, fresh from `build`. One that a law made may have parallel loops.
fn is_as_built(nest: &Nest) -> bool {
    if !nest.laws().is_empty() {
        return false;
    }
    let is_same = |trees: &[Tree]| trees == nest.trees() && origins(trees) == origins(nest.trees());
    matches!(nest.originals(), [part] if is_same(&part.trees))
}

fn checked(nests: &[Nest], reductions: Reductions) -> Verdict {
    let nests = match dense(nests) {
        Ok(nests) => nests,
        Err(undecided) => return Verdict::Undecided(undecided),
    };
    let nests = &nests[..];
    match for_all_sizes(nests, || decide(nests, reductions)) {
        Verdict::Undecided(Undecided::Library(Error::Depends(sizes))) => {
            at_sizes(nests, reductions, sizes)
        }
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

/// The verdict on nests that are wrong at some sizes. The violation at the least of them is shown.
fn at_sizes(nests: &[Nest], reductions: Reductions, sizes: Parameters) -> Verdict {
    let all = nests.iter().flat_map(Nest::sizes);
    let values: Vec<(Name, i64)> = all
        .filter_map(|name| {
            let mut known = sizes.at.iter();
            let (_, value) = known.find(|(known, _)| *known == name.as_str())?;
            Some((name, *value))
        })
        .collect();
    let at: Vec<Nest> = nests.iter().map(|n| n.at_sizes(&values)).collect();
    match checked(&at, reductions) {
        Verdict::Illegal(violation) => Verdict::Illegal(Box::new(Violation::AtSizes {
            when: sizes.when,
            at: values,
            violation,
        })),
        Verdict::Legal => Verdict::Undecided(Undecided::Sizes {
            at: point_text(&values),
        }),
        undecided => undecided,
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
        // An access out of bounds explains an extra iteration better.
        let outside = match violation {
            Violation::Extra { .. } => outside(nests).ok().flatten(),
            _ => None,
        };
        let violation = outside.unwrap_or(violation);
        return Verdict::Illegal(Box::new(violation));
    }
    // A violation takes precedence over an undecided question.
    match (concurrent(&program, nests, reductions), in_sequence) {
        (Ok(Some(violation)), _) => Verdict::Illegal(Box::new(violation)),
        (_, Err(undecided)) | (Err(undecided), _) => Verdict::Undecided(undecided),
        (Ok(None), Ok(_)) => match outside(nests) {
            Ok(None) => Verdict::Legal,
            Ok(Some(violation)) => Verdict::Illegal(Box::new(violation)),
            Err(undecided) => Verdict::Undecided(undecided),
        },
    }
}

/// The first access that leaves its tensor. The questions about values miss it if the tensor is
/// local or the value is dead.
pub(super) fn outside(nests: &[Nest]) -> Result<Option<Violation>, Undecided> {
    for (nest, outside) in nests.iter().map(first_outside).enumerate() {
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

/// The first violation that `ask` finds in a program that runs `nests`. It asks piece by piece
/// where that suffices.
pub(super) fn in_sequence<T>(
    program: &Program,
    nests: &[Nest],
    ask: &dyn Fn(&Program) -> Result<Option<T>, Undecided>,
) -> Result<Option<T>, Undecided> {
    let pieces = pieces(program, nests);
    let mut open = None;
    for piece in &pieces {
        let own = piece
            .leaves
            .first()
            .and_then(|leaf| nests.get(leaf.place[0]));
        // The sizes of other nests only make the questions harder.
        let asked = own.map_or_else(
            || ask(piece),
            |nest| for_all_sizes(std::slice::from_ref(nest), || ask(piece)),
        );
        match asked {
            Ok(None) => {}
            // A wrong order in a piece is wrong in the whole program.
            Ok(Some(wrong)) if is_reordered(piece) => return Ok(Some(wrong)),
            // A wrong value in a piece may be dead in the whole program.
            Ok(Some(_)) | Err(Undecided::Library(Error::Depends(_))) => return ask(program),
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

/// Two conflicting iterations that run at the same time.
fn concurrent(
    program: &Program,
    nests: &[Nest],
    reductions: Reductions,
) -> Result<Option<Violation>, Undecided> {
    for (k, _) in suspects(nests) {
        let nest = program.of_nest(k);
        let found = for_all_sizes(&nests[k..=k], || conflict(&nest, reductions));
        if let Some(conflict) = found? {
            return Ok(Some(witness::concurrent(&nest, &conflict)));
        }
    }
    Ok(None)
}

/// The nests whose parallel and vector loops the quick test does not prove independent.
pub(super) fn suspects(nests: &[Nest]) -> impl Iterator<Item = (usize, Race)> {
    let nests = nests.iter().enumerate();
    nests.filter_map(|(k, nest)| Some((k, first_race(nest)?)))
}
