//! `if` in texts of nests: statements that count where a condition on data holds.
//!
//! ```text
//! if m[i] > 0                  y[i] = select(m[i] > 0, x[i], y[i])
//!   y[i] = x[i]
//!   s[] += x[i]                s[] += select(m[i] > 0, x[i], 0)
//! ```
//!
//! Every iteration executes every statement. Where the condition does not hold, an assignment keeps the
//! old value, and an update has no effect. So proofs, vectors and threads see statements alone. A
//! condition is evaluated for each statement, so that no statement may change what it reads.

use super::cursor::Cursor;
use super::wrong::Wrong;
use crate::ir::expr::{Expr, Node};
use crate::ir::function::{Comparison, Function};
use crate::ir::nest::{Loop, Tree};
use crate::ir::statement::Stmt;
use crate::ir::tensor::Shape;
use std::sync::Arc;

/// A comparison that has to hold.
pub(super) struct Guard {
    comparison: Comparison,
    sides: [Expr; 2],
}

impl Cursor<'_> {
    /// Reads `if a < b && c < d`.
    pub(super) fn guards(&mut self) -> Result<Vec<Guard>, Wrong> {
        self.expect("if ")?;
        let mut guards = Vec::new();
        loop {
            let (comparison, sides) = self.compared()?;
            guards.push(Guard { comparison, sides });
            if !self.eat("&&") {
                return Ok(guards);
            }
        }
    }
}

/// The trees where all conditions hold.
pub(super) fn guarded(trees: &[Tree], guards: &[Guard]) -> Result<Vec<Tree>, Wrong> {
    let is_one = matches!(trees, [Tree::Stmt(_)]);
    let trees = trees.iter();
    trees.map(|tree| of_tree(tree, guards, is_one)).collect()
}

/// The same for one tree. `is_one` states that there is no other statement, in no other iteration
/// that the condition is for.
fn of_tree(tree: &Tree, guards: &[Guard], is_one: bool) -> Result<Tree, Wrong> {
    match tree {
        Tree::Loop(l) => {
            let body = l.body.iter().map(|tree| of_tree(tree, guards, false));
            Ok(Tree::of_loop(Loop {
                body: body.collect::<Result<_, _>>()?,
                ..(**l).clone()
            }))
        }
        Tree::Stmt(s) => of_stmt(s, guards, is_one).map(|s| Tree::Stmt(Arc::new(s))),
        Tree::Local(_) => Ok(tree.clone()),
        Tree::Fill(fill) => {
            let wrong = Wrong::from(format!("`{fill}` cannot depend on data"));
            Err(wrong.help("write it before the `if`, or loop over the elements and assign each"))
        }
    }
}

fn of_stmt(s: &Stmt, guards: &[Guard], is_one: bool) -> Result<Stmt, Wrong> {
    let mut changes = false;
    for side in guards.iter().flat_map(|guard| &guard.sides) {
        side.for_each_tensor(&mut |tensor| changes |= tensor.name() == s.target.name());
    }
    if changes && !is_one {
        let wrong = Wrong::from(format!("`{s}` changes what the condition reads"));
        return Err(wrong.help(
            "the condition is evaluated for each statement below it: copy what it reads to another \
             tensor before",
        ));
    }
    let otherwise = match s.update {
        None => Expr::element(&s.target, s.index.clone()),
        Some(op) => {
            let identity = op.identity(s.target.elem());
            let identity = identity.ok_or_else(|| {
                let wrong = Wrong::from(format!("`{s}` cannot depend on data"));
                wrong.help("sums, differences, products, quotients, minima and maxima can")
            })?;
            Expr::new(Node::Constant(identity))
        }
    };
    let value = guards.iter().rev().fold(s.value.clone(), |value, guard| {
        let [left, right] = guard.sides.clone();
        Expr::new(Node::Apply {
            function: Function::Select(guard.comparison),
            shape: Shape::of_extents([]),
            args: vec![left, right, value, otherwise.clone()],
        })
    });
    Ok(Stmt { value, ..s.clone() })
}
