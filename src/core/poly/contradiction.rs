//! A quick exact test of whether constraints contradict each other, by the simplex method.
//!
//! It searches for a constraint that is negative wherever the others hold. If fractions satisfy all
//! constraints, it bounds the distance between the two points of a pair in each coordinate, and
//! rounds the bounds. This shows, for example, that two iterations with a common point are in one
//! tile. The answers are certain: the test adds up the constraints that prove a contradiction or a
//! bound once more. It gives no answer if fractions remain or numbers become too large.
//!
//! It finds most empty polyhedra of legality proofs without isl.
//!
//! Source: Dutertre and de Moura, A Fast Linear-Arithmetic Solver for DPLL(T), 2006; for the
//! rounded bounds Chvátal, Edmonds Polytopes and a Hierarchy of Combinatorial Problems, 1973.

use super::linear::gcd_of;
use super::notation::Rows;
use std::ops::Range;

/// The most pivots for one bound, and the most rounds over all bounds.
const MAX_PIVOTS: usize = 500;
const MAX_ROUNDS: usize = 3;

/// A linear expression that is 0, or at least 0: the coefficients of variables, and a constant.
struct Constraint {
    numbers: Vec<i64>,
    is_equation: bool,
}

/// The meaning of a column of the tableau.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    /// An unbounded variable.
    Variable,
    /// The value of a constraint.
    Constraint(usize),
}

/// The value of a constraint or a variable in terms of the columns. `denominator` times it is the
/// sum of `numbers` times the columns; the last number is the constant.
struct Row {
    /// The number of the constraint, or of the variable.
    of: usize,
    denominator: i64,
    numbers: Vec<i64>,
}

struct Tableau {
    constraints: Vec<Constraint>,
    columns: Vec<Column>,
    rows: Vec<Row>,
    /// The variables that are not columns.
    variables: Vec<Row>,
    /// These variables, and as many after them, are the coordinates of two comparable points.
    paired: Range<usize>,
}

/// Whether no integers satisfy all constraints; `false` if unknown.
pub(super) fn contradict(rows: &Rows) -> bool {
    let equations = rows.equations.iter().map(|row| (row, true));
    let all = equations.chain(rows.inequalities.iter().map(|row| (row, false)));
    let mut constraints = Vec::new();
    for (row, is_equation) in all {
        match Constraint::of(row, is_equation) {
            Some(Some(constraint)) => constraints.push(constraint),
            Some(None) => {}
            // The constraint is a false constant.
            None => return true,
        }
    }
    // Constraints with too large numbers prove nothing.
    if constraints.iter().any(|c| c.numbers.is_empty()) {
        return false;
    }
    Tableau::of(constraints, rows)
        .contradiction()
        .unwrap_or(false)
}

impl Constraint {
    /// The constraint without common factors, tightened for integers. `None` if it never holds,
    /// inner `None` if it always does. Has no numbers if they are too large.
    fn of(row: &[i128], is_equation: bool) -> Option<Option<Constraint>> {
        // The length is known, and many rows are short-lived.
        let mut numbers = Vec::with_capacity(row.len());
        numbers.extend(row.iter().map_while(|n| i64::try_from(*n).ok()));
        if numbers.len() < row.len() {
            numbers.clear();
        }
        if let Some((constant, coefficients)) = numbers.split_last_mut() {
            let gcd = coefficients
                .iter()
                .fold(0, |gcd, c| gcd_of(gcd, c.unsigned_abs()));
            match (i64::try_from(gcd), is_equation) {
                (Ok(0), true) => return (*constant == 0).then_some(None),
                (Ok(0), false) => return (*constant >= 0).then_some(None),
                (Ok(gcd), true) if *constant % gcd != 0 => return None,
                (Ok(1), _) => {}
                (Ok(gcd), _) => {
                    coefficients.iter_mut().for_each(|c| *c /= gcd);
                    *constant = constant.div_euclid(gcd);
                }
                (Err(_), _) => numbers.clear(),
            }
        }
        Some(Some(Constraint {
            numbers,
            is_equation,
        }))
    }
}

impl Tableau {
    fn of(constraints: Vec<Constraint>, of: &Rows) -> Tableau {
        let variables = of.columns - 1;
        let rows = constraints.iter().enumerate().map(|(of, c)| Row {
            of,
            denominator: 1,
            numbers: c.numbers.clone(),
        });
        Tableau {
            rows: rows.collect(),
            constraints,
            columns: vec![Column::Variable; variables],
            variables: Vec::with_capacity(variables),
            paired: of.paired.clone(),
        }
    }

