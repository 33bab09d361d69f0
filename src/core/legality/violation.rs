//! Violations of legality, shown with two iterations.

use crate::analysis::outside::Outside;
use crate::ir::{Axis, Level, Name, point_text};
use std::fmt;

/// How nests fail to compute their definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// An instance of the definition is not executed.
    Missing { instance: String },
    /// An executed instance is not in the definition.
    Extra { instance: String },
    /// An instance is executed twice.
    Twice {
        instance: String,
        /// The first two places of execution.
        at: [Place; 2],
    },
    /// Two instances are executed in the wrong order.
    Reversed {
        /// The violated dependence.
        dependence: Dependence,
        /// The loop that reverses it; `None` if the order of statements does.
        by: Option<Name>,
    },
    /// An operand has another value than in the definition.
    Operand {
        /// The instance that reads it.
        reader: Instance,
        /// The element that it reads.
        element: String,
        /// The value that it gets.
        found: String,
        /// The value that it should get.
        expected: String,
    },
    /// The final contents of a tensor differ from the definition's.
    Result {
        element: String,
        /// Its final value.
        found: String,
        /// The value that it should have.
        expected: String,
    },
    /// An access leaves its tensor.
    Outside {
        /// The nest, counted from 0.
        nest: usize,
        /// The access, and its iteration.
        outside: Outside,
    },
    /// Elements are read that neither an input nor an assignment sets.
    Unset {
        /// The nest that reads them, counted from 0.
        nest: usize,
        /// The assignment that reads them.
        reader: String,
        /// The elements, such as `A[3..5][4]`.
        element: String,
        /// The assignments that set others.
        setters: Vec<String>,
    },
    /// Only the order of a reduction differs, as this violation shows.
    Reassociated(Box<Violation>),
    /// An operator that rounds combines its values in another order.
    Rounded {
        /// The nest, counted from 0.
        nest: usize,
        /// The law that it relies on.
        law: String,
    },
    /// It exists at some sizes only.
    AtSizes {
        /// The condition on sizes, such as `K >= 257`. Empty if there is none.
        when: String,
        /// The least sizes at which it exists.
        at: Vec<(Name, i64)>,
        /// The violation at these sizes.
        violation: Box<Violation>,
    },
    /// Two dependent iterations run at the same time.
    Concurrent {
        /// The dependence between them.
        dependence: Dependence,
        /// The loop that runs them at the same time.
        by: Name,
        /// Whether the loop is parallel; otherwise it is a vector loop.
        parallel: bool,
        /// The axis of a device that runs it.
        axis: Option<Axis>,
    },
}

/// Why one instance has to precede another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// The kind of the two accesses.
    pub kind: DependenceKind,
    /// The element, such as `A[3][4]`.
    pub element: String,
    /// The instance that the definition executes first.
    pub source: Instance,
    /// The instance that it executes later.
    pub sink: Instance,
}

/// How two instances access one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependenceKind {
    /// The later one reads the element that the first one writes.
    Flow,
    /// The later one overwrites the element that the first one reads.
    Anti,
    /// Both write.
    Output,
    /// Both update an element by the same reduction.
    Reduction,
}

/// An instance of the definition, and the place where the nests execute it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The statement with numbers for iterators.
    pub text: String,
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
        write!(f, "at {}", point_text(&self.iteration))
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

impl Violation {
    /// The loops at fault.
    pub fn culprits(&self) -> Vec<Name> {
        match self {
            Violation::Missing { .. }
            | Violation::Extra { .. }
            | Violation::Operand { .. }
            | Violation::Outside { .. }
            | Violation::Unset { .. }
            | Violation::Rounded { .. }
            | Violation::Result { .. } => Vec::new(),
            Violation::Twice { at: [first, _], .. } => first
                .iteration
                .iter()
                .map(|(name, _)| name.clone())
                .collect(),
            Violation::Reassociated(violation) | Violation::AtSizes { violation, .. } => {
                violation.culprits()
            }
            Violation::Reversed { by, .. } => by.iter().cloned().collect(),
            Violation::Concurrent { by, .. } => vec![by.clone()],
        }
    }

    /// The nest at fault, counted from 0, if there is exactly one.
    pub fn nest(&self) -> Option<usize> {
        match self {
            Violation::Missing { .. } | Violation::Extra { .. } | Violation::Result { .. } => None,
            Violation::Reassociated(violation) | Violation::AtSizes { violation, .. } => {
                violation.nest()
            }
            Violation::Outside { nest, .. }
            | Violation::Unset { nest, .. }
            | Violation::Rounded { nest, .. } => Some(*nest),
            Violation::Operand { reader, .. } => Some(reader.at.nest),
            Violation::Twice { at: [first, _], .. } => Some(first.nest),
            Violation::Reversed { dependence, .. } | Violation::Concurrent { dependence, .. } => {
                Some(dependence.sink.at.nest)
            }
        }
    }
}

impl Violation {
    /// The violation in one sentence.
    pub fn summary(&self) -> String {
        match self {
            Violation::Missing { instance } => format!("`{instance}` is never executed"),
            Violation::Extra { instance } => {
                format!("`{instance}` is executed, and the definition has no such statement")
            }
            Violation::Twice { instance, .. } => format!("`{instance}` is executed twice"),
            Violation::Reversed { by, .. } => match by {
                Some(name) => {
                    format!("loop `{name}` reverses two statements that depend on each other")
                }
                None => "two statements that depend on each other are reversed".to_owned(),
            },
            Violation::AtSizes { violation, .. } => violation.summary(),
            Violation::Rounded { law, .. } => {
                format!("values are combined in another order, and round differently: {law}")
            }
            Violation::Reassociated(_) => {
                "the terms of a floating-point reduction are combined in another order".to_owned()
            }
            Violation::Operand {
                reader, element, ..
            } => format!("`{}` gets a wrong value from {element}", reader.text),
            Violation::Result { element, .. } => format!("{element} is wrong in the end"),
            Violation::Outside { outside, .. } => {
                format!("`{}` leaves a tensor: {}", outside.text, outside.why)
            }
            Violation::Unset {
                reader, element, ..
            } => format!("`{reader}` reads {element}, which nothing sets"),
            Violation::Concurrent {
                by,
                parallel,
                axis,
                dependence,
            } => {
                let mode = match (axis, parallel) {
                    (Some(axis), _) => format!("run on {axis}"),
                    (None, true) => "be parallelized".to_owned(),
                    (None, false) => "be vectorized".to_owned(),
                };
                let element = &dependence.element;
                format!("loop `{by}` cannot {mode}: its iterations share {element}")
            }
        }
    }

