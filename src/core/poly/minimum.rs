//! The lexicographic minimum of a piece whose variables are all bounded below: the dual simplex
//! method with branch and bound, in exact arithmetic. isl takes over if numbers become too large or
//! steps too many.
//!
//! Each row is a variable or a constraint in terms of the columns, which are nonnegative. The
//! columns are and stay lexicographically positive in the rows of the variables. So the first
//! solution found is the lexicographically first one. If one of its variables is a fraction, the
//! search branches. One branch bounds the variable by the integer below, the other by the integer
//! above. No integer point precedes the fractional minimum, which prunes most branches.
//!
//! Source: Feautrier, Parametric Integer Programming, RAIRO 1988; Land and Doig, An Automatic
//! Method of Solving Discrete Programming Problems, Econometrica 1960.

use super::notation::Rows;
use std::cmp::Ordering;

/// The most pivots.
const MAX_STEPS: usize = 5_000;

/// The value of a variable or a constraint. `denominator` times it is the sum of `numbers` times
/// the columns; the last number is the constant.
#[derive(Clone)]
struct Row {
    denominator: i64,
    numbers: Vec<i64>,
}

#[derive(Clone)]
struct Tableau {
    /// The number of rows that are variables. They come first, in the order in which they are
    /// minimized.
    variables: usize,
    rows: Vec<Row>,
}

/// The result of the search.
pub(super) enum First {
    Point(Vec<i64>),
    /// There is no point.
    Empty,
    Unknown,
}

/// The lexicographically first integers that satisfy all constraints.
pub(super) fn first(rows: &Rows) -> First {
    let Some((tableau, least)) = Tableau::of(rows) else {
        return First::Unknown;
    };
    let Some(found) = tableau.first() else {
        return First::Unknown;
    };
    let Some(above) = found else {
        return First::Empty;
    };
    let values = above
        .iter()
        .zip(&least)
        .map(|(above, least)| above.checked_add(*least));
    values
        .collect::<Option<_>>()
        .map_or(First::Unknown, First::Point)
}

impl Tableau {
    /// Rewrites the constraints in the offsets of variables from their lower bounds. `None` if a
    /// variable has none.
    fn of(rows: &Rows) -> Option<(Tableau, Vec<i64>)> {
        let variables = rows.columns - 1;
        let mut least: Vec<Option<i64>> = vec![None; variables];
        let mut others: Vec<Vec<i128>> = Vec::new();
        for row in &rows.inequalities {
            let (constant, coefficients) = row.split_last()?;
            let mut moving = coefficients.iter().enumerate().filter(|(_, c)| **c != 0);
            match (moving.next(), moving.next()) {
                (Some((k, 1)), None) => {
                    let bound = i64::try_from(-constant).ok()?;
                    least[k] = Some(least[k].map_or(bound, |b| b.max(bound)));
                }
                _ => others.push(row.clone()),
            }
        }
        for row in &rows.equations {
            others.push(row.clone());
            others.push(row.iter().map(|c| -c).collect());
        }
        let least: Vec<i64> = least.into_iter().collect::<Option<_>>()?;
        let unit = |k: usize| Row {
            denominator: 1,
            numbers: (0..=variables).map(|c| i64::from(c == k)).collect(),
        };
        let mut all: Vec<Row> = (0..variables).map(unit).collect();
        for mut row in others {
            let (constant, coefficients) = row.split_last_mut()?;
            for (c, bound) in coefficients.iter().zip(&least) {
                *constant = constant.checked_add(c.checked_mul(i128::from(*bound))?)?;
            }
            let numbers = row.into_iter().map(|c| i64::try_from(c).ok());
            all.push(Row {
                denominator: 1,
                numbers: numbers.collect::<Option<_>>()?,
            });
        }
        let tableau = Tableau {
            variables,
            rows: all,
        };
        Some((tableau, least))
    }

