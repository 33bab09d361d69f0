//! Programs: variables, which can be inputs, outputs or temporaries, and a list of assignments.
//!
//! Every notation of `lang` is read into a program and written from one.

use super::expr::Expr;
use super::name::Name;
use super::tensor::Tensor;
use super::text::Infix;
use std::fmt;
use std::sync::Arc;

/// A list of assignments and the roles of their tensors. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program(Arc<Data>);

#[derive(Debug, PartialEq, Eq)]
struct Data {
    variables: Vec<Variable>,
    assignments: Vec<Expr>,
}

/// A tensor of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The tensor. It has a name.
    pub tensor: Tensor,
    /// Whether the caller sets it before the program runs.
    pub is_input: bool,
    /// Whether the caller reads it afterwards.
    pub is_output: bool,
}

impl Program {
    /// A program of these assignments. Their tensors are variables.
    pub fn new(variables: Vec<Variable>, assignments: Vec<Expr>) -> Program {
        Program(Arc::new(Data {
            variables,
            assignments,
        }))
    }

    /// The variables, in the order of their declaration.
    pub fn variables(&self) -> &[Variable] {
        &self.0.variables
    }

    /// The assignments, in order.
    pub fn assignments(&self) -> &[Expr] {
        &self.0.assignments
    }

    pub fn variable(&self, name: &Name) -> Option<&Variable> {
        let mut all = self.0.variables.iter();
        all.find(|v| v.tensor.name() == Some(name))
    }

    /// The program with other assignments.
    #[must_use]
    pub fn with_assignments(&self, assignments: Vec<Expr>) -> Program {
        Program::new(self.0.variables.clone(), assignments)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, variable) in self.0.variables.iter().enumerate() {
            let role = match (variable.is_input, variable.is_output) {
                (true, true) => "input output ",
                (true, false) => "input ",
                (false, true) => "output ",
                (false, false) => "",
            };
            let newline = if k == 0 { "" } else { "\n" };
            let tensor = &variable.tensor;
            write!(f, "{newline}{role}{} {tensor}", tensor.elem())?;
        }
        for assignment in &self.0.assignments {
            write!(f, "\n{}", Infix(assignment))?;
        }
        Ok(())
    }
}
