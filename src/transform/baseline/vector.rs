//! Which loop goes innermost, and which are worth to be jammed: what Pluto counts of the accesses.

use super::linear::inverse_columns;
use super::problem::{Access, Problem, Row};
use super::schedule::Schedule;

/// How far a step of one loop moves the accesses of statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Strides {
    statements: i64,
    accesses: i64,
    /// Those that go to one of the next elements.
    spatial: i64,
    /// Those that stay.
    invariant: i64,
    /// Those that stay, or go to the element before or after.
    near: i64,
    /// Accesses of the statements with the most loops, equal ones once.
    unique: i64,
    /// Those of them that stay.
    reused: i64,
}

impl Strides {
    /// Those of the loop at `depth` around statements.
    pub(super) fn of(
        problem: &Problem,
        schedule: &Schedule,
        statements: &[usize],
        depth: usize,
    ) -> Strides {
        let mut strides = Strides::default();
        let deepest = statements.iter().map(|s| problem.statements[*s].depth);
        let deepest = deepest.max();
        let mut known: Vec<(&Access, Vec<Vec<i64>>)> = Vec::new();
        for &s in statements {
            let own = problem.statements[s].depth;
            let rows: Vec<Row> = schedule.rows(s);
            // Rows that depend on those before move nothing.
            let matrix = rows.into_iter().take(own).map(|r| r.coefficients);
            let matrix: Vec<Vec<i64>> = matrix.collect();
            // How the iterators move.
            let Some(columns) = inverse_columns(&matrix) else {
                continue;
            };
            let Some(column) = columns.get(depth) else {
                continue;
            };
            strides.count(problem, s, column);
            if Some(own) != deepest {
                continue;
            }
            for access in &problem.statements[s].accesses {
                let each = columns.iter().map(|c| moved(access, c)).collect();
                if known.iter().any(|(a, m)| a.is_like(access) && *m == each) {
                    continue;
                }
                strides.unique += 1;
                strides.reused += i64::from(moved(access, column).iter().all(|c| *c == 0));
                known.push((access, each));
            }
        }
        strides
    }

    /// Those of one statement where its iterators move like this.
    pub(super) fn along(problem: &Problem, statement: usize, moved: &[i64]) -> Strides {
        let mut strides = Strides::default();
        strides.count(problem, statement, moved);
        strides
    }

    fn count(&mut self, problem: &Problem, statement: usize, column: &[i64]) {
        self.statements += 1;
        for access in &problem.statements[statement].accesses {
            let moved = moved(access, column);
            self.accesses += 1;
            match moved.split_last() {
                Some((last, others)) if others.iter().all(|c| *c == 0) => {
                    self.invariant += i64::from(*last == 0);
                    self.spatial += i64::from((1..=SHORT_STRIDE).contains(last));
                    self.near += i64::from((-1..=1).contains(last));
                }
                None => {
                    self.invariant += 1;
                    self.near += 1;
                }
                _ => {}
            }
        }
    }

    /// Whether all accesses stay or go to the next element.
    pub(super) fn all_near(self) -> bool {
        self.near == self.accesses
    }

    /// Pluto's measure of how good an innermost loop is.
    ///
    /// Source: `get_best_vectorizable_loop` of Pluto.
    pub(super) fn score(self, parallel: bool) -> i64 {
        let far = self.accesses - self.spatial - self.invariant;
        let vector = i64::from(parallel && far == 0);
        (2 * self.spatial + 4 * self.invariant + 8 * vector - 16 * far) * self.statements
    }

    /// Whether `factor` iterations side by side keep something that they share in so many
    /// registers: each loop is looked at by itself.
    ///
    /// Source: `is_unroll_jam_profitable` of Pluto.
    pub(super) fn fits_jammed(self, factor: i64, registers: i64) -> bool {
        let needed = self.unique * factor - self.reused * (factor - 1);
        self.reused > 0 && needed <= registers
    }
}

/// The greatest stride that Pluto counts as one to neighbors.
const SHORT_STRIDE: i64 = 4;

/// How far an access moves in each dimension where the iterators move like this.
fn moved(access: &Access, column: &[i64]) -> Vec<i64> {
    let dimensions = access.moves.iter();
    let moved = dimensions.map(|dimension| {
        let terms = dimension.iter().zip(column);
        terms.map(|(a, b)| a * b).sum::<i64>()
    });
    moved.collect()
}
