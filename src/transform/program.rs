//! Cleanups of whole programs: dead code and common subexpressions.
//!
//! ```text
//! output C, output E                      output C, output E
//! D = A * B                               t1 = sum(k: A[i][k] * B[k][j])
//! C = sum(k: A[i][k] * B[k][j]) + A       C = t1 + A
//! E = sum(k: A[i][k] * B[k][j]) - B       E = t1 - B
//! ```
//!
//! An assignment is dead if no output depends on it, like that of `D` above. A common subexpression
//! is a reduction that occurs again while the tensors that it reads hold the same values. The names
//! of its iterators do not matter.
//!
//! Legal always: no output changes its value, since the reduction is computed in the same order.
//!
//! Refuses: nothing.
//!
//! Source: the model language, §5; dead code elimination and common subexpression elimination as in
//! textbooks on compilers.

use crate::analysis::program::{live, outputs, target, with_outputs};
use crate::analysis::shape;
use crate::ir::{Affine, Domain, Expr, Index, Name, Node, Program, Shape, Tensor, Variable};
use std::collections::BTreeMap;

/// The program without assignments that no output depends on.
#[must_use]
pub fn without_dead_code(program: &Program) -> Program {
    let live = live(program);
    let kept = program.assignments().iter().zip(live);
    let kept = kept.filter(|(_, live)| *live);
    program.with_assignments(kept.map(|(assignment, _)| assignment.clone()).collect())
}

/// A reduction with iterators numbered by appearance, and how often each tensor that it reads was
/// assigned before. Equal keys have equal values.
#[derive(PartialEq)]
struct Key {
    value: Expr,
    versions: Vec<(Name, usize)>,
}

struct Occurrence {
    key: Key,
    /// The reduction, where it occurs first.
    value: Expr,
    first: usize,
    count: usize,
    tensor: Option<Tensor>,
    /// Whether a tensor of the program holds the value, set by that tensor's first assignment.
    is_held: bool,
}

/// The program in which reductions that occur several times are computed once.
#[must_use]
pub fn without_common_subexpressions(program: &Program) -> Program {
    let mut found: Vec<Occurrence> = Vec::new();
    let mut versions: BTreeMap<Name, usize> = BTreeMap::new();
    for (k, assignment) in program.assignments().iter().enumerate() {
        for reduction in reductions(assignment) {
            let key = key(reduction, &versions);
            match found.iter_mut().find(|o| o.key == key) {
                Some(occurrence) => occurrence.count += 1,
                None => found.push(Occurrence {
                    key,
                    value: reduction.clone(),
                    first: k,
                    count: 1,
                    tensor: None,
                    is_held: false,
                }),
            }
        }
        if let Some(target) = target(assignment) {
            *versions.entry(target.clone()).or_default() += 1;
        }
    }
    found.retain(|o| o.count > 1);
    if found.is_empty() {
        return program.clone();
    }
    let mut variables = with_outputs(program);
    for occurrence in &mut found {
        let first = program.assignments().get(occurrence.first);
        if let Some(tensor) = first.and_then(|a| holder(program, a, &occurrence.value)) {
            occurrence.tensor = Some(tensor);
            occurrence.is_held = true;
            continue;
        }
        let tensor = temporary(&occurrence.value, &variables);
        if let Some(tensor) = &tensor {
            variables.push(Variable {
                tensor: tensor.clone(),
                is_input: false,
                is_output: false,
            });
        }
        occurrence.tensor = tensor;
    }
    let mut assignments = Vec::new();
    versions.clear();
    for (k, assignment) in program.assignments().iter().enumerate() {
        for occurrence in found.iter().filter(|o| o.first == k && !o.is_held) {
            assignments.extend(occurrence.tensor.as_ref().map(|tensor| {
                let value = occurrence.value.clone();
                let index = value.iterators().into_iter().map(Affine::iterator);
                let target = Expr::element(tensor, index.collect());
                Expr::new(Node::Assign {
                    target,
                    value,
                    within: Domain::default(),
                    elsewhere: None,
                })
            }));
        }
        let shared = assignment.replace(&|part| {
            let is_reduction = matches!(part.node(), Node::Reduce { .. });
            let key = is_reduction.then(|| key(part, &versions))?;
            let occurrence = found.iter().find(|o| o.key == key)?;
            // A use inside of another reduction may come before the tensor is set.
            if k < occurrence.first || occurrence.is_held && occurrence.first == k {
                return None;
            }
            let index = part.iterators().into_iter().map(Affine::iterator);
            Some(Expr::element(occurrence.tensor.as_ref()?, index.collect()))
        });
        let shaped = super::tensor::with_shapes(&shared);
        assignments.push(shaped.unwrap_or_else(|_| assignment.clone()));
        if let Some(target) = target(assignment) {
            *versions.entry(target.clone()).or_default() += 1;
        }
    }
    without_copies(&Program::new(variables, assignments))
}

