//! Translation validation: symbolic execution of a definition and of nests that should compute the
//! same.
//!
//! This proves nothing in general: it executes every instance, one after the other, at the sizes of
//! the nests. It shares no code with `legality`, which is tested against it.
//!
//! Two tensors are equal if the same expression of the initial elements made each of their
//! elements. Operands of reductions may come in another order if [`Policy`] allows it. The
//! comparison covers every tensor that the definition assigns and does not read later. It also
//! covers every tensor that the nests write, except donated and local ones.
//!
//! The execution checks two more rules. An element of a local tensor may be read only after it is
//! set, except by a copy to another local tensor. Two iterations of a parallel or vector loop may
//! not touch the same element if either of them writes it.
//!
//! Source: Necula, Translation Validation for an Optimizing Compiler, 2000.

mod answer;
mod conflict;
mod executed;
mod machine;
mod value;

pub use answer::{Answer, Conflict, Difference, Instance, Policy};

use super::Fault;
use super::store::Store;
use crate::ir::{Expr, Name, Nest, Tensor, Tree};
use machine::{Machine, Stopped, Tensors};
use std::collections::BTreeSet;

/// Compares the results of `nests`, in order, with their definition.
///
/// # Errors
/// An index leaves its tensor, a nest has no definition, or it has bounds that are read from
/// tensors. [`Fault::Stopped`] once `stop` returns true.
pub fn compare(nests: &[Nest], policy: Policy, stop: &dyn Fn() -> bool) -> Result<Answer, Fault> {
    compare_with(nests, nests, policy, stop)
}

/// Compares the results of `nests`, in order, with their definition. Bounds are read from the
/// tensors of integers in `entries`.
///
/// # Errors
/// As [`compare`], except that bounds may be read from these tensors.
pub fn compare_at(
    nests: &[Nest],
    entries: &Store<'_>,
    policy: Policy,
    stop: &dyn Fn() -> bool,
) -> Result<Answer, Fault> {
    compared((nests, nests), entries, policy, stop)
}

/// Compares the results of `nests`, in order, with the definition of `others`.
///
/// # Errors
/// As [`compare`].
pub fn compare_with(
    nests: &[Nest],
    others: &[Nest],
    policy: Policy,
    stop: &dyn Fn() -> bool,
) -> Result<Answer, Fault> {
    compared((nests, others), &Store::new(), policy, stop)
}

fn compared(
    (nests, others): (&[Nest], &[Nest]),
    entries: &Store<'_>,
    policy: Policy,
    stop: &dyn Fn() -> bool,
) -> Result<Answer, Fault> {
    if let Some(nest) = others.iter().find(|n| n.originals().is_empty()) {
        return Err(Fault::Unknown(nest.to_string()));
    }
    let originals = others.iter().flat_map(|n| n.originals());
    let originals = originals.map(|part| &*part.trees).collect::<Vec<_>>();
    let transformed = nests.iter().map(Nest::trees).collect::<Vec<_>>();
    let run = |sequences: &[_]| Machine::run(sequences, entries, policy, stop);
    let (meant, found) = match run(&originals).and_then(|m| Ok((m, run(&transformed)?))) {
        Ok(both) => both,
        Err(Stopped::Fault(fault)) => return Err(fault),
        Err(Stopped::Found(answer)) => return Ok(answer),
    };
    let definition: Vec<&Expr> = others.iter().flat_map(|n| n.definition().iter()).collect();
    let mut compared = results(&definition);
    let donated: Vec<&Name> = nests.iter().flat_map(Nest::donated).collect();
    for nest in nests {
        let locals: Vec<_> = nest.locals().into_iter().map(Tensor::name).collect();
        let written = written(nest.trees()).into_iter();
        let needed = |name: &Name| !locals.contains(&Some(name)) && !donated.contains(&name);
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
        value.for_each_tensor(&mut |tensor| {
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
                // The statement that sets the element has the tensor's shape.
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