    /// The two statements that show it, on separate lines.
    pub fn explanation(&self) -> Vec<String> {
        match self {
            Violation::Missing { .. }
            | Violation::Extra { .. }
            | Violation::Outside { .. }
            | Violation::Rounded { .. } => Vec::new(),
            Violation::Unset { setters, .. } => {
                let lines = setters.iter();
                lines
                    .map(|setter| format!("`{setter}` sets other elements"))
                    .collect()
            }
            Violation::Reassociated(violation) => violation.explanation(),
            Violation::AtSizes {
                when,
                at,
                violation,
            } => {
                let at: Vec<String> = at.iter().map(|(n, v)| format!("{n} = {v}")).collect();
                let sizes = match when.as_str() {
                    "" => "at all sizes".to_owned(),
                    when => format!("where {when}"),
                };
                let mut lines = violation.explanation();
                lines.push(format!("these are iterations at {};", at.join(", ")));
                lines.push(format!("it is wrong {sizes}"));
                lines
            }
            Violation::Twice {
                at: [first, again], ..
            } => vec![format!("first {first},"), format!("and again {again}")],
            Violation::Reversed { dependence, .. } => {
                let Dependence { source, sink, .. } = dependence;
                let mut lines =
                    columns([["first has to run", &source.text], ["and then", &sink.text]]);
                lines.push(format!("because {};", dependence.reason()));
                lines.push(format!("but the first one runs {},", source.at));
                lines.push(format!("and the second one, before it, {}", sink.at));
                lines
            }
            Violation::Concurrent {
                dependence,
                parallel,
                axis,
                ..
            } => {
                let Dependence { source, sink, .. } = dependence;
                let who = match (axis.map(|axis| axis.of), parallel) {
                    (Some(Level::Grid), _) => "one block",
                    (Some(Level::Block), _) | (None, true) => "one thread",
                    (None, false) => "one lane",
                };
                let mut lines = columns([
                    [&format!("{who} runs"), &source.text],
                    ["while another one runs", &sink.text],
                ]);
                lines.push(format!("the first one {},", source.at));
                lines.push(format!("and the second one {};", sink.at));
                lines.push(dependence.reason());
                lines
            }
            Violation::Operand {
                reader,
                element,
                found,
                expected,
            } => vec![
                format!("`{}` runs {},", reader.text, reader.at),
                format!("where {element} holds {found}"),
                format!("and should hold {expected}"),
            ],
            Violation::Result {
                found, expected, ..
            } => vec![
                format!("it holds        {found}"),
                format!("and should hold {expected}"),
            ],
        }
    }

    /// A legal alternative, if known.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Violation::AtSizes { violation, .. } => return violation.help(),
            Violation::Reassociated(_) | Violation::Rounded { .. } => {
                "the order is kept unless the script allows any with `reductions(\"reassoc\")`; \
                 comparisons then show the deviation"
                    .to_owned()
            }
            Violation::Concurrent { by, dependence, .. }
                if dependence.kind == DependenceKind::Reduction =>
            {
                format!("`{by}` carries a reduction; choose a loop that indexes the target")
            }
            Violation::Concurrent { .. } => {
                "choose a loop whose iterations touch different elements".to_owned()
            }
            Violation::Unset { element, .. } => {
                let (tensor, _) = element.split_once('[').unwrap_or((element, ""));
                format!(
                    "give the reader a range, `#{{i: 0..4}}`, or the rest of {tensor} a value, as in \
                     `eq(value, iterators, extents, 0)` and `partition`; if the caller sets it, say \
                     so: `init({tensor}, 0)`"
                )
            }
            Violation::Twice { .. } | Violation::Extra { .. } => {
                "a step that peels or cuts a loop made parts that overlap".to_owned()
            }
            _ => return None,
        };
        Some(help)
    }
}

/// Summary and explanation in one line.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary())?;
        let lines = self.explanation();
        if !lines.is_empty() {
            let words: Vec<&str> = lines.iter().flat_map(|l| l.split_whitespace()).collect();
            write!(f, ": {}", words.join(" "))?;
        }
        Ok(())
    }
}

impl Dependence {
    /// Why the order of the two matters.
    fn reason(&self) -> String {
        let element = &self.element;
        match self.kind {
            DependenceKind::Flow => {
                format!("the second one reads {element}, which the first one sets")
            }
            DependenceKind::Anti => {
                format!("the first one reads {element} before the second one sets it")
            }
            DependenceKind::Output => format!("both set {element}"),
            DependenceKind::Reduction => format!("both update {element}"),
        }
    }
}

/// Aligns two statements behind the words about them.
fn columns(lines: [[&str; 2]; 2]) -> Vec<String> {
    let width = lines.iter().map(|[words, _]| words.len()).max();
    let width = width.unwrap_or_default();
    let line = |[words, statement]: [&str; 2]| format!("{words:width$}   `{statement}`");
    lines.map(line).to_vec()
}
