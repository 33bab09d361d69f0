//! Makes nests of points: those of a search, or a few of a space without a search.

use super::outcome::Ended;
use super::search::{History, Outlook, Strategy};
use super::space::{ConfigIndex, Halt, Space};
use super::value::Point;
use crate::ir::Nest;
use std::collections::BTreeMap;

/// The result of making a point.
#[derive(Clone, Debug)]
pub enum Made {
    Nests(Vec<Nest>),
    /// An operation refuses the point.
    Refused(String),
}

/// Makes nests of points, and predicts their times.
pub trait Maker {
    /// The nests of a point.
    ///
    /// # Errors
    /// The script fails.
    fn make(&mut self, point: &Point) -> Result<Made, Halt>;

    /// The predicted seconds of nests.
    fn predict(&mut self, nests: &[Nest]) -> Option<f64>;
}

/// So many points for each one that is wanted are proposed at most: most may be refused.
pub(super) const PROPOSALS: usize = 40;

/// Points that have nests.
#[derive(Default)]
struct Found {
    points: Vec<(Point, Vec<Nest>)>,
    refused: BTreeMap<String, usize>,
}

impl Found {
    /// Adds the point of these digits, if it has nests.
    fn add(
        &mut self,
        space: &Space<'_>,
        maker: &mut dyn Maker,
        digits: &ConfigIndex,
    ) -> Result<(), Halt> {
        if let Some((_, point)) = space.point(digits)? {
            match maker.make(&point)? {
                Made::Nests(nests) => self.points.push((point, nests)),
                Made::Refused(why) => *self.refused.entry(why).or_default() += 1,
            }
        }
        Ok(())
    }

    fn some(self) -> Result<Vec<(Point, Vec<Nest>)>, Ended> {
        if self.points.is_empty() {
            Err(Ended::Refused(self.refused))
        } else {
            Ok(self.points)
        }
    }
}

/// The first `count` points in the order of the space that have nests.
///
/// # Errors
/// The script fails, or no point has nests.
pub fn first(
    space: &Space<'_>,
    maker: &mut dyn Maker,
    count: usize,
) -> Result<Vec<(Point, Vec<Nest>)>, Ended> {
    let mut found = Found::default();
    let mut digits = Some(space.first());
    while let Some(current) = digits.filter(|_| found.points.len() < count) {
        found.add(space, maker, &current)?;
        digits = space.after(&current)?;
    }
    found.some()
}

/// Random points that have nests, `count` of them if there are so many.
///
/// # Errors
/// As [`first`].
pub fn sample(
    space: &Space<'_>,
    maker: &mut dyn Maker,
    count: usize,
) -> Result<Vec<(Point, Vec<Nest>)>, Ended> {
    let mut found = Found::default();
    let mut history = History::default();
    let mut search = Strategy::Random.search(0);
    for _ in 0..PROPOSALS {
        let mut outlook = Outlook {
            space,
            history: &history,
            predict: &mut |_, _| Ok(None),
            hurry: &|| false,
        };
        let batch = search.propose(&mut outlook, count)?;
        if batch.is_empty() || found.points.len() >= count {
            break;
        }
        for digits in batch {
            found.add(space, maker, &digits)?;
            history.add(digits, None);
        }
    }
    found.points.truncate(count);
    found.some()
}
