//! The lexicographically first point of a piece whose variables all have a least value: the dual
//! simplex method with cuts, exactly. isl is asked where numbers become too large, or cuts too many.
//!
//! Each row is a variable or a constraint in terms of the columns, which are at least 0. The columns
//! are lexicographically positive in the rows of the variables, and stay so, so that the first
//! solution that is found is the first one. A fraction is cut off by a constraint that all integers
//! satisfy.
//!
//! Source: Feautrier, Parametric Integer Programming, RAIRO 1988; Gomory, Outline of an Algorithm for
//! Integer Solutions to Linear Programs, 1958.

use super::contradiction::gcd_of;
use super::notation::Rows;

/// So many exchanges of a row and a column are tried, and so many cuts.
const MAX_STEPS: usize = 5_000;
const MAX_CUTS: usize = 200;

/// The value of a variable or a constraint: `denominator` times it is the sum of `numbers` times the
/// columns, and the last one of them.
#[derive(Clone)]
struct Row {
    denominator: i64,
    numbers: Vec<i64>,
}

struct Tableau {
    /// So many are variables, in the order in which they are minimized.
    variables: usize,
    rows: Vec<Row>,
}

/// What is known of the first point.
pub(super) enum First {
    Point(Vec<i64>),
    /// There is no point.
    Empty,
    Unknown,
}

/// The lexicographically first integers that satisfy all constraints.
pub(super) fn first(rows: &Rows) -> First {
    let Some((mut tableau, least)) = Tableau::of(rows) else {
        return First::Unknown;
    };
    match tableau.solve() {
        Some(true) => match tableau.point(&least) {
            Some(point) => First::Point(point),
            None => First::Unknown,
        },
        Some(false) => First::Empty,
        None => First::Unknown,
    }
}

impl Tableau {
    /// The constraints in terms of how far variables are above their least values; `None` where one
    /// has none.
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

    /// Whether there is a solution, which the constants then are; `None` where that is not known.
    fn solve(&mut self) -> Option<bool> {
        let mut cuts = 0;
        for _ in 0..MAX_STEPS {
            if let Some(row) = self.rows.iter().position(|row| row.constant() < 0) {
                match self.leaving(row)? {
                    Some(column) => self.exchange(row, column)?,
                    None => return Some(false),
                }
                continue;
            }
            let is_fraction = |row: &&Row| row.constant() % row.denominator != 0;
            let Some(row) = self.rows[..self.variables].iter().find(is_fraction) else {
                return Some(true);
            };
            let cut = row.cut();
            self.rows.push(cut);
            cuts += 1;
            if cuts > MAX_CUTS {
                return None;
            }
        }
        None
    }

    /// The column that becomes a row as a row that is negative becomes a column: the one that makes
    /// the variables grow least, lexicographically. Inner `None` if there is none; `None` where
    /// numbers become too large.
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

    /// Whether variables grow less with one column than with another, by so much of each as makes a
    /// row grow equally.
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

    /// Makes the row a column, and the column a row. `None` where numbers become too large.
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

    /// The values of the variables.
    fn point(&self, least: &[i64]) -> Option<Vec<i64>> {
        let variables = self.rows[..self.variables].iter().zip(least);
        let values =
            variables.map(|(row, least)| (row.constant() / row.denominator).checked_add(*least));
        values.collect()
    }
}

impl Row {
    fn constant(&self) -> i64 {
        self.numbers.last().copied().unwrap_or(0)
    }

    /// Without a common factor.
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

    /// What is at least 0 if the row and all columns are integers, and negative where the columns
    /// are 0.
    fn cut(&self) -> Row {
        let (constant, numbers) = (self.constant(), &self.numbers[..self.numbers.len() - 1]);
        let rest = numbers.iter().map(|n| n.rem_euclid(self.denominator));
        let missing = -(-constant).rem_euclid(self.denominator);
        Row {
            denominator: self.denominator,
            numbers: rest.chain([missing]).collect(),
        }
    }
}
