//! One loop for several statements: Pluto's integer program.
//!
//! Of all affine functions φ of the iterators of each statement, with coefficients that are not
//! negative, those are legal for which no dependence goes back, φ(later) - φ(first) ≥ 0. Of these
//! the lexicographic minimum of (u, w, coefficients) is taken, where u·n + w bounds all of these
//! differences: u for each parameter n, then w. Farkas' lemma turns both conditions, which hold
//! for all pairs, into linear ones on the coefficients.
//!
//! Source: Bondhugula, Hartono, Ramanujam and Sadayappan, A Practical Automatic Polyhedral
//! Parallelizer and Locality Optimizer, PLDI 2008, §3.2 to §3.5.

use super::linear::complement;
use super::problem::{Dependence, Problem, Row};
use crate::poly::{Condition, Error, Linear, Piece, Relation, Set};
use std::collections::HashSet;

/// The variables of the program, in the order in which they are minimized: u, w, then for each
/// statement the coefficients, the innermost iterator's first, so that outer loops are preferred
/// where nothing else decides, and the constant.
struct Variables {
    parameters: usize,
    /// The statement, the number of its first variable, and its depth.
    blocks: Vec<(usize, usize, usize)>,
    count: usize,
}

impl Variables {
    fn of(problem: &Problem, group: &[usize]) -> Variables {
        let mut count = problem.parameters + 1;
        let mut blocks = Vec::with_capacity(group.len());
        for &statement in group {
            let depth = problem.statements[statement].depth;
            blocks.push((statement, count, depth));
            count += depth + 1;
        }
        Variables {
            parameters: problem.parameters,
            blocks,
            count,
        }
    }

    /// The variable of the coefficient of an iterator.
    fn coefficient(&self, statement: usize, iterator: usize) -> Option<usize> {
        let (_, first, depth) = self.blocks.iter().find(|(s, ..)| *s == statement)?;
        Some(first + depth - 1 - iterator)
    }

    fn constant(&self, statement: usize) -> Option<usize> {
        let (_, first, depth) = self.blocks.iter().find(|(s, ..)| *s == statement)?;
        Some(first + depth)
    }

    /// What a condition says if its expression is φ(later) - φ(first), or with `bound` what that
    /// leaves of u·n + w.
    fn translated(
        &self,
        problem: &Problem,
        dependence: &Dependence,
        condition: &Condition,
        bound: bool,
    ) -> Option<Condition> {
        let sign = if bound { -1 } else { 1 };
        let mut coefficients = vec![0; self.count];
        let (first, later) = (dependence.first, dependence.later);
        let (constant, rest) = condition.coefficients.split_first()?;
        let (of_parameters, of_iterators) = rest.split_at_checked(self.parameters)?;
        let depth = problem.statements[first].depth;
        let (of_first, of_later) = of_iterators.split_at_checked(depth)?;
        coefficients[self.constant(later)?] += sign * constant;
        coefficients[self.constant(first)?] -= sign * constant;
        for (k, c) in of_first.iter().enumerate() {
            coefficients[self.coefficient(first, k)?] -= sign * c;
        }
        for (k, c) in of_later.iter().enumerate() {
            coefficients[self.coefficient(later, k)?] += sign * c;
        }
        if bound {
            coefficients[self.parameters] += constant;
            for (k, c) in of_parameters.iter().enumerate() {
                coefficients[k] += c;
            }
        }
        Some(Condition {
            coefficients,
            is_equation: condition.is_equation,
        })
    }
}

/// The next loop for the statements of `group`, in order, each of which has the rows `found` and
/// gets one that is linearly independent of them. `None` where there is none.
pub(super) fn hyperplane(
    problem: &Problem,
    group: &[usize],
    found: &[Vec<Row>],
    dependences: &[Dependence],
) -> Result<Option<Vec<Row>>, Error> {
    let variables = Variables::of(problem, group);
    let mut conditions: HashSet<Condition> = HashSet::new();
    for dependence in dependences {
        for condition in &dependence.conditions {
            for bound in [false, true] {
                let translated = variables.translated(problem, dependence, condition, bound);
                conditions.extend(translated);
            }
        }
    }
    let names: Vec<String> = (0..variables.count).map(|k| format!("v{k}")).collect();
    let linear = |coefficients: &[i64], constant: i64| {
        let terms = coefficients.iter().zip(&names).filter(|(c, _)| **c != 0);
        Linear::new(terms.map(|(c, name)| (*c, name.as_str())), constant)
    };
    let mut piece = Piece::set("", names.iter().map(String::as_str));
    for name in &names {
        piece = piece.constrain(0, Relation::LessOrEqual, name.as_str());
    }
    let mut conditions: Vec<Condition> = conditions.into_iter().collect();
    // The same text every time, and with it the same number of operations.
    conditions.sort_unstable_by(|a, b| a.coefficients.cmp(&b.coefficients));
    for condition in &conditions {
        let relation = match condition.is_equation {
            true => Relation::Equal,
            false => Relation::LessOrEqual,
        };
        piece = piece.constrain(0, relation, linear(&condition.coefficients, 0));
    }
    for (statement, first, depth) in &variables.blocks {
        let rows: Vec<&[i64]> = found[*statement]
            .iter()
            .map(|r| r.coefficients.as_slice())
            .collect();
        let mut sum = vec![0; variables.count];
        for direction in complement(&rows, *depth) {
            let mut row = vec![0; variables.count];
            for (k, c) in direction.iter().enumerate() {
                let at = first + depth - 1 - k;
                row[at] = *c;
                sum[at] += *c;
            }
            piece = piece.constrain(0, Relation::LessOrEqual, linear(&row, 0));
        }
        piece = piece.constrain(0, Relation::LessOrEqual, linear(&sum, -1));
    }
    let Some(point) = Set::new(&[piece])?.lexmin()?.sample()? else {
        return Ok(None);
    };
    let rows = variables.blocks.iter().map(|(_, first, depth)| {
        let block = &point.coordinates[*first..=first + depth];
        Row {
            coefficients: block[..*depth].iter().rev().copied().collect(),
            constant: block[*depth],
        }
    });
    Ok(Some(rows.collect()))
}
