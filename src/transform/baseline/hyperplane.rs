//! One loop for several statements: Pluto's integer program.
//!
//! The candidates are affine functions φ of the iterators of each statement, with nonnegative
//! coefficients. A candidate is legal if it reverses no dependence: φ(later) - φ(first) ≥ 0. The
//! program selects the lexicographic minimum of (u, w, coefficients) among the legal ones. Here w +
//! u·n bounds all of these differences: u for each parameter n, then w. Farkas' lemma turns both
//! conditions, which range over all pairs, into linear ones on the coefficients.
//!
//! Pairs of reads, if requested, only add the bound: they are legal in any order. As in Pluto's
//! code, they are bounded from above. The paper also bounds them from below.
//!
//! Source: Bondhugula, Hartono, Ramanujam and Sadayappan, A Practical Automatic Polyhedral
//! Parallelizer and Locality Optimizer, PLDI 2008, §3.2 to §3.5.

use super::linear::complement;
use super::problem::{Dependence, Problem, Row};
use crate::poly::{Condition, Error, Linear, Piece, Relation};
use std::collections::HashSet;

/// The variables of the program, in the order of minimization. First come u and w, then for each
/// statement the coefficients and the constant. The innermost iterator's coefficient is first, so
/// that outer loops win ties.
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

    /// The variable of an iterator's coefficient.
    fn coefficient(&self, statement: usize, iterator: usize) -> Option<usize> {
        let (_, first, depth) = self.blocks.iter().find(|(s, ..)| *s == statement)?;
        Some(first + depth - 1 - iterator)
    }

    fn constant(&self, statement: usize) -> Option<usize> {
        let (_, first, depth) = self.blocks.iter().find(|(s, ..)| *s == statement)?;
        Some(first + depth)
    }

    /// The condition on an expression, applied to φ(later) - φ(first). With `bound` it is applied
    /// to u·n + w minus that difference.
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

/// An integer program over functions of the iterators of some statements.
struct Program {
    variables: Variables,
    /// The names of `variables`, and of additional variables.
    names: Vec<String>,
    /// Comparisons of 0 with a sum of multiples of variables and a constant.
    demands: Vec<(Relation, Vec<i64>, i64)>,
    /// The lower bounds of variables.
    least: Vec<Option<i64>>,
}

impl Program {
    /// A program for all functions whose difference is at least `least` for all dependences, and
    /// bounded for these and for `inputs`. It has `more` unconstrained variables after `variables`.
    fn new(
        problem: &Problem,
        group: &[usize],
        (dependences, inputs): (&[Dependence], &[Dependence]),
        (least, more): (i64, usize),
    ) -> Result<Program, Error> {
        let variables = Variables::of(problem, group);
        let mut conditions: HashSet<(Condition, i64)> = HashSet::new();
        for dependence in dependences {
            for condition in dependence.conditions()? {
                let constant = condition.coefficients.first().copied().unwrap_or(0);
                for (bound, constant) in [(false, -least * constant), (true, 0)] {
                    let translated = variables.translated(problem, dependence, condition, bound);
                    conditions.extend(translated.map(|condition| (condition, constant)));
                }
            }
        }
        for input in inputs {
            for condition in input.conditions()? {
                let translated = variables.translated(problem, input, condition, true);
                conditions.extend(translated.map(|condition| (condition, 0)));
            }
        }
        let count = variables.count + more;
        let names: Vec<String> = (0..count).map(|k| format!("v{k}")).collect();
        let mut program = Program {
            variables,
            least: vec![None; names.len()],
            names,
            demands: Vec::new(),
        };
        let mut conditions: Vec<(Condition, i64)> = conditions.into_iter().collect();
        // A fixed order makes the text, and the number of operations, reproducible.
        conditions
            .sort_unstable_by(|(a, x), (b, y)| (&a.coefficients, x).cmp(&(&b.coefficients, y)));
        for (condition, constant) in &conditions {
            let relation = if condition.is_equation {
                Relation::Equal
            } else {
                Relation::LessOrEqual
            };
            program.demand(relation, &condition.coefficients, *constant);
        }
        Ok(program)
    }

    /// Requires this comparison of 0 with a sum of multiples of variables and a constant.
    fn demand(&mut self, relation: Relation, coefficients: &[i64], constant: i64) {
        let mut coefficients = coefficients.to_vec();
        coefficients.resize(self.names.len(), 0);
        self.demands.push((relation, coefficients, constant));
    }

    /// Requires lower bounds of variables.
    fn at_least(&mut self, least: i64, variables: impl IntoIterator<Item = usize>) {
        for k in variables {
            self.least[k] = Some(least);
        }
    }

    /// Whether the first demand follows from the second one. Its sum is never less, since only
    /// nonnegative variables have greater coefficients.
    fn follows(&self, (sum, constant): (&[i64], i64), (other, less): (&[i64], i64)) -> bool {
        let grows = |k: usize| self.least[k].is_some_and(|least| least >= 0);
        let mut each = sum.iter().zip(other).enumerate();
        constant >= less && each.all(|(k, (a, b))| a == b || a > b && grows(k))
    }

