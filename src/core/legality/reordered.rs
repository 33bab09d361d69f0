//! Whether nests only reorder the statements and fills of the definition, on the same elements.

use super::program::{Leaf, Program, What, accesses};
use super::space::Space;
use crate::analysis::bounds::Bounds;
use crate::ir::{Affine, Loop, Name, Shape, Stmt, Tensor};

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

/// Whether each iteration has the same elements of local tensors as in the definition. Several local
/// tensors of the definition may follow each other in one memory.
pub(super) fn keeps_locals(program: &Program) -> bool {
    let mut known: Vec<Elements> = Vec::new();
    for leaf in &program.leaves {
        let fill = matches!(leaf.what, What::Fill(_));
        let original = leaf.assignment.and_then(|a| program.original_leaf(a, fill));
        for tensor in tensors(leaf) {
            let Some(own) = original.and_then(|meant| corresponds(leaf, meant, tensor)) else {
                return false;
            };
            match known.iter_mut().find(|k| k.meant == own.meant) {
                Some(one) if one.found == own.found && one.iteration == own.iteration => {
                    one.trees.1 = own.trees.1;
                }
                Some(_) => return false,
                None => known.push(own),
            }
        }
    }
    let follow =
        |one: &Elements, other: &Elements| one.found != other.found || one.trees.1 < other.trees.0;
    let all = known.iter().enumerate();
    let mut pairs = all.flat_map(|(k, one)| known[k + 1..].iter().map(move |other| (one, other)));
    pairs.all(|(one, other)| follow(one, other))
}

/// The memory of a tensor in the nests and in the definition.
struct Elements {
    found: Space,
    meant: Space,
    /// The iteration of the definition whose elements an iteration has.
    iteration: Vec<Affine>,
    /// The first and the last tree that uses them, in the sequence that declares a local tensor.
    trees: (usize, usize),
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
    let tree = match &found.space {
        Space::Local { scope, .. } => *leaf.place.get(scope.len())?,
        _ => 0,
    };
    (are_one_to_one(&iteration, own) && both_local).then_some(Elements {
        found: found.space,
        meant: meant.space,
        iteration,
        trees: (tree, tree),
    })
}

/// Whether coordinates are functions of the iteration of loops, and differ for different iterations.
/// Each loop with several iterations has a coordinate that tells its iterator, given those of loops
/// around it.
fn are_one_to_one(coordinates: &[Affine], loops: &[&Loop]) -> bool {
    let is_own = |name: &Name| name.size().is_some() || loops.iter().any(|l| l.name == *name);
    let mut names = coordinates.iter().flat_map(Affine::terms);
    if !names.all(|(name, _)| is_own(name)) {
        return false;
    }
    let tells = |a: &Affine, known: usize| {
        let inner = loops[known + 1..].iter();
        a.mentions(&loops[known].name) && !inner.into_iter().any(|l| a.mentions(&l.name))
    };
    let mut left: Vec<&Affine> = coordinates.iter().collect();
    let mut bounds = Bounds::default();
    (0..loops.len()).all(|known| {
        let l = loops[known];
        bounds.enter(l);
        let own = left.iter().position(|a| tells(a, known));
        let only = || bounds.interval(&Affine::iterator(l.name.clone()));
        own.map(|k| left.swap_remove(k)).is_some() || only().is_some_and(|(low, high)| low == high)
    })
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

/// The statement with the names of local tensors alone. These may have other shapes than in the
/// definition.
fn without_shapes(s: &Stmt, leaf: &Leaf) -> Stmt {
    let tensor = |tensor: &Tensor| leaf.is_local(tensor).then(|| named(tensor));
    Stmt {
        target: tensor(&s.target).unwrap_or_else(|| s.target.clone()),
        value: s.value.map_tensors(&tensor),
        ..s.clone()
    }
}

/// A tensor of that name, without dimensions.
fn named(tensor: &Tensor) -> Tensor {
    tensor.with_shape(Shape::of_extents([]))
}

fn executes_definition(program: &Program) -> bool {
    program.leaves.iter().all(|leaf| {
        let original = leaf.assignment.and_then(|a| program.originals.get(a));
        match (leaf.what, original) {
            (What::Stmt(s), Some(original)) => {
                let point = s.origin.as_ref().map_or(&[][..], |o| &o.point);
                let meant = original.at(point);
                let plain = |s: &Stmt| without_shapes(&at_single_values(s, leaf), leaf);
                meant == *s || plain(&meant) == plain(s)
            }
            (What::Fill(fill), Some(original)) => original.fill.is_some_and(|f| {
                let target = match leaf.is_local(&f.target) {
                    true => named(&f.target) == named(&fill.target),
                    false => f.target == fill.target,
                };
                target && f.value == fill.value
            }),
            _ => false,
        }
    })
}