    /// Whether there is a contradiction; `None` if numbers become too large.
    fn contradiction(mut self) -> Option<bool> {
        // Constraints replace variables as columns, equations first.
        for column in 0..self.columns.len() {
            let candidates = self.rows.iter().enumerate();
            let candidates = candidates.filter(|(_, row)| row.numbers[column] != 0);
            let best = candidates.min_by_key(|(_, row)| {
                let is_equation = self.constraints[row.of].is_equation;
                (!is_equation, row.numbers[column].unsigned_abs())
            });
            if let Some((row, _)) = best {
                self.exchange(row, column)?;
                let variable = self.rows.swap_remove(row);
                self.variables.push(Row {
                    of: column,
                    ..variable
                });
            }
        }
        // The remaining equations also become columns.
        while let Some(row) = self.rows.iter().position(|row| self.is_equation(row.of)) {
            let column = self.entering(&self.rows[row], |number| number != 0);
            match column {
                Some(column) => self.exchange(row, column)?,
                None if self.rows[row].constant() != 0 => return Some(self.is_certain(row)),
                None => {
                    self.rows.swap_remove(row);
                }
            }
        }
        if let Some(contradiction) = self.restored()? {
            return Some(contradiction);
        }
        // Distances between the points of a pair are integers.
        for _ in 0..MAX_ROUNDS {
            let mut is_tighter = false;
            for k in self.paired.clone() {
                let other = k + self.paired.len();
                for sum in [[(k, 1), (other, -1)], [(k, -1), (other, 1)]] {
                    if self.tighten(&sum)? {
                        is_tighter = true;
                        if let Some(contradiction) = self.restored()? {
                            return Some(contradiction);
                        }
                    }
                }
            }
            if !is_tighter {
                break;
            }
        }
        Some(false)
    }

    /// Makes all constraints hold, or tells whether that is contradictory. Inner `None` if they
    /// hold.
    fn restored(&mut self) -> Option<Option<bool>> {
        for _ in 0..MAX_PIVOTS {
            let negative = self.rows.iter().enumerate();
            let negative = negative.filter(|(_, row)| row.constant() < 0);
            let Some((row, _)) = negative.min_by_key(|(_, row)| row.of) else {
                return Some(None);
            };
            match self.entering(&self.rows[row], |number| number > 0) {
                Some(column) => self.exchange(row, column)?,
                None => return Some(Some(self.is_certain(row))),
            }
        }
        Some(Some(false))
    }

    /// Maximizes a sum of variables. If the maximum is a fraction, adds the rounded bound as a
    /// constraint. All constraints hold.
    fn tighten(&mut self, sum: &[(usize, i64)]) -> Option<bool> {
        for _ in 0..MAX_PIVOTS {
            let row = self.sum(sum)?;
            let (constant, numbers) = row.numbers.split_last()?;
            let columns = self.columns.iter().zip(numbers);
            if columns
                .clone()
                .any(|(c, n)| *c == Column::Variable && *n != 0)
            {
                return Some(false);
            }
            if let Some(column) = self.entering(&row, |number| number > 0) {
                // The first row that would become negative.
                let falling = self.rows.iter().enumerate();
                let falling = falling.filter(|(_, r)| r.numbers[column] < 0);
                let first = falling.min_by(|(_, a), (_, b)| {
                    let limit = |r: &Row, by: &Row| {
                        i128::from(r.constant()) * i128::from(by.numbers[column].unsigned_abs())
                    };
                    limit(a, b).cmp(&limit(b, a)).then(a.of.cmp(&b.of))
                });
                match first {
                    Some((row, _)) => self.exchange(row, column)?,
                    None => return Some(false),
                }
                continue;
            }
            if constant % row.denominator == 0 {
                return Some(false);
            }
            let most = constant.div_euclid(row.denominator);
            let mut bound = vec![0; self.columns.len() + 1];
            for (variable, times) in sum {
                bound[*variable] = -times;
            }
            bound[self.columns.len()] = most;
            // The bound and its rounding are a sum of constraints.
            let mut rest: Vec<i128> = bound.iter().map(|n| i128::from(*n)).collect();
            rest.iter_mut()
                .for_each(|n| *n *= i128::from(row.denominator));
            let part = constant.rem_euclid(row.denominator);
            rest[self.columns.len()] += i128::from(part);
            for (column, number) in columns {
                if let Column::Constraint(k) = column {
                    if *number > 0 && !self.is_equation(*k) {
                        return None;
                    }
                    for (rest, n) in rest.iter_mut().zip(&self.constraints[*k].numbers) {
                        let product = i128::from(*number).checked_mul(i128::from(*n))?;
                        *rest = rest.checked_add(product)?;
                    }
                }
            }
            if rest.iter().any(|n| *n != 0) {
                return None;
            }
            let numbers = numbers.iter().map(|n| n.checked_neg());
            let numbers = numbers.chain([Some(-part)]);
            self.rows.push(Row {
                of: self.constraints.len(),
                denominator: row.denominator,
                numbers: numbers.collect::<Option<_>>()?,
            });
            self.constraints.push(Constraint {
                numbers: bound,
                is_equation: false,
            });
            return Some(true);
        }
        Some(false)
    }

