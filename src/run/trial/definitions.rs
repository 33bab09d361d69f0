//! Decides whether a variant with a definition of its own, such as a text, computes the same as the
//! first variant.
//!
//! A text that differs is told apart from a wrong path: both definitions are executed over
//! expressions, as far as that is affordable. So `check(mine, naive)` proves two definitions equal.

use crate::interp::Fault;
use crate::interp::symbolic::{self, Answer, Difference, Policy};
use crate::ir::Nest;
use crate::legality::Reductions;
use crate::runtime::Control;
use std::cell::Cell;

/// The relation of two definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Equality {
    /// Each of so many elements is the same expression of the inputs.
    Proved(usize),
    /// An element differs; the text names it and the statement that sets it.
    Refuted(String),
    /// It is unknown, for this reason.
    Open(String),
}

/// Executes at most this many iterations, since one over expressions takes microseconds.
const ITERATIONS: u64 = 2_000_000;

/// Whether `nests`, in order, compute the definition of `others`. Both are executed over
/// expressions instead of numbers, instance by instance, at the given sizes.
pub fn equality(
    nests: &[Nest],
    others: &[Nest],
    reductions: Reductions,
    control: &Control,
) -> Equality {
    let policy = match reductions {
        Reductions::Strict => Policy::Strict,
        Reductions::Reassociate => Policy::Reassociate,
    };
    let iterations = Cell::new(0);
    let stop = || {
        iterations.set(iterations.get() + 1);
        iterations.get() > ITERATIONS || control.interrupted()
    };
    match symbolic::compare_with(nests, others, policy, &stop) {
        Ok(Answer::Equal { elements }) => Equality::Proved(elements),
        Ok(Answer::Differs(difference)) => Equality::Refuted(differs(&difference)),
        Ok(answer) => Equality::Refuted(answer.to_string()),
        Err(Fault::Stopped) if iterations.get() > ITERATIONS => {
            Equality::Open(format!("they have more than {ITERATIONS} iterations"))
        }
        Err(fault) => Equality::Open(fault.to_string()),
    }
}

fn differs(difference: &Difference) -> String {
    match (&difference.original, &difference.nests) {
        (Some(original), Some(nests)) if original.statement == nests.statement => format!(
            "{} ends with the same update in both, {nests}, but is made of other ones before it",
            difference.element
        ),
        _ => Answer::Differs(Box::new(difference.clone())).to_string(),
    }
}
