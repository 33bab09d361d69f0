//! Contraction lifting: sums of products of many factors become steps of two factors each, in the
//! cheapest order.
//!
//! ```text
//! v = sum(j, k, l: A[a][j] * B[b][k] * C[c][l] * u[j][k][l]) + 2 * sum(…)
//!
//! t1 = sum(j, k, l: A[a][j] * …)      each in steps:   Au = sum(j: A[a][j] * u[j][k][l])
//! t2 = sum(…)                                          …
//! v = t1 + 2 * t2
//! ```
//!
//! For operators of n × n in three dimensions, the operations become O(n⁴) instead of O(n⁶).
//!
//! Legal if sums may be rounded in other places; the caller decides that. Values that are not sums
//! of products stay as they are.
//!
//! Refuses: nothing.
//!
//! Source: TeIL, §5; the order of contractions by dynamic programming over sets of factors.

use super::program::temporary;
use super::tensor::contraction::{NoSplit, chain};
use crate::analysis::program::with_outputs;
use crate::ir::{Affine, Domain, Expr, Name, Node, Program, Tensor, Variable};

/// Splits every sum of products of a program into steps.
///
/// # Errors
/// As splitting, except that a value may be something other than a sum of products.
pub fn lifted(program: &Program) -> Result<Program, NoSplit> {
    let mut variables = with_outputs(program);
    let mut assignments = Vec::new();
    for assignment in program.assignments() {
        for part in parts(assignment, &mut variables) {
            match chain(&part, true) {
                Ok(steps) => {
                    let steps = renamed(steps, &mut variables);
                    assignments.extend(steps);
                }
                Err(NoSplit::NoProduct | NoSplit::Given | NoSplit::Ranges) => {
                    assignments.push(part);
                }
                Err(other) => return Err(other),
            }
        }
    }
    Ok(Program::new(variables, assignments))
}

/// Splits an assignment whose value has sums inside of other operations: the sums come first.
fn parts(assignment: &Expr, variables: &mut Vec<Variable>) -> Vec<Expr> {
    let Node::Assign { value, .. } = assignment.node() else {
        return vec![assignment.clone()];
    };
    if matches!(value.node(), Node::Reduce { .. }) {
        return vec![assignment.clone()];
    }
    let mut made = Vec::new();
    let mut found: Vec<(Expr, Tensor)> = Vec::new();
    for sum in sums(value) {
        if found.iter().any(|(known, _)| known == sum) {
            continue;
        }
        let Some(tensor) = temporary(sum, variables) else {
            return vec![assignment.clone()];
        };
        variables.push(Variable {
            tensor: tensor.clone(),
            is_input: false,
            is_output: false,
        });
        made.push(Expr::new(Node::Assign {
            target: element(&tensor, sum),
            value: sum.clone(),
            within: Domain::default(),
            elsewhere: None,
        }));
        found.push((sum.clone(), tensor));
    }
    let rest = assignment.replace(&|part| {
        let (sum, tensor) = found.iter().find(|(sum, _)| sum == part)?;
        Some(element(tensor, sum))
    });
    made.push(super::tensor::with_shapes(&rest).unwrap_or(rest));
    made
}

fn sums(expr: &Expr) -> Vec<&Expr> {
    match expr.node() {
        Node::Reduce { .. } => vec![expr],
        _ => expr.children().into_iter().flat_map(sums).collect(),
    }
}

/// The element of a temporary for a sum.
fn element(tensor: &Tensor, sum: &Expr) -> Expr {
    let index = sum.iterators().into_iter().map(Affine::iterator);
    Expr::element(tensor, index.collect())
}

/// Steps whose new tensors are variables, with names that no other variable has.
fn renamed(steps: Vec<Expr>, variables: &mut Vec<Variable>) -> Vec<Expr> {
    let Some((last, before)) = steps.split_last() else {
        return steps;
    };
    let mut names: Vec<(Name, Tensor)> = Vec::new();
    for step in before {
        let Some(tensor) = step.tensor() else {
            continue;
        };
        let Some(name) = tensor.name().cloned() else {
            continue;
        };
        let is_free = |n: &Name| variables.iter().all(|v| v.tensor.name() != Some(n));
        let numbered = (2..).map(|k: u32| name.derived(k));
        let new = [name.clone()].into_iter().chain(numbered).find(is_free);
        let tensor = tensor.named(new.unwrap_or_else(|| name.clone()));
        variables.push(Variable {
            tensor: tensor.clone(),
            is_input: false,
            is_output: false,
        });
        names.push((name, tensor));
    }
    let target = last.tensor().and_then(Tensor::name);
    let rename = |step: &Expr| {
        step.replace(&|part| match part.node() {
            Node::Access { tensor, index } if tensor.name() != target => {
                let (_, new) = names.iter().find(|(name, _)| Some(name) == tensor.name())?;
                Some(Expr::access(new.clone(), index.clone()))
            }
            _ => None,
        })
    };
    steps.iter().map(rename).collect()
}
