//! What a comparison may ignore, and what it finds.

use crate::ir::Name;
use std::fmt;

/// What may become of the order of a reduction of floating-point numbers. That of integers, and
/// of the least or greatest value, makes no difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// It is kept.
    #[default]
    Strict,
    /// The updates of one element by one operation may be executed in any order, and partial
    /// results be combined.
    Reassociate,
}

/// What the comparison found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing: all elements that either side sets are equal.
    Equal {
        /// How many.
        elements: usize,
    },
    /// An element with another value.
    Differs(Box<Difference>),
    /// Two iterations of a parallel or vector loop that touch one element.
    Conflict(Box<Conflict>),
    /// An element of a local tensor that is read before it is set.
    Undefined {
        /// The element.
        element: String,
        /// What reads it.
        reader: Box<Instance>,
    },
}

/// The first element, in row-major order, that does not have the value that it should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The element.
    pub element: String,
    /// What set it last according to the definition; `None` if nothing does.
    pub original: Option<Instance>,
    /// What set it last in the nests; `None` if nothing did.
    pub nests: Option<Instance>,
}

/// Two iterations of a loop that may run at the same time, although both touch an element that at
/// least one of them writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The loop.
    pub by: Name,
    /// Whether it is parallel; else it is vector.
    pub parallel: bool,
    /// The element.
    pub element: String,
    /// The two values of the iterator.
    pub iterations: [i64; 2],
    /// What touches the element in each.
    pub instances: [Instance; 2],
}

/// A statement as it was executed once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The statement with numbers for iterators.
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