    /// The first integers; inner `None` if there are none. `None` if unknown.
    fn first(self) -> Option<Option<Vec<i64>>> {
        let mut best: Option<Vec<i64>> = None;
        let mut open = vec![self];
        let mut steps = 0;
        while let Some(mut tableau) = open.pop() {
            if !tableau.solve(&mut steps)? || !tableau.comes_before(best.as_deref())? {
                continue;
            }
            let mut variables = tableau.rows[..tableau.variables].iter();
            match variables.find(|row| row.is_fraction()) {
                None => best = Some(tableau.values()),
                Some(row) => {
                    let (below, above) = (row.at_most_below()?, row.at_least_above()?);
                    let mut other = tableau.clone();
                    other.rows.push(below);
                    tableau.rows.push(above);
                    // The branch above is searched first: it mostly contains the minimum, which
                    // then prunes the other one.
                    open.extend([other, tableau]);
                }
            }
        }
        Some(best)
    }

    /// Whether there is a solution. The constants of the rows are then its values. `None` if
    /// unknown.
    fn solve(&mut self, steps: &mut usize) -> Option<bool> {
        while let Some(row) = self.rows.iter().position(|row| row.constant() < 0) {
            *steps += 1;
            if *steps > MAX_STEPS {
                return None;
            }
            match self.leaving(row)? {
                Some(column) => self.exchange(row, column)?,
                None => return Some(false),
            }
        }
        Some(true)
    }

    /// Whether the solution precedes other values lexicographically.
    fn comes_before(&self, others: Option<&[i64]>) -> Option<bool> {
        for (row, other) in self.rows.iter().zip(others.unwrap_or_default()) {
            let other = i128::from(*other).checked_mul(i128::from(row.denominator))?;
            match i128::from(row.constant()).cmp(&other) {
                Ordering::Equal => {}
                unequal => return Some(unequal == Ordering::Less),
            }
        }
        Some(others.is_none())
    }

    /// The values of the variables, which are integers.
    fn values(&self) -> Vec<i64> {
        let variables = self.rows[..self.variables].iter();
        variables
            .map(|row| row.constant() / row.denominator)
            .collect()
    }

    /// The column to exchange with a negative row. It makes the variables grow least,
    /// lexicographically. Inner `None` if there is none; `None` if numbers become too large.
    fn leaving(&self, row: usize) -> Option<Option<usize>> {
        let by = &self.rows[row].numbers;
        let mut best: Option<usize> = None;
        for column in (0..self.variables).filter(|c| by[*c] > 0) {
            let is_less = match best {
                None => true,
                Some(best) => self.grows_less(column, best, by)?,
            };
            if is_less {
                best = Some(column);
            }
        }
        Some(best)
    }

    /// Whether the variables grow less with one column than with another. Both columns are scaled
    /// so that the row grows equally.
    fn grows_less(&self, one: usize, other: usize, by: &[i64]) -> Option<bool> {
        for row in &self.rows[..self.variables] {
            let a = i128::from(row.numbers[one]).checked_mul(i128::from(by[other]))?;
            let b = i128::from(row.numbers[other]).checked_mul(i128::from(by[one]))?;
            if a != b {
                return Some(a < b);
            }
        }
        Some(false)
    }

    /// Exchanges a row with a column. `None` if numbers become too large.
    fn exchange(&mut self, row: usize, column: usize) -> Option<()> {
        let unit = Row {
            denominator: 1,
            numbers: (0..=self.variables)
                .map(|c| i64::from(c == column))
                .collect(),
        };
        let pivot = std::mem::replace(&mut self.rows[row], unit);
        let by = i128::from(pivot.numbers[column]);
        for (k, other) in self.rows.iter_mut().enumerate() {
            let times = i128::from(other.numbers[column]);
            if k == row || times == 0 {
                continue;
            }
            let mut numbers: Vec<i128> = Vec::with_capacity(other.numbers.len());
            for (own, n) in other.numbers.iter().zip(&pivot.numbers) {
                let scaled = i128::from(*own).checked_mul(by)?;
                numbers.push(scaled.checked_sub(times.checked_mul(i128::from(*n))?)?);
            }
            numbers[column] = times.checked_mul(i128::from(pivot.denominator))?;
            *other = Row::reduced(i128::from(other.denominator).checked_mul(by)?, &numbers)?;
        }
        Some(())
    }
}

