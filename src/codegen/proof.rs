//! The proof of a plan: what it executes computes what its nests do.
//!
//! The nests are proved before. The passes that make a plan of them are not trusted. Their result is
//! raised to nests (`plan/raise.rs`), and `legality` is asked once more, about these. Their
//! definition is the nests that were proved ([`Nest::as_definition`]).

use super::plan::Plan;
use super::plan::raise::{Meaningless, raise};
use crate::ir::{Nest, Tensor};
use crate::legality::{self, Reductions, Refused, Unsound};
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

/// Proves that a plan computes what its nests do. `params` are the tensors that the function gets.
pub(super) fn prove(
    plan: &Plan,
    params: &[Tensor],
    reductions: Reductions,
    target: &Target,
) -> Result<(), Faulty> {
    let raised = raise(plan, params, target)?;
    for part in &raised {
        legality::executes(&part.nest, &part.execution)?;
    }
    let nests: Vec<Nest> = raised.into_iter().map(|part| part.nest).collect();
    match legality::prove(&nests, reductions) {
        Ok(_) => Ok(()),
        Err(Refused::Violation(violation)) => Err(Faulty::Refused(violation.to_string())),
        Err(Refused::Race(_, race)) => Err(Faulty::Refused(race.to_string())),
        Err(Refused::Undecided(why)) => Err(Faulty::Refused(why.to_string())),
    }
}
