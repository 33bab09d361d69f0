//! The policy and the answer of a comparison.

use crate::ir::Name;
use std::fmt;

/// The required order of floating-point reductions. Integer reductions, and minima and maxima, give
/// the same result in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The order is kept.
    #[default]
    Strict,
    /// The updates of one element by one operation may be reordered, and partial results combined.
    Reassociate,
}

/// The answer of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// All elements that either side sets are equal.
    Equal {
        /// The number of compared elements.
        elements: usize,
    },
    /// An element with another value.
    Differs(Box<Difference>),
    /// Two iterations of a parallel or vector loop that touch one element.
    Conflict(Box<Conflict>),
    /// An element of a local tensor that is read before it is set.
    Undefined {
        element: String,
        /// The instance that reads it.
        reader: Box<Instance>,
    },
}

/// The first element, in row-major order, with a wrong value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub element: String,
    /// The last writer in the definition. `None` if there is none.
    pub original: Option<Instance>,
    /// The last writer in the nests. `None` if there is none.
    pub nests: Option<Instance>,
}

/// A race: two iterations of a loop may run at the same time and touch the same element, and at
/// least one writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The loop.
    pub by: Name,
    /// Whether the loop is parallel. Otherwise it is a vector loop.
    pub parallel: bool,
    pub element: String,
    /// The two values of the iterator.
    pub iterations: [i64; 2],
    /// The two accesses.
    pub instances: [Instance; 2],
}

/// One execution of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The statement with iterators replaced by numbers.
    pub statement: String,
    /// The iterators around it, outermost first, and their values.
    pub iteration: Vec<(Name, i64)>,
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.statement)?;
        for (k, (name, value)) in self.iteration.iter().enumerate() {
            let before = if k == 0 { " at" } else { "," };
            write!(f, "{before} {name} = {value}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = |instance: &Option<Instance>| match instance {
            Some(instance) => format!("last set by {instance}"),
            None => "never set".to_owned(),
        };
        match self {
            Answer::Equal { elements } => write!(f, "all {elements} elements are equal"),
            Answer::Differs(difference) => {
                let Difference {
                    element,
                    original,
                    nests,
                } = &**difference;
                let (original, nests) = (last(original), last(nests));
                write!(
                    f,
                    "{element} has another value than in the definition: there it is {original}; \
                     here it is {nests}"
                )
            }
            Answer::Conflict(conflict) => {
                let Conflict {
                    by,
                    parallel,
                    element,
                    iterations: [a, b],
                    instances: [first, second],
                } = &**conflict;
                let mode = if *parallel { "parallel" } else { "vector" };
                write!(
                    f,
                    "iterations {a} and {b} of the {mode} loop `{by}` both touch {element}: \
                     {first}, and {second}"
                )
            }
            Answer::Undefined { element, reader } => {
                write!(f, "{element} is read before it is set: {reader}")
            }
        }
    }
}