impl Row {
    fn constant(&self) -> i64 {
        self.numbers.last().copied().unwrap_or(0)
    }

    /// Divides by the common factor.
    fn reduced(denominator: i128, numbers: &[i128]) -> Option<Row> {
        let mut gcd = denominator.unsigned_abs();
        for number in numbers {
            if gcd == 1 {
                break;
            }
            gcd = gcd_of(gcd, number.unsigned_abs());
        }
        let gcd = i128::try_from(gcd).ok()?;
        let numbers = numbers.iter().map(|n| i64::try_from(n / gcd).ok());
        Some(Row {
            denominator: i64::try_from(denominator / gcd).ok()?,
            numbers: numbers.collect::<Option<_>>()?,
        })
    }

    fn is_fraction(&self) -> bool {
        self.constant() % self.denominator != 0
    }

    /// The cut that bounds the row by the integer below its constant.
    fn at_most_below(&self) -> Option<Row> {
        let numbers = self.numbers[..self.numbers.len() - 1].iter();
        let over = self.constant().rem_euclid(self.denominator);
        let numbers = numbers.map(|n| n.checked_neg()).chain([Some(-over)]);
        Some(Row {
            denominator: self.denominator,
            numbers: numbers.collect::<Option<_>>()?,
        })
    }

    /// The cut that bounds the row by the integer above its constant.
    fn at_least_above(&self) -> Option<Row> {
        let missing = -(-self.constant()).rem_euclid(self.denominator);
        let mut above = self.clone();
        *above.numbers.last_mut()? = missing;
        Some(above)
    }
}

fn gcd_of(a: u128, b: u128) -> u128 {
    match b {
        0 => a,
        b => gcd_of(b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_with_large_and_small_numbers_need_few_steps() {
        // Pluto's first loop for the substitutions of ludcmp with 1000 rows: hundreds of cuts do
        // not solve it.
        let mut inequalities = vec![
            vec![0, 0, -999, -998, -1, 999, 999, 998, 1, 0],
            vec![0, 0, -999, 0, -1, 1, 999, 0, 1, 0],
            vec![0, 0, -1, 0, -1, 1, 1, 0, 1, 0],
            vec![0, 0, 2, 1, 1, -1, -2, 0, -1, 0],
            vec![0, 0, 999, 1, 1, -1, -999, 0, -1, 0],
            vec![0, 0, 999, 998, 1, -998, -999, -997, -1, 0],
            vec![1, 1, 1, 0, 1, -999, -1, 0, -1, 0],
            vec![1, 1, 999, 0, 1, -999, -999, 0, -1, 0],
            vec![2, 1, -999, -1, -1, 1, 1, 0, 1, 0],
            vec![2, 1, 0, 0, 0, -998, 0, -1, 0, 0],
            vec![2, 1, 0, 0, 0, 0, -998, -1, 0, 0],
            vec![999, 1, -999, -998, -1, 998, 998, 0, 1, 0],
            vec![999, 1, 0, 0, 0, -1, 0, -998, 0, 0],
            vec![999, 1, 0, 0, 0, 0, -1, -998, 0, 0],
            vec![999, 1, 999, 998, 1, -999, -999, -998, -1, 0],
            vec![0, 0, 1, 1, 0, 0, 0, 0, 0, -1],
            vec![0, 0, 0, 0, 0, 1, 1, 1, 0, -1],
        ];
        inequalities.extend((0..9).map(|k| (0..10).map(|c| i128::from(c == k)).collect()));
        let rows = Rows {
            columns: 10,
            inequalities,
            ..Rows::default()
        };
        let (tableau, least) = Tableau::of(&rows).unwrap();
        assert_eq!(least, [0; 9]);
        assert_eq!(
            tableau.first(),
            Some(Some(vec![0, 998, 0, 1, 0, 0, 0, 1, 0]))
        );
    }
}
