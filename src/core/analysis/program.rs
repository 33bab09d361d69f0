//! The roles of the tensors of a program, and its live assignments.
//!
//! If no variable is qualified, tensors that are read before they are assigned are inputs, and all
//! assigned tensors are outputs. If an output is qualified, all other tensors are temporaries,
//! except inputs. Only the program itself needs a temporary.
//!
//! Source: the model language, §5: input and output qualifiers, reaching definitions, dead code.

use crate::ir::{Expr, Name, Node, Program, Variable};

/// The names of the tensors that an assignment reads. The target counts only if the value reads it
/// or some elements keep their values.
pub fn reads(assignment: &Expr) -> Vec<Name> {
    let mut found = Vec::new();
    match assignment.node() {
        Node::Assign { value, .. } => value.for_each_tensor(&mut |tensor| {
            found.extend(tensor.name().cloned());
        }),
        Node::Pieces { pieces, otherwise } => {
            found.extend(pieces.iter().chain(otherwise).flat_map(reads));
        }
        _ => {}
    }
    found
}

/// The tensor that an assignment assigns.
pub fn target(assignment: &Expr) -> Option<&Name> {
    assignment.tensor()?.name()
}

/// Whether an assignment sets all elements of its target, regardless of their old values.
fn sets_all(assignment: &Expr) -> bool {
    match assignment.node() {
        Node::Assign {
            target,
            within,
            elsewhere,
            ..
        } => {
            let Some(tensor) = target.tensor() else {
                return false;
            };
            let names = target.iterators();
            let plain = names.len() == tensor.shape().rank();
            elsewhere.is_some() || (plain && within.is_empty())
        }
        // Holes are refused, so pieces keep old elements only if the target says so.
        Node::Pieces { .. } => true,
        _ => false,
    }
}

fn is_qualified(program: &Program) -> (bool, bool) {
    let variables = program.variables();
    (
        variables.iter().any(|v| v.is_input),
        variables.iter().any(|v| v.is_output),
    )
}

fn named(program: &Program, keep: impl Fn(&Variable, &Name) -> bool) -> Vec<Name> {
    let variables = program.variables().iter();
    let names = variables.filter_map(|v| Some((v, v.tensor.name()?)));
    let kept = names.filter(|(v, name)| keep(v, name));
    kept.map(|(_, name)| name.clone()).collect()
}

/// Whether an assignment reads a tensor before any assigns it.
fn is_read_first(program: &Program, name: &Name) -> bool {
    for assignment in program.assignments() {
        let keeps = target(assignment) == Some(name) && !sets_all(assignment);
        if keeps || reads(assignment).contains(name) {
            return true;
        }
        if target(assignment) == Some(name) {
            return false;
        }
    }
    false
}

fn is_assigned(program: &Program, name: &Name) -> bool {
    program
        .assignments()
        .iter()
        .any(|a| target(a) == Some(name))
}

/// The tensors whose initial contents the program needs.
pub fn inputs(program: &Program) -> Vec<Name> {
    named(program, |v, name| {
        v.is_input || is_read_first(program, name)
    })
}

/// The tensors whose final contents are the result.
pub fn outputs(program: &Program) -> Vec<Name> {
    let (_, outputs) = is_qualified(program);
    named(program, |v, name| {
        if outputs {
            v.is_output
        } else {
            is_assigned(program, name)
        }
    })
}

/// The variables with explicit output qualifiers, so that additional variables are temporaries.
pub fn with_outputs(program: &Program) -> Vec<Variable> {
    let outputs = outputs(program);
    let mut variables = program.variables().to_vec();
    for variable in &mut variables {
        let name = variable.tensor.name();
        variable.is_output = name.is_some_and(|name| outputs.contains(name));
    }
    variables
}

/// The tensors that only the program itself needs.
pub fn temporaries(program: &Program) -> Vec<Name> {
    let (_, outputs) = is_qualified(program);
    named(program, |v, name| {
        outputs
            && !v.is_input
            && !v.is_output
            && is_assigned(program, name)
            && !is_read_first(program, name)
    })
}

/// The tensors that nothing reads or assigns.
pub fn unused(program: &Program) -> Vec<Name> {
    named(program, |_, name| {
        let mut assignments = program.assignments().iter();
        !assignments.any(|a| target(a) == Some(name) || reads(a).contains(name))
    })
}

/// Whether each assignment is live: an output depends on it. Walks backwards from the last one.
pub fn live(program: &Program) -> Vec<bool> {
    let mut needed = outputs(program);
    let mut live = vec![false; program.assignments().len()];
    for (k, assignment) in program.assignments().iter().enumerate().rev() {
        let Some(target) = target(assignment) else {
            continue;
        };
        if !needed.contains(target) {
            continue;
        }
        live[k] = true;
        if sets_all(assignment) {
            needed.retain(|name| name != target);
        }
        needed.extend(reads(assignment));
    }
    live
}