    /// A sum of variables that are not columns; `None` if one is, or if numbers become too large.
    fn sum(&self, sum: &[(usize, i64)]) -> Option<Row> {
        let mut total = Row {
            of: 0,
            denominator: 1,
            numbers: vec![0; self.columns.len() + 1],
        };
        for (variable, times) in sum {
            let row = self.variables.iter().find(|row| row.of == *variable)?;
            let times = times.checked_mul(total.denominator)?;
            for (own, n) in total.numbers.iter_mut().zip(&row.numbers) {
                let scaled = own.checked_mul(row.denominator)?;
                *own = scaled.checked_add(times.checked_mul(*n)?)?;
            }
            total.denominator = total.denominator.checked_mul(row.denominator)?;
            total.reduce();
        }
        Some(total)
    }

    fn is_equation(&self, constraint: usize) -> bool {
        self.constraints[constraint].is_equation
    }

    /// The column of the first inequality whose number fits.
    fn entering(&self, row: &Row, fits: impl Fn(i64) -> bool) -> Option<usize> {
        let columns = self.columns.iter().zip(&row.numbers).enumerate();
        let fitting = columns.filter_map(|(at, (column, number))| match column {
            Column::Constraint(k) if !self.is_equation(*k) && fits(*number) => Some((*k, at)),
            _ => None,
        });
        fitting.min().map(|(_, at)| at)
    }

    /// Exchanges a row with a column. `None` if numbers become too large.
    fn exchange(&mut self, row: usize, column: usize) -> Option<()> {
        let pivot = &self.rows[row];
        let by = pivot.numbers[column];
        let sign = by.signum();
        let mut solved: Vec<i64> = pivot.numbers.iter().map(|n| -sign * n).collect();
        solved[column] = sign * pivot.denominator;
        let by = by.checked_abs()?;
        // Most numbers are 0.
        let nonzero = solved.iter().copied().enumerate();
        let nonzero: Vec<(usize, i64)> = nonzero.filter(|(_, number)| *number != 0).collect();
        let others = self.rows.iter_mut().enumerate();
        let others = others.filter_map(|(k, other)| (k != row).then_some(other));
        for other in others.chain(&mut self.variables) {
            let times = other.numbers[column];
            if times == 0 {
                continue;
            }
            other.numbers[column] = 0;
            if by != 1 {
                for number in &mut other.numbers {
                    *number = number.checked_mul(by)?;
                }
            }
            for (at, solved) in &nonzero {
                let number = &mut other.numbers[*at];
                *number = number.checked_add(times.checked_mul(*solved)?)?;
            }
            other.denominator = other.denominator.checked_mul(by)?;
            other.reduce();
        }
        let entered = self.columns[column];
        let pivot = &mut self.rows[row];
        self.columns[column] = Column::Constraint(pivot.of);
        pivot.numbers = solved;
        pivot.denominator = by;
        pivot.reduce();
        if let Column::Constraint(entered) = entered {
            pivot.of = entered;
        }
        Some(())
    }

