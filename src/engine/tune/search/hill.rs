//! Hill climbing: the neighbors of the best point, then those of the next best one, with random
//! points among them so that the climb does not end on the first hill.

use super::outlook::{Outlook, Proposed, Search};
use super::random::Random;
use crate::tune::rng::Rng;
use crate::tune::space::{ConfigIndex, Halt};

/// Climbs from the best points.
pub struct Hill {
    rng: Rng,
    random: Random,
}

/// From how many of the best points it climbs.
const HILLS: usize = 3;

impl Hill {
    /// A climb that follows from the seed of `rng`.
    pub fn new(mut rng: Rng) -> Hill {
        let random = Random::new(Rng::new(rng.bits()));
        Hill { rng, random }
    }
}

impl Search for Hill {
    fn fill(&mut self, outlook: &mut Outlook<'_, '_>, proposed: &mut Proposed) -> Result<(), Halt> {
        let tops = outlook.history.fastest();
        let tops: Vec<ConfigIndex> = tops
            .into_iter()
            .take(HILLS)
            .map(|(d, _)| d.clone())
            .collect();
        // One point in four is random.
        let climbing = proposed.most - proposed.most / 4;
        for top in tops {
            let mut neighbors = outlook.space.neighbors(&top)?;
            self.rng.shuffle(&mut neighbors);
            for digits in neighbors {
                if proposed.digits.len() < climbing {
                    proposed.add(outlook, &digits)?;
                }
            }
        }
        self.random.fill(outlook, proposed)
    }
}
