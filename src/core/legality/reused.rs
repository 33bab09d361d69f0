//! Programs that keep a tensor of the definition in the memory of another one.
//!
//! ```text
//! the definition            the definition, reusing A     a program
//! T[i] += B[i][k]*x[k]      A[i] += B[i][k]*x[k]          for i
//! A[i] = c[i]*T[i]          A[i] = c[i]*A[i]                A[i] += B[i][k]*x[k]
//!                                                          A[i] = c[i]*A[i]
//! ```
//!
//! The program is often the second one in another order, and that is decided much faster than a
//! question about values. Only the second one's values are compared with those of the first.

use super::program::{Leaf, Program, What};
use crate::ir::{Expr, Fill, Index, Stmt, Tensor};

/// The definition with other tensors.
pub(super) struct Reused {
    leaves: Vec<Statement>,
}

enum Statement {
    Stmt(Stmt),
    Fill(Fill),
}

/// The definition with the tensors that a program without local tensors has in place of its own.
/// `None` if they are its own.
pub(super) fn reused(program: &Program) -> Option<Reused> {
    let has_locals = |leaf: &Leaf| !leaf.locals.is_empty();
    let is_whole = program.assignments == (0..program.originals.len());
    if !is_whole
        || program
            .leaves
            .iter()
            .chain(&program.definition)
            .any(has_locals)
    {
        return None;
    }
    let mut pairs: Vec<(&Tensor, &Tensor)> = Vec::new();
    for leaf in &program.leaves {
        let meant = &program.originals.get(leaf.assignment?)?.stmt.target;
        let found = leaf.target();
        match pairs.iter().find(|(from, _)| *from == meant) {
            Some((_, to)) if *to == found => {}
            Some(_) => return None,
            None => pairs.push((meant, found)),
        }
    }
    let fits =
        |(from, to): &(&Tensor, &Tensor)| from.shape() == to.shape() && from.elem() == to.elem();
    if pairs.iter().all(|(from, to)| from == to) || !pairs.iter().all(fits) {
        return None;
    }
    let other = |tensor: &Tensor| -> Tensor {
        let known = pairs.iter().find(|(from, _)| *from == tensor);
        known.map_or(tensor, |(_, to)| to).clone()
    };
    let leaves = program.definition.iter().map(|leaf| match leaf.what {
        What::Stmt(s) => Statement::Stmt(Stmt {
            target: other(&s.target),
            value: s.value.map_accesses(&|tensor, index| match index {
                Index::At(index) => Some(Expr::element(&other(tensor), index.clone())),
                Index::Unset | Index::Forbidden => None,
            }),
            ..s.clone()
        }),
        What::Fill(fill) => Statement::Fill(Fill {
            target: other(&fill.target),
            ..fill.clone()
        }),
    });
    Some(Reused {
        leaves: leaves.collect(),
    })
}

impl Reused {
    /// The leaves of the definition with these tensors; `of` is the program that has it.
    pub(super) fn definition<'b>(&'b self, of: &Program<'b>) -> Vec<Leaf<'b>> {
        let both = of.definition.iter().zip(&self.leaves);
        let leaves = both.map(|(leaf, statement)| Leaf {
            what: match statement {
                Statement::Stmt(s) => What::Stmt(s),
                Statement::Fill(fill) => What::Fill(fill),
            },
            ..leaf.clone()
        });
        leaves.collect()
    }
}
