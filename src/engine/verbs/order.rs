//! A line below a table that names the cost of keeping sums in order, and what avoids it.

use super::workbench::Bench;
use crate::ir::{Affine, Arg, BinaryOp, Index, Loop, LoopRef, Name, Nest, Stmt, Tree};
use crate::legality::{self, Reductions, Verdict};
use crate::transform::nest::interchange::INTERCHANGE;
use crate::transform::nest::mode::VECTORIZE;
use crate::transform::{Op, apply};
use crate::trial::{Ranking, Variant};

/// Says once in a session what makes vectors possible. It does so if the fastest variant spends its
/// innermost loop on a floating-point sum whose order rules out vectors. A loop over neighboring
/// elements comes first, then a tensor for the sums, and last sums in another order.
pub(super) fn hint(bench: &Bench, variants: &[Variant], ranking: &Ranking) {
    let rows = variants.iter().zip(ranking.measured());
    let Some((fastest, row)) = rows.min_by_key(|(_, row)| row.timing.median) else {
        return;
    };
    let found = fastest.nests.iter().find_map(|nest| {
        let mut trees = nest.trees().iter();
        Some((
            nest,
            trees.find_map(|tree| innermost(tree, &mut Vec::new()))?,
        ))
    });
    let is_wanted = {
        let bench = bench.lock();
        bench.reductions() == Reductions::Strict && !bench.explains_order
    };
    let (Some((nest, sum)), true) = (found, is_wanted) else {
        return;
    };
    let (kind, name) = (sum.kind, sum.name.as_str());
    let advice = match across(nest, &sum) {
        Some(other) => format!(
            "`interchange(\"{other}\", \"{name}\")` and `vectorize(\"{other}\")` compute neighboring \
             elements at once, in the same order"
        ),
        None if sum.is_local => format!(
            "its own tensor for the {kind}, as in `let t = stored(…)`, gives it loops that can be \
             reordered"
        ),
        None => format!(
            "`reductions(\"reassoc\")` allows partial {kind}s, as rfactor and schedules::reduction \
             make them"
        ),
    };
    let mut bench = bench.lock();
    bench.explains_order = true;
    bench.print(&format!(
        "order: {} computes the {kind} over `{name}` one term after the other, without vectors; \
         {advice}",
        row.label
    ));
}

/// A reduction whose terms an innermost loop takes in order.
struct Sum {
    kind: &'static str,
    /// The loop over its terms.
    name: Name,
    /// The loops around that one, the outermost first.
    around: Vec<Name>,
    statement: Stmt,
    /// Whether its target is local to the nest and has one element.
    is_local: bool,
}

fn innermost(tree: &Tree, around: &mut Vec<Name>) -> Option<Sum> {
    let Tree::Loop(l) = tree else {
        return None;
    };
    if l.is_vector() || l.range.within.is_some() {
        return None;
    }
    if l.body.iter().any(|t| matches!(t, Tree::Loop(_))) {
        around.push(l.name.clone());
        let found = l.body.iter().find_map(|tree| innermost(tree, around));
        around.pop();
        return found;
    }
    let sum = |statement: &Stmt| {
        Some(Sum {
            kind: kind(l, statement)?,
            name: l.name.clone(),
            around: around.clone(),
            statement: statement.clone(),
            is_local: statement.target.shape().rank() == 0 && !around.is_empty(),
        })
    };
    l.body.iter().find_map(|tree| match tree {
        Tree::Stmt(statement) => sum(statement),
        _ => None,
    })
}

/// The kind of a floating-point reduction over the iterations of a loop.
fn kind(l: &Loop, statement: &Stmt) -> Option<&'static str> {
    let stays = statement.index.iter().all(|index| !index.mentions(&l.name));
    match statement.update {
        _ if !statement.target.elem().is_float() || !stays => None,
        Some(BinaryOp::Add) => Some("sum"),
        Some(BinaryOp::Mul) => Some("product"),
        _ => None,
    }
}

/// The loop over neighboring elements that can be the innermost one, in vectors.
fn across<'s>(nest: &Nest, sum: &'s Sum) -> Option<&'s Name> {
    let is_legal = |other: &Name| {
        let named = |name: &Name| Arg::Loop(LoopRef::Name(name.to_string()));
        let step = |op: &'static Op, nest: Nest, loops: &[&Name]| {
            let loops = loops.iter().map(|name| named(name));
            let args: Vec<Arg> = std::iter::once(Arg::Nest(nest)).chain(loops).collect();
            apply(op, &args, None).ok()?.nest().ok()
        };
        let moved = step(&INTERCHANGE, nest.clone(), &[other, &sum.name]);
        let planned = moved.and_then(|nest| step(&VECTORIZE, nest, &[other]));
        planned.is_some_and(|plan| {
            matches!(legality::check(&[plan], Reductions::Strict), Verdict::Legal)
        })
    };
    let moves = |other: &&Name| {
        sum.statement
            .index
            .iter()
            .any(|index| index.mentions(other))
    };
    let mut around = sum.around.iter().rev();
    around.find(|other| moves(other) && has_neighbors(&sum.statement, other) && is_legal(other))
}

/// Whether a loop moves along rows in all accesses: in the last dimension, by one element.
fn has_neighbors(statement: &Stmt, name: &Name) -> bool {
    let fits = |index: &[Affine]| {
        let mut dimensions = index.iter().enumerate();
        dimensions.all(|(d, place)| match place.coefficient(name) {
            0 => true,
            1 => d + 1 == index.len(),
            _ => false,
        })
    };
    let mut all = fits(&statement.index);
    statement.value.for_each_access(&mut |_, index| {
        if let Index::At(index) = index {
            all &= fits(index);
        }
    });
    all
}
