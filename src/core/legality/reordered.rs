//! Whether nests only reorder the statements and fills of the definition, on the same elements.

use super::program::{Leaf, Program, What, accesses};
use super::space::Space;
use crate::ir::{Affine, Loop, Name, Stmt, Tensor};

/// Whether all leaves are those of the definition, on shared tensors. Local tensors do not qualify.
/// Each iteration has its own copy, and the same name and shape do not make two tensors one.
pub(super) fn is_reordered(program: &Program) -> bool {
    let mut all = program.definition.iter().chain(&program.leaves);
    all.all(|leaf| leaf.locals.is_empty()) && executes_definition(program)
}

/// The same if each iteration of the definition has the same elements of local tensors as in the
/// nests.
pub(super) fn is_reordered_with_locals(program: &Program) -> bool {
    executes_definition(program) && keeps_locals(program)
}

/// Whether each iteration has the same elements of local tensors as in the definition.
pub(super) fn keeps_locals(program: &Program) -> bool {
    let mut known: Vec<Elements> = Vec::new();
    program.leaves.iter().all(|leaf| {
        let fill = matches!(leaf.what, What::Fill(_));
        let original = leaf.assignment.and_then(|a| program.original_leaf(a, fill));
        original.is_some_and(|original| {
            let tensors = tensors(leaf).into_iter();
            tensors.map(|t| corresponds(leaf, original, t)).all(|own| {
                let Some(own) = own else {
                    return false;
                };
                let is_it = |k: &&Elements| k.found == own.found || k.meant == own.meant;
                let mut same = known.iter().filter(is_it);
                match same.next() {
                    Some(one) => *one == own && same.next().is_none(),
                    None => {
                        known.push(own);
                        true
                    }
                }
            })
        })
    })
}

/// The memory of a tensor in the nests and in the definition.
#[derive(PartialEq, Eq)]
struct Elements {
    found: Space,
    meant: Space,
    /// The iteration of the definition whose elements an iteration has.
    iteration: Vec<Affine>,
}

/// The memory of a tensor for a leaf and for its original. Each iteration of the loops around it
/// has the elements of one iteration of the definition. `None` if unknown.
fn corresponds(leaf: &Leaf, original: &Leaf, tensor: &Tensor) -> Option<Elements> {
    let (found, meant) = (leaf.memory(tensor), original.memory(tensor));
    let origin = match leaf.what {
        What::Stmt(s) => s.origin.as_ref()?,
        What::Fill(fill) => fill.origin.as_ref()?,
    };
    let iteration = origin.point.get(..meant.loops)?.to_vec();
    let own = leaf.loops.get(..found.loops)?;
    let both_local = leaf.is_local(tensor) == original.is_local(tensor);
    (are_one_to_one(&iteration, own) && both_local).then_some(Elements {
        found: found.space,
        meant: meant.space,
        iteration,
    })
}

/// Whether each coordinate is a different loop's iterator, up or down.
fn are_one_to_one(coordinates: &[Affine], loops: &[&Loop]) -> bool {
    let mut left: Vec<&Name> = loops.iter().map(|l| &l.name).collect();
    let counts = |a: &Affine| {
        let [(name, 1 | -1)] = a.terms() else {
            return false;
        };
        let own = left.iter().position(|l| *l == name);
        own.map(|k| left.swap_remove(k)).is_some()
    };
    coordinates.len() == loops.len() && coordinates.iter().all(counts)
}

/// The tensors that a leaf accesses, its target first.
pub(super) fn tensors<'a>(leaf: &Leaf<'a>) -> Vec<&'a Tensor> {
    match leaf.what {
        What::Fill(fill) => vec![&fill.target],
        What::Stmt(s) => accesses(s)
            .into_iter()
            .map(|access| access.tensor)
            .collect(),
    }
}

/// The statement with the value of each loop around the leaf that has a single one.
fn at_single_values(s: &Stmt, leaf: &Leaf) -> Stmt {
    let mut known: Vec<(&Name, Affine)> = Vec::new();
    for l in &leaf.loops {
        if let ([lower], [upper]) = (&l.range.lower[..], &l.range.upper[..])
            && upper.minus(lower).as_constant() == Some(1)
        {
            let value = |name: &Name| {
                known
                    .iter()
                    .find(|(n, _)| *n == name)
                    .map(|(_, v)| v.clone())
            };
            let value = lower.substitute(&value);
            known.push((&l.name, value));
        }
    }
    s.substitute(&|name| {
        known
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, v)| v.clone())
    })
}

fn executes_definition(program: &Program) -> bool {
    program.leaves.iter().all(|leaf| {
        let original = leaf.assignment.and_then(|a| program.originals.get(a));
        match (leaf.what, original) {
            (What::Stmt(s), Some(original)) => {
                let point = s.origin.as_ref().map_or(&[][..], |o| &o.point);
                let meant = original.at(point);
                meant == *s || at_single_values(&meant, leaf) == at_single_values(s, leaf)
            }
            (What::Fill(fill), Some(original)) => original
                .fill
                .is_some_and(|f| (&f.target, f.value) == (&fill.target, fill.value)),
            _ => false,
        }
    })
}
