//! Counted work.

use super::bounds::Bounds;
use super::relative::offset_form;
use crate::ir::{Expr, Nest, Node, Tree};

/// The arithmetic operations that a nest with constant bounds executes, as `build` makes them:
/// each element-wise operation or function and each update counts one, a fill none. `None` where bounds
/// are not constant.
pub fn flops(nest: &Nest) -> Option<f64> {
    nest.trees().iter().map(of_tree).sum()
}

fn of_tree(tree: &Tree) -> Option<f64> {
    match tree {
        Tree::Fill(_) | Tree::Local(_) => Some(0.0),
        Tree::Stmt(s) => Some(operations(&s.value) + f64::from(u8::from(s.update.is_some()))),
        Tree::Loop(l) => {
            let (lower, upper) = l.range.as_constant()?;
            let trips = (upper - lower)
                .max(0)
                .unsigned_abs()
                .div_ceil(l.range.step.unsigned_abs());
            let body: Option<f64> = l.body.iter().map(of_tree).sum();
            Some(trips as f64 * body?)
        }
    }
}

/// How many statements trees execute at most; `around` knows the bounds of all loops around them.
pub fn executions(trees: &[Tree], around: &Bounds) -> i64 {
    let each = trees.iter().map(|tree| match tree {
        Tree::Fill(_) | Tree::Local(_) => 0,
        Tree::Stmt(_) => 1,
        Tree::Loop(l) => {
            let trips = offset_form(l, around).map_or(1, |(_, rest)| rest / l.range.step + 1);
            let mut inside = around.clone();
            inside.enter(l);
            trips.saturating_mul(executions(&l.body, &inside))
        }
    });
    each.fold(0, i64::saturating_add)
}

fn operations(expr: &Expr) -> f64 {
    let own = f64::from(u8::from(matches!(
        expr.node(),
        Node::Binary { .. } | Node::Apply { .. }
    )));
    own + expr.children().into_iter().map(operations).sum::<f64>()
}
