//! `program`: the program that computes tensors of a script.

use super::refusal::Refusal;
use super::workbench::Bench;
use crate::ir::{Expr, Node, Program, Tensor, Variable};
use crate::legality::assigns_all;

/// The program that computes what `outputs` assign, back to tensors that nothing assigns. These are
/// its inputs; what else it assigns is temporary.
///
/// # Errors
/// An output is not an assignment, or has no name.
pub fn program(bench: &Bench, outputs: &[Expr]) -> Result<Program, Refusal> {
    let is_named = |output: &Expr| {
        output
            .tensor()
            .is_some_and(|tensor| tensor.name().is_some())
    };
    if let Some(wrong) = outputs.iter().find(|o| !o.is_assignment() || !is_named(o)) {
        let text = wrong.to_string();
        let text = text.lines().last().unwrap_or_default();
        return Err(Refusal::new(format!("nothing computes `{text}`"))
            .help("`eq` assigns it: `let y = eq(x, [i] -> [i])`"));
    }
    let assignments = bench.lock().definitions.needed_by(outputs);
    let mut variables: Vec<Variable> = Vec::new();
    let mut add = |tensor: &Tensor, is_input: bool| {
        if variables
            .iter()
            .all(|known| known.tensor.name() != tensor.name())
        {
            let assigned =
                |output: &Expr| output.tensor().is_some_and(|t| t.name() == tensor.name());
            variables.push(Variable {
                tensor: tensor.clone(),
                is_input,
                is_output: outputs.iter().any(assigned),
            });
        }
    };
    for assignment in &assignments {
        assignment.for_each_access(&mut |tensor, _| {
            let is_target = assignment
                .tensor()
                .is_some_and(|t| t.name() == tensor.name());
            if !is_target || reads(assignment, tensor) || !assigns_all(assignment) {
                add(tensor, true);
            }
        });
        if let Some(tensor) = assignment.tensor() {
            add(tensor, false);
        }
    }
    Ok(Program::new(variables, assignments))
}

fn reads(assignment: &Expr, tensor: &Tensor) -> bool {
    let mut found = false;
    if let Node::Assign { value, .. } = assignment.node() {
        value.for_each_access(&mut |t, _| found |= t.name() == tensor.name());
    }
    found
}
