//! `program`: the program that computes tensors of a script.

use super::definitions::needs;
use super::refusal::Refusal;
use super::workbench::Bench;
use crate::ir::{Expr, Infix, Program, Tensor, Variable};

/// The program that computes what `outputs` assign, back to tensors that nothing assigns. These are
/// its inputs; the other tensors that it assigns are temporaries.
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
        return Err(Refusal::new(format!("nothing computes `{}`", Infix(wrong)))
            .help("`eq` assigns it: `let y = eq(x, [i] -> [i])`"));
    }
    let assignments = bench.lock().definitions.needed_by(outputs);
    let mut variables: Vec<Variable> = Vec::new();
    let mut add = |tensor: &Tensor, is_input: bool| {
        let is_it = |other: &Tensor| other.name() == tensor.name();
        if !variables.iter().any(|known| is_it(&known.tensor)) {
            variables.push(Variable {
                tensor: tensor.clone(),
                is_input,
                is_output: outputs.iter().filter_map(Expr::tensor).any(is_it),
            });
        }
    };
    for assignment in &assignments {
        needs(assignment)
            .iter()
            .for_each(|tensor| add(tensor, true));
        assignment
            .tensor()
            .into_iter()
            .for_each(|tensor| add(tensor, false));
    }
    Ok(Program::new(variables, assignments))
}
