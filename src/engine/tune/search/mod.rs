//! Searches: choose the points of a space to try next.
//!
//! A search sees the trials so far and proposes new points. It depends only on its seed and the
//! history, so that the same seed and the same times give the same points.

mod evolution;
mod exhaustive;
mod hill;
mod model;
mod outlook;
mod random;

pub use outlook::{History, Outlook, Predict, Search};

use super::rng::Rng;

/// The search strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// All points, in order.
    Exhaustive,
    /// Random points.
    Random,
    /// The neighbors of the best point; random points if there are none left.
    Hill,
    /// Crossings and mutations of the best points.
    Evolution,
    /// The points that a cost model predicts to be fast, corrected by measured times.
    Model,
}

impl Strategy {
    /// All strategies, with their names in scripts.
    pub const NAMES: [(&str, Strategy); 5] = [
        ("exhaustive", Strategy::Exhaustive),
        ("random", Strategy::Random),
        ("hill", Strategy::Hill),
        ("evolution", Strategy::Evolution),
        ("model", Strategy::Model),
    ];

    pub fn from_name(name: &str) -> Option<Strategy> {
        let found = Strategy::NAMES.iter().find(|(n, _)| *n == name);
        found.map(|(_, strategy)| *strategy)
    }

    pub fn name(self) -> &'static str {
        let found = Strategy::NAMES.iter().find(|(_, s)| *s == self);
        found.map_or("", |(name, _)| name)
    }

    pub fn search(self, seed: u64) -> Box<dyn Search> {
        let rng = Rng::new(seed);
        match self {
            Strategy::Exhaustive => Box::new(exhaustive::Exhaustive::default()),
            Strategy::Random => Box::new(random::Random::new(rng)),
            Strategy::Hill => Box::new(hill::Hill::new(rng)),
            Strategy::Evolution => Box::new(evolution::Evolution::new(rng)),
            Strategy::Model => Box::new(model::Model::new(rng, seed)),
        }
    }
}
