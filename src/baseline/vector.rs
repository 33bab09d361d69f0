//! Which loop goes innermost: what Pluto counts of the accesses.

use super::linear::inverse_columns;
use super::problem::{Problem, Row};
use super::schedule::Schedule;

/// How far a step of one loop moves the accesses of statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Strides {
    accesses: i64,
    /// Those that go to the next element.
    spatial: i64,
    /// Those that stay.
    invariant: i64,
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
        for &s in statements {
            let rows: Vec<Row> = schedule.rows(s);
            let matrix: Vec<Vec<i64>> = rows.into_iter().map(|r| r.coefficients).collect();
            // How the iterators move.
            let Some(columns) = inverse_columns(&matrix) else {
                continue;
            };
            let Some(column) = columns.get(depth) else {
                continue;
            };
            strides.count(problem, s, column);
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
        for access in &problem.statements[statement].accesses {
            let moved = access.iter().map(|dimension| {
                let terms = dimension.iter().zip(column);
                terms.map(|(a, b)| a * b).sum::<i64>()
            });
            let moved: Vec<i64> = moved.collect();
            self.accesses += 1;
            match moved.split_last() {
                Some((last, others)) if others.iter().all(|c| *c == 0) => match last {
                    0 => self.invariant += 1,
                    1 | -1 => self.spatial += 1,
                    _ => {}
                },
                None => self.invariant += 1,
                _ => {}
            }
        }
    }

    /// Whether all accesses stay or go to the next element.
    pub(super) fn all_near(self) -> bool {
        self.spatial + self.invariant == self.accesses
    }

    /// Pluto's measure of how good an innermost loop is.
    ///
    /// Source: `get_best_vectorizable_loop` and `pluto_intra_tile_optimize_band` of Pluto.
    pub(super) fn score(self, parallel: bool) -> i64 {
        let far = self.accesses - self.spatial - self.invariant;
        let vector = i64::from(parallel && self.all_near());
        2 * self.spatial + 4 * self.invariant + 8 * vector - 16 * far
    }
}
