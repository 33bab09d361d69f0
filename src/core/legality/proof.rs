//! The proof that code generation requires.
//!
//! Code is proved to compute its definition, or refused. Nests without a definition are not proved,
//! but their parallel and vector loops have to be independent.

use super::check::{check, suspects};
use super::concurrent::conflict;
use super::independence::Race;
use super::program::Program;
use super::reassociation::Reductions;
use super::sizes::for_all_sizes;
use super::verdict::{Undecided, Verdict};
use super::violation::Violation;
use crate::ir::Nest;
use crate::poly::Error;
use std::fmt;

/// The reason to trust code for a definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Proof {
    /// It is proved to compute its definition.
    Proved,
    /// It is proved to, given these laws of operators, which were tested.
    Given(Vec<String>),
    /// The author of the nests asserts it, for these reasons.
    Assumed(Vec<String>),
    /// Only the independence of parallel and vector loops is proved. The definition or the
    /// polyhedral library is missing.
    Unproved(String),
}

impl Proof {
    /// The weaker one of two proofs.
    #[must_use]
    pub fn and(self, other: Proof) -> Proof {
        match (self, other) {
            (one, Proof::Proved) => one,
            (Proof::Given(one), Proof::Given(other)) => {
                let new = other.into_iter().filter(|law| !one.contains(law));
                Proof::Given(one.iter().cloned().chain(new).collect())
            }
            (one @ (Proof::Assumed(_) | Proof::Unproved(_)), Proof::Given(_)) => one,
            (_, weaker) => weaker,
        }
    }
}

/// The note for readers of code and tables; empty if all is proved.
impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Proof::Proved => Ok(()),
            Proof::Given(laws) => write!(f, "proved, given that {}", laws.join("; ")),
            Proof::Assumed(reasons) => {
                write!(
                    f,
                    "assumed, not proved, to be correct: {}",
                    reasons.join("; ")
                )
            }
            Proof::Unproved(why) => write!(f, "not proved to be correct: {why}"),
        }
    }
}

/// Why code is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The nests do not compute their definition.
    Violation(Box<Violation>),
    /// A loop of the nest with this number, counted from 0, has dependent iterations.
    Race(usize, Race),
    /// It is undecided whether they do.
    Undecided(Undecided),
}

/// Proves that `nests`, in order, compute their definition. If they have no definition, or the
/// polyhedral library is missing, it proves only that parallel and vector loops are independent.
///
/// # Errors
/// [`Refused`], unless a nest is assumed to be correct.
pub fn prove(nests: &[Nest], reductions: Reductions) -> Result<Proof, Refused> {
    if nests.iter().any(|nest| !nest.variants().is_empty()) {
        let plans = Nest::plans(nests).into_iter();
        let mut proofs = plans.map(|(_, plan)| prove(&plan, reductions));
        return proofs.try_fold(Proof::Proved, |weakest, proof| Ok(weakest.and(proof?)));
    }
    let reasons = || -> Vec<String> {
        let assumptions = nests.iter().filter_map(Nest::assumption);
        assumptions.map(str::to_owned).collect()
    };
    let assumed = nests.iter().any(|n| n.assumption().is_some());
    match check(nests, reductions) {
        Verdict::Legal => Ok(given(nests)),
        _ if assumed => Ok(Proof::Assumed(reasons())),
        Verdict::Illegal(violation) => Err(Refused::Violation(violation)),
        Verdict::Undecided(
            why @ (Undecided::NoDefinition | Undecided::Library(Error::Missing { .. })),
        ) => {
            independent(nests, reductions)?;
            Ok(Proof::Unproved(why.to_string()))
        }
        Verdict::Undecided(why) => Err(Refused::Undecided(why)),
    }
}

/// The proof of nests that compute their definition.
fn given(nests: &[Nest]) -> Proof {
    let mut laws: Vec<String> = Vec::new();
    for law in nests.iter().flat_map(Nest::laws) {
        if !laws.contains(&law.text) {
            laws.push(law.text.clone());
        }
    }
    match laws.is_empty() {
        true => Proof::Proved,
        false => Proof::Given(laws),
    }
}

/// Proves that parallel and vector loops have independent iterations.
fn independent(nests: &[Nest], reductions: Reductions) -> Result<(), Refused> {
    for (k, race) in suspects(nests) {
        let trees = [nests[k].trees().to_vec()];
        let program = Program::of(&nests[k..=k], &trees);
        match for_all_sizes(&nests[k..=k], || conflict(&program, reductions)) {
            Ok(None) => {}
            Ok(Some(_)) | Err(Undecided::Library(Error::Depends(_))) => {
                return Err(Refused::Race(k, race));
            }
            Err(undecided) => return Err(Refused::Undecided(undecided)),
        }
    }
    Ok(())
}
