//! The input and the output of searches.

use crate::tune::space::{ConfigIndex, Halt, Space};
use crate::tune::value::Point;
use std::collections::HashSet;

pub trait Search {
    /// Adds new points until there are enough or none are left.
    ///
    /// # Errors
    /// A function of the space failed.
    fn fill(&mut self, outlook: &mut Outlook<'_, '_>, proposed: &mut Proposed) -> Result<(), Halt>;

    /// At most `count` new points; an empty list if none are left.
    ///
    /// # Errors
    /// As [`fill`](Search::fill).
    fn propose(
        &mut self,
        outlook: &mut Outlook<'_, '_>,
        count: usize,
    ) -> Result<Vec<ConfigIndex>, Halt> {
        let mut proposed = Proposed::new(count);
        self.fill(outlook, &mut proposed)?;
        Ok(proposed.digits)
    }
}

/// Predicts the seconds of a point.
pub type Predict<'a> = dyn FnMut(&ConfigIndex, &Point) -> Result<Option<f64>, Halt> + 'a;

/// The input of a search.
pub struct Outlook<'a, 's> {
    pub space: &'a Space<'s>,
    pub history: &'a History,
    /// The prediction of a cost model; `None` if the point is refused or beyond the model.
    pub predict: &'a mut Predict<'a>,
    /// Whether the time for proposing is over; the search then stops with the points it has.
    pub hurry: &'a dyn Fn() -> bool,
}

/// The trials so far.
#[derive(Debug, Default)]
pub struct History {
    /// The digits of each point with its seconds; `None` if it has no time.
    pub tried: Vec<(ConfigIndex, Option<f64>)>,
    seen: HashSet<ConfigIndex>,
}

impl History {
    pub fn add(&mut self, digits: ConfigIndex, seconds: Option<f64>) {
        self.seen.insert(digits.clone());
        self.tried.push((digits, seconds));
    }

    /// The points with times, fastest first.
    pub fn fastest(&self) -> Vec<(&ConfigIndex, f64)> {
        let timed = self.tried.iter();
        let mut timed: Vec<(&ConfigIndex, f64)> =
            timed.filter_map(|(d, s)| Some((d, (*s)?))).collect();
        timed.sort_by(|a, b| a.1.total_cmp(&b.1));
        timed
    }
}

/// New points to propose, without duplicates.
pub struct Proposed {
    pub(super) most: usize,
    pub(super) digits: Vec<ConfigIndex>,
    seen: HashSet<ConfigIndex>,
}

impl Proposed {
    /// An empty list with room for `most` points.
    pub(super) fn new(most: usize) -> Proposed {
        Proposed {
            most,
            digits: Vec::new(),
            seen: HashSet::new(),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.digits.len() >= self.most
    }

    /// Adds a point if there is room and the point is new and valid.
    pub(super) fn add(&mut self, outlook: &Outlook<'_, '_>, digits: &[u32]) -> Result<bool, Halt> {
        if self.is_full() {
            return Ok(false);
        }
        let Some((digits, _)) = outlook.space.point(digits)? else {
            return Ok(false);
        };
        let is_new = !outlook.history.seen.contains(&digits) && self.seen.insert(digits.clone());
        if is_new {
            self.digits.push(digits);
        }
        if (outlook.hurry)() {
            self.most = self.digits.len();
        }
        Ok(is_new)
    }
}