    /// Whether the sum of constraints behind a row is correct and contradictory.
    fn is_certain(&self, row: usize) -> bool {
        let row = &self.rows[row];
        let mut sum: Vec<Option<i128>> = vec![Some(0); self.columns.len() + 1];
        let mut add = |constraint: usize, times: i64| {
            for (sum, number) in sum.iter_mut().zip(&self.constraints[constraint].numbers) {
                let product = i128::from(times) * i128::from(*number);
                *sum = sum.and_then(|sum| sum.checked_add(product));
            }
        };
        add(row.of, row.denominator);
        let mut is_negative = row.denominator > 0;
        for (column, number) in self.columns.iter().zip(&row.numbers) {
            match column {
                Column::Constraint(k) => {
                    add(*k, number.saturating_neg());
                    is_negative &= *number <= 0 || self.is_equation(*k);
                }
                Column::Variable => is_negative &= *number == 0,
            }
        }
        let constant = row.constant();
        let is_wrong = constant < 0 || constant != 0 && self.is_equation(row.of);
        let only_constant = match sum.split_last() {
            Some((last, rest)) => {
                *last == Some(i128::from(constant)) && rest.iter().all(|s| *s == Some(0))
            }
            None => false,
        };
        is_negative && is_wrong && only_constant
    }
}

impl Row {
    fn constant(&self) -> i64 {
        self.numbers.last().copied().unwrap_or(0)
    }

    /// Divides by the common factor.
    fn reduce(&mut self) {
        let mut gcd = self.denominator.unsigned_abs();
        for number in &self.numbers {
            if gcd == 1 {
                return;
            }
            gcd = gcd_of(gcd, number.unsigned_abs());
        }
        if let Ok(gcd) = i64::try_from(gcd) {
            self.denominator /= gcd;
            self.numbers.iter_mut().for_each(|n| *n /= gcd);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poly::{Linear, Piece, Relation};

    /// Tests `l <= r` for each pair, in the variables `x`, `y`, `z` and `n`.
    fn contradicts(constraints: &[(Linear, Linear)]) -> bool {
        let piece = Piece::set("", ["x", "y", "z", "n"]);
        let piece = constraints.iter().fold(piece, |piece, (left, right)| {
            piece.constrain(left.clone(), Relation::LessOrEqual, right.clone())
        });
        contradict(&Rows::of(&piece, &[]).unwrap())
    }

    fn sum(terms: &[(i64, &str)], constant: i64) -> Linear {
        Linear::new(terms.iter().copied(), constant)
    }

    #[test]
    fn a_later_iteration_is_in_no_earlier_block() {
        // x and y are blocks of 32 iterations: z is in x, n is in y, and z precedes n.
        let blocks = [
            (sum(&[(32, "x")], 0), sum(&[(1, "z")], 0)),
            (sum(&[(1, "z")], 0), sum(&[(32, "x")], 31)),
            (sum(&[(32, "y")], 0), sum(&[(1, "n")], 0)),
            (sum(&[(1, "n")], 0), sum(&[(32, "y")], 31)),
            (sum(&[(1, "z")], 1), sum(&[(1, "n")], 0)),
        ];
        let earlier = (sum(&[(1, "y")], 1), sum(&[(1, "x")], 0));
        assert!(!contradicts(&blocks));
        assert!(contradicts(&[&blocks[..], &[earlier]].concat()));
    }

    #[test]
    fn numbers_that_are_too_large_show_nothing() {
        let large = i64::MAX / 3;
        let never = |c: i64| {
            contradicts(&[
                (sum(&[(c, "x"), (c - 1, "y")], 1), sum(&[], 0)),
                (sum(&[(c - 2, "y")], 0), sum(&[(c, "z")], -7)),
                (sum(&[], 1), sum(&[(c, "x"), (c - 1, "y")], 0)),
                (sum(&[(c - 1, "z")], 0), sum(&[(c - 5, "y"), (3, "n")], 0)),
            ])
        };
        assert!(never(5));
        assert!(!never(large));
    }

    #[test]
    fn equations_without_integers_contradict() {
        let piece = Piece::set("", ["x", "y"]);
        let odd = Linear::new([(2, "x"), (-4, "y")], 0);
        let piece = piece.constrain(odd, Relation::Equal, 3);
        assert!(contradict(&Rows::of(&piece, &[]).unwrap()));
        let both = Piece::set("", ["x"])
            .constrain("x", Relation::Equal, 3)
            .constrain("x", Relation::Equal, 4);
        assert!(contradict(&Rows::of(&both, &[]).unwrap()));
    }
}