/// The temporary that an assignment sets to exactly this reduction, if no other assignment sets it.
/// Outputs are left out: an output that others read would become a temporary of the nests.
fn holder(program: &Program, assignment: &Expr, reduction: &Expr) -> Option<Tensor> {
    let Node::Assign {
        target: to, value, ..
    } = assignment.node()
    else {
        return None;
    };
    let Node::Access {
        tensor,
        index: Index::At(index),
    } = to.node()
    else {
        return None;
    };
    let own: Vec<Affine> = value
        .iterators()
        .into_iter()
        .map(Affine::iterator)
        .collect();
    let times = program
        .assignments()
        .iter()
        .filter(|a| target(a) == tensor.name());
    let outputs = outputs(program);
    let is_output = tensor.name().is_none_or(|name| outputs.contains(name));
    let is_alone = times.count() == 1 && !is_output;
    (value == reduction && *index == own && is_alone).then(|| tensor.clone())
}

/// The program without temporaries that are copies of a tensor.
fn without_copies(program: &Program) -> Program {
    let outputs = outputs(program);
    let times = |tensor: &Tensor| {
        let all = program.assignments().iter();
        all.filter(|a| target(a) == tensor.name()).count()
    };
    let mut copies: Vec<(Tensor, Tensor)> = Vec::new();
    let mut kept = Vec::new();
    for assignment in program.assignments() {
        let copied = |tensor: &Tensor| copies.iter().find(|(to, _)| to.name() == tensor.name());
        let assignment = assignment.replace(&|part| match part.node() {
            Node::Access { tensor, index } => {
                Some(Expr::access(copied(tensor)?.1.clone(), index.clone()))
            }
            _ => None,
        });
        if let Node::Assign {
            target: to,
            value,
            within,
            ..
        } = assignment.node()
            && let Node::Access { tensor, index } = to.node()
            && let Node::Access {
                tensor: from,
                index: read,
            } = value.node()
            && index == read
            && within.is_empty()
            && times(tensor) == 1
            && times(from) <= 1
            && tensor.name().is_some_and(|name| !outputs.contains(name))
            && tensor.shape() == from.shape()
        {
            copies.push((tensor.clone(), from.clone()));
            continue;
        }
        kept.push(assignment);
    }
    let is_copy = |v: &Variable| copies.iter().any(|(to, _)| to.name() == v.tensor.name());
    let variables = program.variables().iter().filter(|v| !is_copy(v));
    Program::new(variables.cloned().collect(), kept)
}

/// The outermost reductions in the value of an assignment.
fn reductions(expr: &Expr) -> Vec<&Expr> {
    match expr.node() {
        Node::Reduce { .. } => vec![expr],
        Node::Assign { value, .. } => reductions(value),
        _ => expr.children().into_iter().flat_map(reductions).collect(),
    }
}

fn key(reduction: &Expr, versions: &BTreeMap<Name, usize>) -> Key {
    let names = reduction.iterators();
    let mut all = names.clone();
    all.extend(
        reduction
            .all_names()
            .into_iter()
            .filter(|n| !names.contains(n)),
    );
    let number = |name: &Name| Some(Name::generated(all.iter().position(|n| n == name)? + 1));
    let mut read: Vec<(Name, usize)> = Vec::new();
    reduction.for_each_tensor(&mut |tensor| {
        if let Some(name) = tensor.name()
            && read.iter().all(|(known, _)| known != name)
        {
            let version = versions.get(name).copied().unwrap_or(0);
            read.push((name.clone(), version));
        }
    });
    Key {
        value: reduction.rename_iterators(&number),
        versions: read,
    }
}

/// A tensor for the values of a reduction; `None` where its free iterators have no extents.
pub(super) fn temporary(value: &Expr, variables: &[Variable]) -> Option<Tensor> {
    let ranges = shape::ranges(value).ok()?;
    let names = value.iterators();
    let extents = names.iter().map(|name| {
        let range = ranges.iter().find(|r| r.name == *name)?;
        (range.low == 0).then(|| range.dim())
    });
    let extents: Vec<Affine> = extents.collect::<Option<_>>()?;
    let is_taken = |name: &Name| variables.iter().any(|v| v.tensor.name() == Some(name));
    let mut numbered = (1..).filter_map(|k: usize| Name::new(&format!("t{k}")).ok());
    let name = numbered.find(|name| !is_taken(name))?;
    let tensor = if extents.is_empty() {
        Tensor::scalar(value.elem())
    } else {
        Tensor::new(Shape::of_virtual_dims(extents), value.elem())
    };
    Some(tensor.named(name))
}
