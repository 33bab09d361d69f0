//! Pluto's access counts, which choose the innermost loop and the loops to jam.

use super::linear::inverse_columns;
use super::problem::{Access, Problem, Row};
use super::schedule::Schedule;

/// The strides of the accesses of statements along one loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Strides {
    statements: i64,
    accesses: i64,
    /// Accesses with a short stride.
    spatial: i64,
    /// Invariant accesses.
    invariant: i64,
    /// Accesses that are invariant or have a stride of 1 or -1.
    near: i64,
    /// Distinct accesses of the statements with the most loops.
    unique: i64,
    /// Invariant ones among these.
    reused: i64,
}

impl Strides {
    /// The strides along the loop at `depth` around statements.
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
            // Linearly dependent rows move nothing.
            let matrix = rows.into_iter().take(own).map(|r| r.coefficients);
            let matrix: Vec<Vec<i64>> = matrix.collect();
            // The movement of the iterators in a step of each loop.
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

    /// The strides of one statement if its iterators move like this.
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

    /// Whether all accesses are invariant or have a stride of 1 or -1.
    pub(super) fn all_near(self) -> bool {
        self.near == self.accesses
    }

    /// Pluto's score of an innermost loop.
    ///
    /// Source: `get_best_vectorizable_loop` of Pluto.
    pub(super) fn score(self, parallel: bool) -> i64 {
        let far = self.accesses - self.spatial - self.invariant;
        let vector = i64::from(parallel && far == 0);
        (2 * self.spatial + 4 * self.invariant + 8 * vector - 16 * far) * self.statements
    }

    /// Whether `factor` jammed iterations share accesses and fit in this many registers. Each loop
    /// is considered alone.
    ///
    /// Source: `is_unroll_jam_profitable` of Pluto.
    pub(super) fn fits_jammed(self, factor: i64, registers: i64) -> bool {
        let needed = self.unique * factor - self.reused * (factor - 1);
        self.reused > 0 && needed <= registers
    }
}

/// The greatest stride that Pluto counts as spatial.
const SHORT_STRIDE: i64 = 4;

/// The stride of an access in each dimension if the iterators move like this.
fn moved(access: &Access, column: &[i64]) -> Vec<i64> {
    let dimensions = access.moves.iter();
    let moved = dimensions.map(|dimension| {
        let terms = dimension.iter().zip(column);
        terms.map(|(a, b)| a * b).sum::<i64>()
    });
    moved.collect()
}
