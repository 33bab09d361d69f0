//! `simplify` finds the expression with the fewest operations among all that algebra makes of one.
//!
//! ```text
//! y[i] = sum(k, l: A[i][k] * x[k] * b[l]) + sum(k, l: A[i][k] * x[k] * c[l])
//!
//! Ax[i] = sum(k: A[i][k] * x[k])
//! bc = sum(l: b[l] + c[l])
//! y[i] = Ax[i] * bc
//! ```
//!
//! Sums inside of the result become assignments of their own, so that each is computed once.
//!
//! Sums distribute over products and sums, in both directions; factors leave sums over iterators
//! that do not index them; a sum of what its iterators do not index is a multiple (TeIL eq. 5);
//! products and sums are commutative and associative. All expressions that follow are kept side by
//! side in an e-graph, up to a limit. The one with the fewest operations is taken, among several the
//! one with the fewest elements of intermediate sums.
//!
//! Legal as far as sums may be rounded in other places; whoever simplifies allows that. Nothing is
//! divided out or cancelled, so that no NaN or infinity is lost.
//!
//! Refuses: nothing. Reductions other than sums, and sums over ranges that depend on others, stay as
//! they are, and what is inside of them.
//!
//! Source: TeIL, §3.6, eqs. 3 to 5; Willsey et al., egg: Fast and Extensible Equality Saturation,
//! 2021.

mod language;
mod rules;
mod steps;
mod trees;

use self::language::{Algebra, Count, Facts};
use self::trees::{Reader, written};
use super::tensor::with_shapes;
use crate::analysis::program::with_outputs;
use crate::analysis::shape;
use crate::analysis::work::flops;
use crate::ir::{Expr, Node, Program, Variable};
use crate::lower::build::build;
use egg::{EGraph, Extractor, RecExpr};

/// The assignments that compute an assignment with the fewest operations that were found, which is
/// the last of them; itself where none are saved. `taken` are labels of other tensors.
#[must_use]
pub fn simplified(assignment: &Expr, taken: &mut Vec<String>) -> Vec<Expr> {
    let plain = vec![assignment.clone()];
    let simple = one(assignment);
    if simple == *assignment {
        return plain;
    }
    let before = taken.len();
    let steps = steps::steps(&simple, taken);
    // Equal sums are computed once in a nest, which terms alone do not show.
    match operations(&steps).zip(operations(&plain)) {
        Some((new, old)) if new < old => steps,
        _ => {
            taken.truncate(before);
            plain
        }
    }
}

/// The operations of the nests of assignments; `None` where one has none.
fn operations(assignments: &[Expr]) -> Option<f64> {
    let each = assignments.iter();
    each.map(|assignment| flops(&build(assignment).ok()?)).sum()
}

/// The program whose assignments are simplified, with new temporaries.
#[must_use]
pub fn simplified_program(program: &Program) -> Program {
    let mut variables = with_outputs(program);
    let mut taken: Vec<String> = Vec::new();
    taken.extend(variables.iter().map(|v| v.tensor.label().to_owned()));
    let mut assignments = Vec::new();
    for assignment in program.assignments() {
        let steps = simplified(assignment, &mut taken);
        let before = steps.iter().rev().skip(1).rev();
        variables.extend(before.filter_map(Expr::tensor).map(|tensor| Variable {
            tensor: tensor.clone(),
            is_input: false,
            is_output: false,
        }));
        assignments.extend(steps);
    }
    Program::new(variables, assignments)
}

/// The assignment with the fewest operations that were found.
fn one(assignment: &Expr) -> Expr {
    let Node::Assign {
        target,
        value,
        within,
        elsewhere,
    } = assignment.node()
    else {
        return assignment.clone();
    };
    let Some(value) = best(assignment, value) else {
        return assignment.clone();
    };
    let same_ranges = |made: &Expr| {
        let ranges = |expr: &Expr| {
            let mut ranges = shape::ranges(expr).ok()?;
            ranges.sort_by(|a, b| a.name.cmp(&b.name));
            Some(ranges)
        };
        ranges(made).is_some_and(|own| ranges(assignment) == Some(own))
    };
    let with = |value: Expr| {
        let made = Expr::new(Node::Assign {
            target: target.clone(),
            value,
            within: within.clone(),
            elsewhere: *elsewhere,
        });
        with_shapes(&made).ok().filter(same_ranges)
    };
    // Ranges are written only where they do not follow from what is indexed.
    let [plain, given] = value;
    let is_right = |made: &Expr| trees::has_ranges_of(made, &given);
    let short = with(plain).filter(is_right);
    let made = short.or_else(|| with(given.clone()));
    made.unwrap_or_else(|| assignment.clone())
}

/// The best value, without ranges of sums and with them; `None` where it is the one that is there.
fn best(assignment: &Expr, value: &Expr) -> Option<[Expr; 2]> {
    let ranges = shape::all_ranges(assignment).ok()?;
    let mut reader = Reader::new(value, &ranges);
    let start: RecExpr<Algebra> = reader.read(value);
    let facts: Facts = reader.facts()?;
    let mut egraph = EGraph::new(facts);
    let root = egraph.add_expr(&start);
    egraph.rebuild();
    let egraph = rules::saturated(egraph);
    let before = Count::of(&egraph, &start);
    let (cost, found) = Extractor::new(&egraph, Count(&egraph)).find_best(root);
    (cost < before).then(|| [false, true].map(|ranges| written(&found, &egraph.analysis, ranges)))
}
