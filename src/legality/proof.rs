//! What must be known of nests before there is code for them.

use super::check::{Reductions, Verdict, check};
use super::race::{Race, race};
use super::violation::Violation;
use crate::analysis::position;
use crate::ir::{Nest, Origin, Tree};
use std::fmt;

/// Why code may stand for a definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Proof {
    /// It is proved to compute what the definition says.
    Proved,
    /// Whoever wrote the nests says so, for these reasons.
    Assumed(Vec<String>),
    /// Parallel and vector loops are proved independent; the order is not proved, for this reason.
    Unproved(String),
}

/// What readers of code and tables have to know; nothing where all is proved.
impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Proof::Proved => Ok(()),
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

/// Why code may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The nests do not compute what their definition says.
    Violation(Box<Violation>),
    /// A loop of the nest with this number, counted from 0, may have dependent iterations.
    Race(usize, Race),
}

/// Proves that `nests`, in order, compute what their definition says. Where that cannot be
/// decided, parallel and vector loops are still proved independent.
///
/// # Errors
/// [`Refused`], unless a nest is assumed to be correct.
pub fn prove(nests: &[Nest], reductions: Reductions) -> Result<Proof, Refused> {
    if nests.iter().all(is_as_built) {
        return Ok(Proof::Proved);
    }
    let reasons = || -> Vec<String> {
        let assumptions = nests.iter().filter_map(Nest::assumption);
        assumptions.map(str::to_owned).collect()
    };
    let assumed = nests.iter().any(|n| n.assumption().is_some());
    match check(nests, reductions) {
        Verdict::Legal => Ok(Proof::Proved),
        _ if assumed => Ok(Proof::Assumed(reasons())),
        Verdict::Illegal(violation) => Err(Refused::Violation(violation)),
        Verdict::Undecided(why) => {
            let races = nests.iter().enumerate();
            let mut races = races.filter_map(|(k, nest)| Some((k, race(nest)?)));
            match races.next() {
                Some((k, race)) => Err(Refused::Race(k, race)),
                None => Ok(Proof::Unproved(why.to_string())),
            }
        }
    }
}

/// Whether a nest is what its definition was before any step.
fn is_as_built(nest: &Nest) -> bool {
    let is_same = |trees: &[Tree]| trees == nest.trees() && origins(trees) == origins(nest.trees());
    matches!(nest.originals(), [part] if is_same(&part.trees))
}

/// Which instances statements execute, of which trees that are equal may differ: a loop that none
/// mentions runs the same forwards and backwards.
fn origins(trees: &[Tree]) -> Vec<Option<Origin>> {
    let mut found = Vec::new();
    position::walk(trees, &mut |_, _, tree| {
        if let Tree::Stmt(s) = tree {
            found.push(s.origin.clone());
        }
    });
    found
}
