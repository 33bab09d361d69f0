//! Makes assignments of the sums inside of values, so that each is computed once.

use crate::analysis::shape;
use crate::ir::{Affine, Domain, Expr, Node, Shape, Tensor};
use crate::tensor::contraction::name_after;
use crate::tensor::with_shapes;

/// The assignments of all sums inside of the value, innermost first, and then the assignment
/// itself. New tensors get labels that are not in `taken`. A sum whose iterators do not begin at 0
/// stays.
pub(super) fn steps(assignment: &Expr, taken: &mut Vec<String>) -> Vec<Expr> {
    let Node::Assign { value, .. } = assignment.node() else {
        return vec![assignment.clone()];
    };
    assignment.for_each_tensor(&mut |tensor| taken.push(tensor.label().to_owned()));
    let mut made = Steps::new();
    let short = match value.node() {
        Node::Reduce { .. } => inside(value, taken, &mut made),
        _ => split(value, taken, &mut made),
    };
    let whole = assignment.replace(&|part| (part == value).then(|| short.clone()));
    match with_shapes(&whole) {
        Ok(whole) => {
            let before = made.into_iter().map(|(_, _, assignment)| assignment);
            before.chain([whole]).collect()
        }
        Err(_) => vec![assignment.clone()],
    }
}

/// Sums, with their tensors and the assignments of these.
type Steps = Vec<(Expr, Tensor, Expr)>;

/// Replaces the sums in a value by tensors.
fn split(value: &Expr, taken: &mut Vec<String>, made: &mut Steps) -> Expr {
    if !matches!(value.node(), Node::Reduce { .. }) {
        return inside(value, taken, made);
    }
    let before = made.len();
    let sum = inside(value, taken, made);
    if let Some((_, tensor, _)) = made.iter().find(|(known, ..)| *known == sum) {
        return element(tensor, &sum);
    }
    match step(&sum, taken) {
        Some((tensor, assignment)) => {
            let element = element(&tensor, &sum);
            made.push((sum, tensor, assignment));
            element
        }
        None => {
            made.truncate(before);
            value.clone()
        }
    }
}

/// Replaces the sums in the operands of an operation by tensors.
fn inside(value: &Expr, taken: &mut Vec<String>, made: &mut Steps) -> Expr {
    let children: Vec<(Expr, Expr)> = value
        .children()
        .into_iter()
        .map(|child| (child.clone(), split(child, taken, made)))
        .collect();
    value.replace(&|part| {
        let (_, new) = children.iter().find(|(old, _)| old == part)?;
        Some(new.clone())
    })
}

fn element(tensor: &Tensor, sum: &Expr) -> Expr {
    let index = sum.iterators().into_iter().map(Affine::iterator);
    Expr::element(tensor, index.collect())
}

fn step(sum: &Expr, taken: &mut Vec<String>) -> Option<(Tensor, Expr)> {
    let ranges = shape::ranges(sum).ok()?;
    let names = sum.iterators();
    let extents = names.iter().map(|name| {
        let range = ranges.iter().find(|r| r.name == *name)?;
        (range.low == 0).then(|| range.dim())
    });
    let extents: Vec<Affine> = extents.collect::<Option<_>>()?;
    let mut labels: Vec<String> = Vec::new();
    sum.for_each_tensor(&mut |tensor| labels.push(tensor.label().to_owned()));
    labels.dedup();
    let name = name_after(labels.iter().map(String::as_str), taken);
    taken.push(name.to_string());
    let tensor = if extents.is_empty() {
        Tensor::scalar(sum.elem())
    } else {
        Tensor::new(Shape::of_virtual_dims(extents), sum.elem())
    };
    let tensor = tensor.named(name);
    let assignment = Expr::new(Node::Assign {
        target: element(&tensor, sum),
        value: sum.clone(),
        within: Domain::default(),
        elsewhere: None,
    });
    Some((tensor, with_shapes(&assignment).ok()?))
}
