//! What is wrong with nests, told with two iterations.

use crate::ir::Name;
use std::fmt;

/// How nests do not compute what their definition says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// An instance of the definition is not executed.
    Missing {
        /// The instance.
        instance: String,
    },
    /// An instance is executed although the definition has no such instance.
    Extra {
        /// The instance.
        instance: String,
    },
    /// An instance is executed twice.
    Twice {
        /// The instance.
        instance: String,
        /// Where it is executed first and again.
        at: [Place; 2],
    },
    /// Two instances are executed in the wrong order.
    Reversed {
        /// What the definition orders.
        dependence: Dependence,
        /// The loop that reverses it; `None` where the order of statements does.
        by: Option<Name>,
    },
    /// An operand has another value than in the definition.
    Operand {
        /// What reads it.
        reader: Instance,
        /// The element that it reads.
        element: String,
        /// The value that it gets.
        found: String,
        /// The value that it should get.
        expected: String,
    },
    /// A tensor holds something else in the end than the definition says.
    Result {
        /// The element.
        element: String,
        /// What it holds.
        found: String,
        /// What it should hold.
        expected: String,
    },
    /// Two iterations that depend on each other run at the same time.
    Concurrent {
        /// What the definition orders.
        dependence: Dependence,
        /// The loop that runs them at the same time.
        by: Name,
        /// Whether the loop is parallel; else it is vector.
        parallel: bool,
    },
}

/// Why one instance has to be executed before another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// What the two do with the element.
    pub kind: DependenceKind,
    /// The element, such as `A[3][4]`.
    pub element: String,
    /// What the definition executes first.
    pub source: Instance,
    /// What it executes later.
    pub sink: Instance,
}

/// What two instances do with one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependenceKind {
    /// The later one reads what the first one writes.
    Flow,
    /// The later one overwrites what the first one reads.
    Anti,
    /// Both write.
    Output,
    /// Both update an element by the same reduction.
    Reduction,
}

/// An instance of the definition and where the nests execute it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The statement with numbers for iterators.
    pub text: String,
    /// Where it is executed.
    pub at: Place,
}

/// An iteration of all loops around a statement, in one of the nests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The nest, counted from 0.
    pub nest: usize,
    /// The loops, outermost first, and the values of their iterators.
    pub iteration: Vec<(Name, i64)>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.iteration.is_empty() {
            return f.write_str("outside of all loops");
        }
        let values: Vec<String> = self
            .iteration
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        write!(f, "at {}", values.join(", "))
    }
}

impl Instance {
    pub(super) fn unknown() -> Instance {
        Instance {
            text: String::new(),
            at: Place {
                nest: 0,
                iteration: Vec::new(),
            },
        }
    }
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.text, self.at)
    }
}

impl Violation {
    /// The loops at fault.
    pub fn culprits(&self) -> Vec<Name> {
        match self {
            Violation::Missing { .. }
            | Violation::Extra { .. }
            | Violation::Operand { .. }
            | Violation::Result { .. } => Vec::new(),
            Violation::Twice { at: [first, _], .. } => first
                .iteration
                .iter()
                .map(|(name, _)| name.clone())
                .collect(),
            Violation::Reversed { by, .. } => by.iter().cloned().collect(),
            Violation::Concurrent { by, .. } => vec![by.clone()],
        }
    }

    /// The nest at fault, counted from 0, as far as it is one.
    pub fn nest(&self) -> Option<usize> {
        match self {
            Violation::Missing { .. } | Violation::Extra { .. } | Violation::Result { .. } => None,
            Violation::Operand { reader, .. } => Some(reader.at.nest),
            Violation::Twice { at: [first, _], .. } => Some(first.nest),
            Violation::Reversed { dependence, .. } | Violation::Concurrent { dependence, .. } => {
                Some(dependence.sink.at.nest)
            }
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Missing { instance } => {
                write!(f, "`{instance}` is never executed")
            }
            Violation::Extra { instance } => {
                write!(
                    f,
                    "`{instance}` is executed, which the definition does not have"
                )
            }
            Violation::Twice {
                instance,
                at: [first, again],
            } => write!(f, "`{instance}` is executed twice, {first} and {again}"),
            Violation::Reversed { dependence, by } => {
                match by {
                    Some(name) => write!(f, "loop `{name}` reverses a dependence: ")?,
                    None => f.write_str("the order of statements reverses a dependence: ")?,
                }
                write!(f, "{dependence}, but is executed later")
            }
            Violation::Operand {
                reader,
                element,
                found,
                expected,
            } => write!(
                f,
                "{reader} reads {element}, which is {found}, and should be {expected}"
            ),
            Violation::Result {
                element,
                found,
                expected,
            } => write!(
                f,
                "{element} is {found} in the end, and should be {expected}"
            ),
            Violation::Concurrent {
                dependence,
                by,
                parallel,
            } => {
                let mode = if *parallel { "parallel" } else { "vector" };
                write!(
                    f,
                    "the {mode} loop `{by}` carries a dependence: {dependence}"
                )
            }
        }
    }
}

impl fmt::Display for Dependence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Dependence {
            kind,
            element,
            source,
            sink,
        } = self;
        match kind {
            DependenceKind::Flow => write!(f, "{sink} needs {element}, which {source} sets before"),
            DependenceKind::Anti => {
                write!(f, "{source} needs {element} before {sink} overwrites it")
            }
            DependenceKind::Output => {
                write!(f, "{source} sets {element} before {sink} does")
            }
            DependenceKind::Reduction => {
                write!(f, "{source} updates {element} before {sink} does")
            }
        }
    }
}
