//! `simplify` finds the equivalent expression with the fewest operations.
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
//! Sums distribute over products and sums, in both directions. Factors leave sums over iterators
//! that do not index them. A sum over iterators that do not index its operand is a multiple (TeIL
//! eq. 5). Such a product is a power, and such a minimum or maximum is its operand. Products and sums are commutative and associative. An e-graph holds all equivalent
//! expressions side by side, up to a limit. The one with the fewest operations is taken; among
//! several, the one with the fewest elements of intermediate sums.
//!
//! Legal if sums may be rounded in other places; the caller decides that. Nothing is divided out or
//! cancelled, so that no NaN or infinity is lost. A minimum or maximum of NaNs alone, which ignores
//! them, may become a NaN.
//!
//! Rules of a user run beside these: `rule("exp(a)*exp(b)", "exp(a + b)")`.
//!
//! Refuses: nothing. All other reductions, and sums over ranges that depend on others, stay as they
//! are with all that is inside of them.
//!
//! Source: TeIL, §3.6, eqs. 3 to 5; Willsey et al., egg: Fast and Extensible Equality Saturation,
//! 2021.

mod idle;
mod language;
mod pattern;
mod rules;
mod same;
mod steps;
mod trees;

pub use self::pattern::{NoRule, Rule};
pub use self::same::{composed, proves_equal};

use self::language::{Algebra, Count, Facts};
use self::trees::{Reader, written};
use super::tensor::with_shapes;
use crate::analysis::program::with_outputs;
use crate::analysis::shape;
use crate::analysis::work::flops;
use crate::ir::{Expr, Node, Program, Variable};
use crate::lower::build::build;
use crate::lower::explicit;
use egg::{EGraph, Extractor, RecExpr};

/// The assignments that compute `assignment` with the fewest operations found; it comes last
/// itself. Without savings it is the only one. `taken` are labels of other tensors, and `rules` are
/// those of a user, which are believed.
#[must_use]
pub fn simplified(assignment: &Expr, rules: &[Rule], taken: &mut Vec<String>) -> Vec<Expr> {
    let plain = vec![assignment.clone()];
    let simple = one(&idle::without_idle(assignment), rules);
    if simple == *assignment {
        return plain;
    }
    let before = taken.len();
    let steps = steps::steps(&simple, taken);
    // A nest computes equal sums once, which terms alone do not show.
    match operations(&steps).zip(operations(&plain)) {
        Some((new, old)) if new < old => steps,
        _ => {
            taken.truncate(before);
            plain
        }
    }
}

/// The operations of the assignments' nests; `None` if one cannot be built.
fn operations(assignments: &[Expr]) -> Option<f64> {
    let each = assignments.iter();
    each.map(|assignment| flops(&build(assignment).ok()?)).sum()
}

/// The program whose assignments are simplified, with new temporaries.
#[must_use]
pub fn simplified_program(program: &Program, rules: &[Rule]) -> Program {
    let mut variables = with_outputs(program);
    let mut taken: Vec<String> = Vec::new();
    taken.extend(variables.iter().map(|v| v.tensor.label().to_owned()));
    let mut assignments = Vec::new();
    for assignment in program.assignments() {
        let steps = simplified(assignment, rules, &mut taken);
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

/// The assignment with the fewest operations found.
fn one(assignment: &Expr, rules: &[Rule]) -> Expr {
    let Some(value) = best(assignment, rules) else {
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
        let made = assignment.with_value(value);
        with_shapes(&made).ok().filter(same_ranges)
    };
    // Ranges are written only if they do not follow from the indexed tensors.
    let [plain, given] = value;
    let is_right = |made: &Expr| trees::has_ranges_of(made, &given);
    let short = with(plain).filter(is_right);
    let made = short.or_else(|| with(given.clone()));
    made.unwrap_or_else(|| assignment.clone())
}

/// The best value, without ranges of sums and with them; `None` if it equals the given value.
fn best(assignment: &Expr, rules: &[Rule]) -> Option<[Expr; 2]> {
    // Two sums may give one name to iterators with different ranges.
    let whole = explicit(assignment).ok()?;
    let Node::Assign { value, .. } = whole.node() else {
        return None;
    };
    let ranges = shape::all_ranges(&whole).ok()?;
    let mut reader = Reader::new(value, &ranges);
    let start: RecExpr<Algebra> = reader.read(value);
    let facts: Facts = reader.facts()?;
    let mut egraph = EGraph::new(facts);
    let root = egraph.add_expr(&start);
    egraph.rebuild();
    let egraph = rules::saturated(egraph, rules);
    let before = Count::of(&egraph, &start);
    let (cost, found) = Extractor::new(&egraph, Count(&egraph)).find_best(root);
    (cost < before).then(|| [false, true].map(|ranges| written(&found, &egraph.analysis, ranges)))
}
