//! Hill climbing: tries the neighbors of the best point, then those of the next best ones. Random
//! points among them keep the climb from ending in a local optimum.

use super::outlook::{Outlook, Proposed, Search};
use super::random::Random;
use crate::tune::rng::Rng;
use crate::tune::space::{ConfigIndex, Halt};

pub struct Hill {
    rng: Rng,
    random: Random,
}

/// Number of the best points to climb from.
const HILLS: usize = 3;

impl Hill {
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
