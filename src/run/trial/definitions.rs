//! Variants with definitions of their own, such as texts: whether they are equal to that of the first
//! variant.

use super::{Blame, Settings, TrialError, Variant, definition};
use crate::interp::Fault;
use crate::interp::symbolic::{self, Answer, Difference, Policy};
use crate::ir::{Nest, Part};
use crate::legality::Reductions;
use crate::runtime::Control;
use std::cell::Cell;

/// What is known of two definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Equality {
    /// Each of so many elements is the same expression of the inputs.
    Proved(usize),
    /// An element is not; the text says which, and what sets it.
    Refuted(String),
    /// Nobody knows, for this reason.
    Open(String),
}

/// Executing expressions takes microseconds: no more iterations than this are executed.
const ITERATIONS: u64 = 2_000_000;

/// Whether `nests`, in order, compute what the definition of `others` says: both are executed over
/// expressions instead of numbers, instance by instance, at the sizes that they have.
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

impl Variant {
    /// Whether the variant has the definition of another one.
    pub fn is_defined_as(&self, other: &Variant) -> bool {
        definition(self).eq(definition(other))
    }

    /// Whether texts define it.
    pub fn is_text(&self) -> bool {
        let mut parts = self.nests.iter().flat_map(Nest::originals);
        parts.any(|part: &Part| part.is_program)
    }
}

/// The error that a variant differs from the reference, with its definition to blame if that is
/// another one than the reference's.
pub(super) fn explained(
    error: TrialError,
    (first, own): (&Variant, &Variant),
    settings: &Settings,
    control: &Control,
) -> TrialError {
    let TrialError::Wrong {
        label,
        tensor,
        comparison,
        blame,
    } = error
    else {
        return error;
    };
    let equality = if own.is_defined_as(first) {
        None
    } else {
        Some(equality(
            &own.nests,
            &first.nests,
            settings.reductions,
            control,
        ))
    };
    let blame = match equality {
        // Then it was not the definition.
        None | Some(Equality::Proved(_)) => blame,
        Some(equality) => Blame::Definition {
            first: first.label.clone(),
            is_text: own.is_text(),
            equality,
        },
    };
    TrialError::Wrong {
        label,
        tensor,
        comparison,
        blame,
    }
}