    /// The demands without implied ones. The library would spend most of its time on testing each
    /// of them.
    fn needed(&self) -> Vec<(Relation, Linear)> {
        let zero = vec![0; self.names.len()];
        let mut kept: Vec<(Relation, &[i64], i64)> = Vec::new();
        for (relation, sum, constant) in &self.demands {
            let one = (sum.as_slice(), *constant);
            if *relation == Relation::LessOrEqual {
                let implied = |(r, other, less): &(Relation, &[i64], i64)| {
                    *r == Relation::LessOrEqual && self.follows(one, (other, *less))
                };
                if self.follows(one, (&zero, 0)) || kept.iter().any(implied) {
                    continue;
                }
                kept.retain(|(r, other, less)| {
                    *r != Relation::LessOrEqual || !self.follows((other, *less), one)
                });
            }
            kept.push((*relation, one.0, one.1));
        }
        let linear = |sum: &[i64], constant| {
            let terms = sum.iter().zip(&self.names).filter(|(c, _)| **c != 0);
            Linear::new(terms.map(|(c, name)| (*c, name.as_str())), constant)
        };
        let limits = self.least.iter().zip(&self.names);
        let limits = limits.filter_map(|(least, name)| {
            let sum = Linear::new([(1, name.as_str())], -(*least)?);
            Some((Relation::LessOrEqual, sum))
        });
        let kept = kept.into_iter().map(|(r, sum, c)| (r, linear(sum, c)));
        kept.chain(limits).collect()
    }

    /// The best rows, one for each statement.
    fn solved(self) -> Result<Option<Vec<Row>>, Error> {
        // The additional variables come before coefficients that may be negative. They bound these
        // coefficients, which have no other lower bound.
        let (bounds, rest) = self.names.split_at(self.variables.parameters + 1);
        let (own, more) = rest.split_at(self.variables.count - bounds.len());
        let order = bounds.iter().chain(more).chain(own);
        let all = Piece::set("", order.map(String::as_str));
        let more = more.len();
        let demands = self.needed().into_iter();
        let piece = demands.fold(all, |piece, (relation, sum)| {
            piece.constrain(0, relation, sum)
        });
        let Some(point) = piece.first()? else {
            return Ok(None);
        };
        let rows = self.variables.blocks.iter().map(|(_, first, depth)| {
            let block = &point.coordinates[first + more..=first + more + depth];
            Row {
                coefficients: block[..*depth].iter().rev().copied().collect(),
                constant: block[*depth],
            }
        });
        Ok(Some(rows.collect()))
    }
}

/// The next loop for the statements of `group`, in order. Each statement has the rows `found` and
/// gets one that is linearly independent of them, unless it is complete. The loop keeps all
/// dependences, and keeps pairs of reads close. `None` if there is none, or if all statements are
/// complete.
pub(super) fn hyperplane(
    problem: &Problem,
    group: &[usize],
    found: &[Vec<Row>],
    (dependences, inputs): (&[Dependence], &[Dependence]),
) -> Result<Option<Vec<Row>>, Error> {
    let is_complete = |s: usize| found[s].len() >= problem.statements[s].depth;
    if group.iter().all(|s| is_complete(*s)) {
        return Ok(None);
    }
    let mut program = Program::new(problem, group, (dependences, inputs), (0, 0))?;
    let count = program.variables.count;
    program.at_least(0, 0..count);
    for (statement, first, depth) in program.variables.blocks.clone() {
        if is_complete(statement) {
            continue;
        }
        let rows: Vec<&[i64]> = found[statement]
            .iter()
            .map(|r| r.coefficients.as_slice())
            .collect();
        let mut sum = vec![0; count];
        for direction in complement(&rows, depth) {
            let mut row = vec![0; count];
            for (k, c) in direction.iter().enumerate() {
                let at = first + depth - 1 - k;
                row[at] = *c;
                sum[at] += *c;
            }
            program.demand(Relation::LessOrEqual, &row, 0);
        }
        program.demand(Relation::LessOrEqual, &sum, -1);
    }
    let is_free_of_sizes = |row: &Row| {
        let mut numbers = row.coefficients.iter().chain([&row.constant]);
        numbers.all(|c| *c <= LARGEST)
    };
    let found = program.solved()?;
    Ok(found.filter(|rows| rows.iter().all(is_free_of_sizes)))
}

/// The greatest constant in a loop. Pluto treats sizes as parameters and finds no loops with
/// multiples of them. Here indices contain sizes as numbers (`v[799 - j]` in ADI).
const LARGEST: i64 = 64;

/// A function that strictly increases along all dependences. Iterations with equal values can run
/// at the same time.
pub(super) fn strict(
    problem: &Problem,
    group: &[usize],
    dependences: &[Dependence],
) -> Result<Option<Vec<Row>>, Error> {
    let mut program = Program::new(problem, group, (dependences, &[]), (1, 0))?;
    let count = program.variables.count;
    program.at_least(0, 0..count);
    program.solved()
}

/// A legal function on the other side of `face` from `side`. A multiple of `face` is the sum of
/// this function and a multiple of `side`, where both factors are at least 1.
pub(super) fn opposite(
    problem: &Problem,
    group: &[usize],
    dependences: &[Dependence],
    (face, side): (&[Row], &[Row]),
) -> Result<Option<Vec<Row>>, Error> {
    let mut program = Program::new(problem, group, (dependences, &[]), (0, 2 * group.len()))?;
    let (count, all) = (program.variables.count, program.names.len());
    program.at_least(0, 0..=program.variables.parameters);
    program.at_least(1, count..all);
    for (k, (_, first, depth)) in program.variables.blocks.clone().into_iter().enumerate() {
        program.at_least(0, [first + depth]);
        for q in 0..depth {
            let mut row = vec![0; all];
            row[first + depth - 1 - q] = 1;
            row[count + 2 * k] = -face[k].coefficients[q];
            row[count + 2 * k + 1] = side[k].coefficients[q];
            program.demand(Relation::Equal, &row, 0);
        }
    }
    program.solved()
}
