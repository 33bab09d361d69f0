//! Whether only the order of statements and fills can be wrong: whether all of them are those of the
//! definition, on the same elements.

use super::program::{Leaf, Program, What, accesses};
use crate::ir::{Affine, Tensor};

/// Whether all statements and fills are those of the definition, on tensors that all of them share.
/// A local tensor has elements for each iteration around it, which order alone does not tell apart:
/// the name and the shape of a tensor of the definition do not make it that tensor.
pub(super) fn is_reordered(program: &Program) -> bool {
    let mut all = program.definition.iter().chain(&program.leaves);
    all.all(|leaf| leaf.locals.is_empty()) && executes_definition(program)
}

/// The same with local tensors of which each iteration of the definition has the same elements as
/// in the nests.
pub(super) fn is_reordered_with_locals(program: &Program) -> bool {
    executes_definition(program) && keeps_locals(program)
}

/// Whether each iteration has the same elements of local tensors as in the definition.
pub(super) fn keeps_locals(program: &Program) -> bool {
    let mut known: Vec<(String, String)> = Vec::new();
    program.leaves.iter().all(|leaf| {
        let fill = matches!(leaf.what, What::Fill(_));
        let original = leaf.assignment.and_then(|a| program.original_leaf(a, fill));
        original.is_some_and(|original| {
            let tensors = tensors(leaf).into_iter();
            tensors.map(|t| corresponds(leaf, original, t)).all(|pair| {
                let Some(pair) = pair else {
                    return false;
                };
                let mut same = known.iter().filter(|k| k.0 == pair.0 || k.1 == pair.1);
                match same.next() {
                    Some(one) => *one == pair && same.next().is_none(),
                    None => {
                        known.push(pair);
                        true
                    }
                }
            })
        })
    })
}

/// Where the elements of a tensor are for a leaf, and for the one of the definition that it executes:
/// in the same iterations of the loops around them. `None` if they are not.
fn corresponds(leaf: &Leaf, original: &Leaf, tensor: &Tensor) -> Option<(String, String)> {
    let (found, meant) = (leaf.memory(tensor), original.memory(tensor));
    let origin = match leaf.what {
        What::Stmt(s) => s.origin.as_ref()?,
        What::Fill(fill) => fill.origin.as_ref()?,
    };
    let outer = origin.point.get(..meant.loops)?.iter();
    let own = leaf.loops.get(..found.loops)?.iter();
    let is_same = outer
        .map(Affine::as_iterator)
        .eq(own.map(|l| Some(&l.name)));
    let both_local = leaf.is_local(tensor) == original.is_local(tensor);
    (is_same && both_local).then_some((found.tuple, meant.tuple))
}

fn tensors<'a>(leaf: &Leaf<'a>) -> Vec<&'a Tensor> {
    match leaf.what {
        What::Fill(fill) => vec![&fill.target],
        What::Stmt(s) => accesses(s)
            .into_iter()
            .map(|access| access.tensor)
            .collect(),
    }
}

fn executes_definition(program: &Program) -> bool {
    program.leaves.iter().all(|leaf| {
        let original = leaf.assignment.and_then(|a| program.originals.get(a));
        match (leaf.what, original) {
            (What::Stmt(s), Some(original)) => {
                let point = s.origin.as_ref().map_or(&[][..], |o| &o.point);
                original.at(point) == *s
            }
            (What::Fill(fill), Some(original)) => original
                .fill
                .is_some_and(|f| (&f.target, f.value) == (&fill.target, fill.value)),
            _ => false,
        }
    })
}
