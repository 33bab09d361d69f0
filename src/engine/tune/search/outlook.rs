//! What searches see, and what they propose.

use crate::tune::space::{ConfigIndex, Halt, Space};
use crate::tune::value::Point;
use std::collections::HashSet;

/// Proposes points.
pub trait Search {
    /// Adds points that were not tried, until there are enough or no more.
    ///
    /// # Errors
    /// A function of the space failed.
    fn fill(&mut self, outlook: &mut Outlook<'_, '_>, proposed: &mut Proposed) -> Result<(), Halt>;

    /// At most `count` points that were not tried; none if there are no more.
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

/// Says how many seconds a point should take.
pub type Predict<'a> = dyn FnMut(&ConfigIndex, &Point) -> Result<Option<f64>, Halt> + 'a;

/// What a search sees.
pub struct Outlook<'a, 's> {
    /// Where it searches.
    pub space: &'a Space<'s>,
    /// What was tried.
    pub history: &'a History,
    /// The seconds that a cost model expects of a point; `None` if it is refused or nothing is
    /// known of it.
    pub predict: &'a mut Predict<'a>,
    /// Whether proposing has taken the time that it may: the points that were found have to do.
    pub hurry: &'a dyn Fn() -> bool,
}

/// What was tried.
#[derive(Debug, Default)]
pub struct History {
    /// The digits of each point, and the seconds that it takes; `None` where it has no time.
    pub tried: Vec<(ConfigIndex, Option<f64>)>,
    seen: HashSet<ConfigIndex>,
}

impl History {
    /// Adds a point.
    pub fn add(&mut self, digits: ConfigIndex, seconds: Option<f64>) {
        self.seen.insert(digits.clone());
        self.tried.push((digits, seconds));
    }

    /// The points that have times, the fastest first.
    pub fn fastest(&self) -> Vec<(&ConfigIndex, f64)> {
        let timed = self.tried.iter();
        let mut timed: Vec<(&ConfigIndex, f64)> =
            timed.filter_map(|(d, s)| Some((d, (*s)?))).collect();
        timed.sort_by(|a, b| a.1.total_cmp(&b.1));
        timed
    }
}

/// Points to be proposed: in the space, not tried, and each once.
pub struct Proposed {
    pub(super) most: usize,
    pub(super) digits: Vec<ConfigIndex>,
    seen: HashSet<ConfigIndex>,
}

impl Proposed {
    /// Nothing yet, and room for `most` points.
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

    /// Adds a point, if there is room and it can be proposed.
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
