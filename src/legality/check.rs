//! The proof that nests execute what their definition says, in an order that keeps its meaning.
//!
//! Where statements are only reordered, their order is what can be wrong, and what is wrong is
//! told as a dependence ([`super::order`]). Where values pass through local tensors, are computed
//! again, or where partial results are combined, it is decided where each operand has its value
//! from ([`super::equal`]). No parallel or vector loop may run two iterations at the same time that
//! touch one element ([`super::concurrent`]). All these are questions about relations between
//! integer points and are decided exactly.

use super::concurrent::conflict;
use super::equal::{self, Operands, Unequal};
use super::program::{Original, Program, What};
use super::race::race;
use super::reroll::Reroll;
use super::violation::Violation;
use super::{find, order};
use crate::ir::{BinaryOp, Name, Nest, Tree};
use crate::poly::{self, Error};

/// What may become of the order of a reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reductions {
    /// It is kept.
    #[default]
    Strict,
    /// The updates of one element by one reduction may be executed in any order.
    Reassociate,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The nests compute what their definition says.
    Legal,
    /// They do not.
    Illegal(Box<Violation>),
    /// That is not known.
    Undecided(Undecided),
}

/// Why nothing is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecided {
    /// A nest was read: nothing says what it should compute.
    #[error("nothing says what the nest should compute")]
    NoDefinition,
    /// A statement was made by hand.
    #[error("what `{statement}` executes of the definition is not known")]
    Unknown {
        /// A statement.
        statement: String,
    },
    /// A statement computes something else than the definition says.
    #[error("`{statement}` is not what the definition says: `{original}`")]
    Rewritten {
        /// The statement.
        statement: String,
        /// The original at the same place.
        original: String,
    },
    /// A loop's iterations are not affine.
    #[error("loop `{name}` has a step and several lower bounds")]
    Stepped {
        /// The loop.
        name: Name,
    },
    /// Values pass through too many copies.
    #[error("a value is copied more often than is followed")]
    Copied,
    /// The polyhedral library has no answer.
    #[error(transparent)]
    Library(#[from] Error),
}

/// How much a proof may take of the polyhedral library.
pub(super) const OPERATIONS: u64 = 20_000_000;

/// Whether `nests`, in order, compute what their definition says.
pub fn check(nests: &[Nest], reductions: Reductions) -> Verdict {
    match decide(nests, reductions) {
        Verdict::Illegal(violation) if reductions == Reductions::Strict => {
            let allowed = decide(nests, Reductions::Reassociate);
            Verdict::Illegal(match allowed == Verdict::Legal {
                true => Box::new(Violation::Reassociated(violation)),
                false => violation,
            })
        }
        verdict => verdict,
    }
}

/// What `questions` returns, all of whose answers may take so many operations of the polyhedral
/// library together; what is asked after that is not proved.
pub fn within<T>(operations: u64, questions: impl FnOnce() -> T) -> Option<T> {
    poly::bounded(operations, || Ok(questions())).ok()
}

fn decide(nests: &[Nest], reductions: Reductions) -> Verdict {
    if nests.iter().any(|n| n.originals().is_empty()) {
        return Verdict::Undecided(Undecided::NoDefinition);
    }
    let trees: Vec<Vec<Tree>> = nests.iter().map(|n| n.trees().to_vec()).collect();
    if let Err(undecided) = known(&Program::of(nests, &trees)) {
        return Verdict::Undecided(undecided);
    }
    let mut reroll = Reroll::default();
    let rolled: Vec<Vec<Tree>> = trees.iter().map(|t| reroll.sequence(t)).collect();
    let program = Program::of(nests, &rolled);
    let reassociates = |a: usize| reassociates(&program, a, reductions);
    let operands = match is_reordered(&program) {
        true => None,
        false => match Operands::of(&program) {
            Ok(operands) => Some(operands),
            Err(undecided) => return Verdict::Undecided(undecided),
        },
    };
    let verdict = poly::bounded(OPERATIONS, || {
        let wrong = match &operands {
            None => order::violation(&program, &reassociates).map_err(|u| u.error)?,
            Some(operands) => match equal::wrong(&program, operands, &reassociates)? {
                Some(Unequal::Unresolved) => {
                    return Ok(Verdict::Undecided(Undecided::Copied));
                }
                Some(Unequal::Wrong(wrong)) => Some(find::wrong(&program, &wrong)),
                None => None,
            },
        };
        let violation = match wrong {
            Some(violation) => Some(violation),
            // The quick test mostly sees that there is no conflict.
            None if nests.iter().all(|n| race(n).is_none()) => None,
            None => conflict(&program)?.map(|c| find::concurrent(&program, &c)),
        };
        Ok(match violation {
            Some(violation) => Verdict::Illegal(Box::new(violation)),
            None => Verdict::Legal,
        })
    });
    verdict.unwrap_or_else(|error| Verdict::Undecided(error.into()))
}

/// That it is known what each loop and each fill executes.
pub(super) fn known(program: &Program) -> Result<(), Undecided> {
    for leaf in &program.leaves {
        let stepped = |l: &&&crate::ir::Loop| l.range.step != 1 && l.range.lower.len() != 1;
        if let Some(l) = leaf.loops.iter().find(stepped) {
            let name = l.name.clone();
            return Err(Undecided::Stepped { name });
        }
    }
    Ok(())
}

/// Whether all statements and fills are those of the definition, on tensors that all of them share,
/// so that only their order can be wrong. A local tensor has elements for each iteration around it,
/// which order alone does not tell apart: the name and the shape of a tensor of the definition do
/// not make it that tensor.
pub(super) fn is_reordered(program: &Program) -> bool {
    let mut all = program.definition.iter().chain(&program.leaves);
    all.all(|leaf| leaf.locals.is_empty())
        && program.leaves.iter().all(|leaf| {
            let original = leaf.assignment.and_then(|a| program.originals.get(a));
            match (leaf.what, original) {
                (What::Stmt(s), Some(original)) => {
                    let point = s.origin.as_ref().map_or(&[][..], |o| &o.point);
                    original.at(point) == *s
                }
                (What::Fill(fill), Some(original)) => original
                    .fill
                    .is_some_and(|f| (&f.target, f.value) == (&fill.target, fill.value)),
                _ => false,
            }
        })
}

/// Whether the order of the updates of an assignment does not matter: not for integers, minima
/// and maxima, and for others if the policy says so.
pub(super) fn reassociates(program: &Program, a: usize, reductions: Reductions) -> bool {
    let Some(Original { stmt, .. }) = program.originals.get(a) else {
        return false;
    };
    let exact = !stmt.target.elem().is_float();
    match stmt.update {
        Some(BinaryOp::Min | BinaryOp::Max) => true,
        // A difference of sums is one, too: all of its terms are subtracted.
        Some(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) => {
            exact || reductions == Reductions::Reassociate
        }
        _ => false,
    }
}
