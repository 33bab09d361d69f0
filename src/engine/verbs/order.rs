//! A line below a table that names the cost of keeping sums in order, and what avoids it. Nests that
//! wait for data get none.

use super::forecast::Forecast;
use super::workbench::Bench;
use crate::ir::{Affine, Arg, BinaryOp, Index, Loop, LoopRef, Name, Nest, Stmt, Tensor, Tree};
use crate::legality::{self, Reductions, Verdict};
use crate::transform::nest::interchange::INTERCHANGE;
use crate::transform::nest::mode::VECTORIZE;
use crate::transform::nest::unroll_and_jam::UNROLL_AND_JAM;
use crate::transform::{Op, apply};
use crate::trial::{Ranking, Variant};

/// Says once in a session what makes vectors possible. It does so if the fastest variant spends its
/// innermost loop on a floating-point sum whose order rules out vectors. A loop over neighboring
/// elements comes first, then a tensor for the sums, then several sums at once, and last sums in
/// another order.
pub(super) fn hint(bench: &Bench, variants: &[Variant], ranking: &Ranking) {
    let rows = variants.iter().zip(ranking.measured());
    let Some((fastest, row)) = rows.min_by_key(|(_, row)| row.timing.median) else {
        return;
    };
    let found = fastest.nests.iter().find_map(|nest| {
        let mut trees = nest.trees().iter();
        Some((
            nest,
            trees.find_map(|tree| innermost(tree, &locals(nest), &mut Vec::new()))?,
        ))
    });
    let (is_wanted, control) = {
        let bench = bench.lock();
        let is_strict = bench.reductions() == Reductions::Strict;
        (is_strict && !bench.explains_order, bench.control.clone())
    };
    let (Some((nest, sum)), true) = (found, is_wanted) else {
        return;
    };
    let forecast = Forecast::of(&control);
    if forecast.is_bound_by_data(&fastest.nests) {
        return;
    }
    let (kind, name) = (sum.kind, sum.name.as_str());
    let advice = if let Some(other) = across(nest, &sum) {
        format!(
            "`interchange(\"{other}\", \"{name}\")` and `vectorize(\"{other}\")` compute neighboring \
             elements at once, in the same order"
        )
    } else if sum.is_local {
        format!(
            "its own tensor for the {kind}, as in `let t = stored(…)`, gives it loops that can be \
             reordered"
        )
    } else if let Some((other, count)) = beside(nest, &sum, &forecast) {
        format!(
            "`unroll_and_jam(\"{other}\", {count})` computes {count} {kind}s at once, each in the same \
             order"
        )
    } else {
        format!(
            "`reductions(\"reassoc\")` allows partial {kind}s, as rfactor and schedules::reduction \
             make them"
        )
    };
    let mut bench = bench.lock();
    bench.explains_order = true;
    bench.print_notes(&format!(
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
    /// Whether its target is a number that is local to the nest.
    is_local: bool,
}

fn locals(nest: &Nest) -> Vec<Tensor> {
    let trees = nest.trees().iter();
    trees.flat_map(Tree::locals).cloned().collect()
}

fn innermost(tree: &Tree, locals: &[Tensor], around: &mut Vec<Name>) -> Option<Sum> {
    let Tree::Loop(l) = tree else {
        return None;
    };
    if l.is_vector() || l.range.within.is_some() {
        return None;
    }
    if l.body.iter().any(|t| matches!(t, Tree::Loop(_))) {
        around.push(l.name.clone());
        let found = l
            .body
            .iter()
            .find_map(|tree| innermost(tree, locals, around));
        around.pop();
        return found;
    }
    let sum = |statement: &Stmt| {
        Some(Sum {
            kind: kind(l, statement)?,
            name: l.name.clone(),
            around: around.clone(),
            statement: statement.clone(),
            is_local: statement.target.shape().rank() == 0 && locals.contains(&statement.target),
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
        let moved = step(&INTERCHANGE, nest, [named(other), named(&sum.name)]);
        let planned = moved.and_then(|nest| step(&VECTORIZE, &nest, [named(other)]));
        planned.is_some_and(is_legal)
    };
    let mut targets = sum.over_targets();
    targets.find(|other| has_neighbors(&sum.statement, other) && is_legal(other))
}

/// The loop over other elements whose sums can be computed beside each other, and how many, if the
/// cost model expects a gain.
fn beside<'s>(nest: &Nest, sum: &'s Sum, forecast: &Forecast) -> Option<(&'s Name, i64)> {
    let alone = forecast.seconds(std::slice::from_ref(nest))?;
    let of_loop = |other: &'s Name| {
        let plan = |count: i64| {
            let arguments = [named(other), Arg::Int(count)];
            let plan = step(&UNROLL_AND_JAM, nest, arguments)?;
            let seconds = forecast.seconds(std::slice::from_ref(&plan))?;
            (seconds < WORTH * alone && is_legal(plan)).then_some((seconds, (other, count)))
        };
        let plans = COUNTS.into_iter().filter_map(plan);
        plans.min_by(|a, b| a.0.total_cmp(&b.0))
    };
    let found = sum.over_targets().find_map(of_loop)?;
    Some(found.1)
}

/// How many sums are tried beside each other. The cost model chooses for the machine.
const COUNTS: [i64; 3] = [2, 4, 8];

/// A step is proposed below this share of the time.
const WORTH: f64 = 0.8;

fn named(name: &Name) -> Arg {
    Arg::Loop(LoopRef::Name(name.to_string()))
}

/// The nest after a step; `None` if it is refused.
fn step(op: &'static Op, nest: &Nest, arguments: impl IntoIterator<Item = Arg>) -> Option<Nest> {
    let nest = std::iter::once(Arg::Nest(nest.clone()));
    let all: Vec<Arg> = nest.chain(arguments).collect();
    apply(op, &all, None).ok()?.nest().ok()
}

fn is_legal(plan: Nest) -> bool {
    matches!(legality::check(&[plan], Reductions::Strict), Verdict::Legal)
}

impl Sum {
    /// The loops around it that move its target, the innermost first.
    fn over_targets(&self) -> impl Iterator<Item = &Name> {
        let moves = |other: &&Name| {
            let mut index = self.statement.index.iter();
            index.any(|index| index.mentions(other))
        };
        self.around.iter().rev().filter(moves)
    }
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
