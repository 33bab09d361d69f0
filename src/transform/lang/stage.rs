//! Stages operations that read outside of their operands: each shift becomes a statement of its own.
//!
//! The elements of a term are expressions of affine indices, and `shift` chooses between an element
//! and 0. So a shift inside a statement is assigned to a temporary before that statement.

use super::term::{Declaration, Extent, Kind, Statement, Term, Unit};
use super::typing::Context;
use crate::ir::Reduction;
use std::collections::BTreeSet;

/// The unit with a temporary for each shift that is not the whole value of a statement. A term
/// without a type stays as it is, for the message about it.
pub(super) fn staged(unit: &Unit, context: &Context) -> Unit {
    let names = unit.declarations.iter().map(|d| d.name.0.clone());
    let mut stage = Stage {
        context,
        taken: names.collect(),
        unit: Unit {
            declarations: unit.declarations.clone(),
            statements: Vec::new(),
        },
    };
    for statement in &unit.statements {
        let value = match &statement.value.kind {
            Kind::Shift(..) => stage.operands(&statement.value),
            _ => stage.value(&statement.value),
        };
        let target = statement.target.clone();
        stage.unit.statements.push(Statement { target, value });
    }
    let mut made = stage.unit;
    let own = unit.declarations.len();
    if made.declarations.len() > own && !unit.declarations.iter().any(|d| d.is_output) {
        // Without qualifiers, all assigned variables are outputs, and so temporaries would be.
        for declaration in &mut made.declarations[..own] {
            let assigned = |s: &Statement| s.target.0 == declaration.name.0;
            declaration.is_output = unit.statements.iter().any(assigned);
        }
    }
    made
}

/// Whether the value is a reduction that does not begin from 0, as the elements outside of a shift
/// do.
fn begins_apart(term: &Term) -> bool {
    match &term.kind {
        Kind::Reduce(reduction, ..) => *reduction != Reduction::Sum,
        Kind::Transpose(_, of)
        | Kind::Diagonal(_, of)
        | Kind::Expand(_, _, of)
        | Kind::Project(_, _, of) => begins_apart(of),
        _ => false,
    }
}

struct Stage<'c> {
    context: &'c Context,
    taken: BTreeSet<String>,
    unit: Unit,
}

impl Stage<'_> {
    fn value(&mut self, term: &Term) -> Term {
        match term.kind {
            Kind::Shift(..) => self.temporary(term),
            _ => self.operands(term),
        }
    }

    /// A temporary with the value of a term.
    fn temporary(&mut self, term: &Term) -> Term {
        let Ok(extents) = self.context.type_of(term) else {
            return term.clone();
        };
        let value = self.operands(term);
        let target = (self.fresh(), term.span.clone());
        let extents = extents.into_iter();
        self.unit.declarations.push(Declaration {
            name: target.clone(),
            extents: extents.map(|n| (Extent::Number(n), 0..0)).collect(),
            is_input: false,
            is_output: false,
        });
        let variable = Kind::Variable(target.0.clone());
        self.unit.statements.push(Statement { target, value });
        Term::new(variable, term.span.clone())
    }

    fn operands(&mut self, term: &Term) -> Term {
        let is_shift = matches!(term.kind, Kind::Shift(..));
        term.map_operands(&mut |of| {
            if is_shift && begins_apart(of) {
                self.temporary(of)
            } else {
                self.value(of)
            }
        })
    }

    fn fresh(&mut self) -> String {
        let numbered = (2u64..).map(|k| format!("shifted_{k}"));
        let mut names = std::iter::once("shifted".to_owned()).chain(numbered);
        let name = names.find(|name| !self.taken.contains(name));
        let name = name.unwrap_or_default();
        self.taken.insert(name.clone());
        name
    }
}
