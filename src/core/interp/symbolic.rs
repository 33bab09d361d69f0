//! Translation validation: executes what `build` made for a definition, and nests that should
//! compute the same, over symbolic values, and compares what they leave behind.
//!
//! Nothing is proved in general: every instance is executed, one after the other, at the sizes
//! that the nests have. Two tensors are equal if each of their elements was made by the same
//! expression of the elements that there were in the beginning; operands of reductions may come
//! in another order where [`Policy`] allows it. Compared is every tensor that the definition
//! assigns and does not read later, and every one that the nests write, but those that nobody
//! needs afterwards. Meanwhile, no element of a local tensor may be read before it is set, but by
//! a copy to another one, and no two iterations of a parallel or vector loop may touch one element
//! that either of them writes.
//!
//! Source: Necula, Translation Validation for an Optimizing Compiler, 2000.

mod conflict;
mod machine;
mod value;

use super::Fault;
use crate::ir::{Expr, Name, Nest, Tensor, Tree};
use machine::{Machine, Stopped, Tensors};
use std::collections::BTreeSet;
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

/// Compares what `nests` do, in order, with what their definition says.
///
/// # Errors
/// An index that leaves its tensor; a nest of which it is not known what it should compute;
/// [`Fault::Stopped`] once `stop` says so.
pub fn compare(nests: &[Nest], policy: Policy, stop: &dyn Fn() -> bool) -> Result<Answer, Fault> {
    compare_with(nests, nests, policy, stop)
}

/// Compares what `nests` do, in order, with what the definition of `others` says.
///
/// # Errors
/// As [`compare`].
pub fn compare_with(
    nests: &[Nest],
    others: &[Nest],
    policy: Policy,
    stop: &dyn Fn() -> bool,
) -> Result<Answer, Fault> {
    if let Some(nest) = others.iter().find(|n| n.originals().is_empty()) {
        return Err(Fault::Unknown(nest.to_string()));
    }
    let originals = others.iter().flat_map(|n| n.originals());
    let originals = originals.map(|part| &*part.trees).collect::<Vec<_>>();
    let transformed = nests.iter().map(Nest::trees).collect::<Vec<_>>();
    let run = |sequences: &[_]| Machine::run(sequences, policy, stop);
    let (meant, found) = match run(&originals).and_then(|m| Ok((m, run(&transformed)?))) {
        Ok(both) => both,
        Err(Stopped::Fault(fault)) => return Err(fault),
        Err(Stopped::Found(answer)) => return Ok(answer),
    };
    let definition: Vec<&Expr> = others.iter().flat_map(|n| n.definition().iter()).collect();
    let mut compared = results(&definition);
    let spent: Vec<&Name> = nests.iter().flat_map(Nest::spent).collect();
    for nest in nests {
        let locals: Vec<_> = nest.locals().into_iter().map(Tensor::name).collect();
        let written = written(nest.trees()).into_iter();
        let needed = |name: &Name| !locals.contains(&Some(name)) && !spent.contains(&name);
        compared.extend(written.filter(needed));
    }
    Ok(difference(&compared, &meant, &found))
}

/// The tensors that a definition assigns and does not read afterwards.
fn results(definition: &[&Expr]) -> BTreeSet<Name> {
    let mut results = BTreeSet::new();
    for assignment in definition {
        let [target, value] = assignment.children()[..] else {
            continue;
        };
        let target = target.tensor().and_then(Tensor::name);
        value.for_each_access(&mut |tensor, _| {
            if let Some(name) = tensor.name()
                && Some(name) != target
            {
                results.remove(name);
            }
        });
        results.extend(target.cloned());
    }
    results
}

/// The tensors that trees write.
fn written(trees: &[Tree]) -> BTreeSet<Name> {
    let of_tree = |tree: &Tree| match tree {
        Tree::Loop(l) => written(&l.body),
        Tree::Stmt(s) => s.target.name().cloned().into_iter().collect(),
        Tree::Fill(fill) => fill.target.name().cloned().into_iter().collect(),
        Tree::Local(_) => BTreeSet::new(),
    };
    trees.iter().flat_map(of_tree).collect()
}

fn difference(compared: &BTreeSet<Name>, meant: &Tensors, found: &Tensors) -> Answer {
    let mut elements = 0;
    for name in compared {
        for k in meant.set(name).union(&found.set(name)) {
            let (original, nests) = (meant.element(name, *k), found.element(name, *k));
            if original.value != nests.value {
                // Whoever sets the element knows the tensor's shape.
                let known = if original.writer.is_some() {
                    &original
                } else {
                    &nests
                };
                return Answer::Differs(Box::new(Difference {
                    element: known.text.clone(),
                    original: original.writer,
                    nests: nests.writer,
                }));
            }
            elements += 1;
        }
    }
    Answer::Equal { elements }
}
