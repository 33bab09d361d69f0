//! The proof of a plan: what it executes computes the definition.
//!
//! The passes that make a plan are not trusted. Their result is raised to nests (`plan/raise.rs`), and
//! `legality` is asked once more, about these.

use super::plan::Plan;
use super::plan::raise::{Meaningless, raise};
use crate::ir::{Nest, Tensor};
use crate::legality::{self, Proof, Reductions, Refused, Unsound};
use crate::target::Target;

/// Why a plan of proved nests is not proved. Passes are at fault, or the prover's limits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Faulty {
    /// A node has no meaning where it is.
    #[error(transparent)]
    Meaningless(#[from] Meaningless),
    /// Threads or lanes do other things than the trees say.
    #[error(transparent)]
    Unsound(#[from] Unsound),
    /// It computes something else, or that is undecided.
    #[error("{0}")]
    Refused(String),
}

/// Proves that a plan computes the definition of its nests. `params` are the tensors that the
/// function gets, and `named` gives a nest the names of its definition.
pub(super) fn prove(
    plan: &Plan,
    params: &[Tensor],
    named: &dyn Fn(&Nest) -> Nest,
    reductions: Reductions,
    target: &Target,
) -> Result<(), Faulty> {
    let raised = raise(plan, params, target)?;
    for part in &raised {
        legality::executes(&part.nest, &part.execution)?;
    }
    let nests: Vec<Nest> = raised.iter().map(|part| named(&part.nest)).collect();
    match legality::prove(&nests, reductions) {
        Ok(Proof::Proved | Proof::Assumed(_) | Proof::Unproved(_)) => Ok(()),
        Err(Refused::Violation(violation)) => Err(Faulty::Refused(violation.to_string())),
        Err(Refused::Race(_, race)) => Err(Faulty::Refused(race.to_string())),
        Err(Refused::Undecided(why)) => Err(Faulty::Refused(why.to_string())),
    }
}
