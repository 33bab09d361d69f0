//! Evolution: crosses the best points parameter by parameter and mutates them.
//!
//! Source: Ansel et al., OpenTuner, PACT 2014; Zheng et al., Ansor, OSDI 2020 (§5.1).

use super::outlook::{Outlook, Proposed, Search};
use super::random::Random;
use crate::tune::rng::Rng;
use crate::tune::space::{ConfigIndex, Halt};

pub struct Evolution {
    rng: Rng,
    random: Random,
}

/// Number of parents.
const PARENTS: usize = 12;

/// Number of random points at the start.
const FIRST: usize = 16;

/// After this many known children in a row, random points follow.
const CHILDREN: usize = 200;

impl Evolution {
    pub fn new(mut rng: Rng) -> Evolution {
        let random = Random::new(Rng::new(rng.bits()));
        Evolution { rng, random }
    }

    /// A child of the best points: each digit comes from one of two parents, with about one
    /// mutation.
    pub(super) fn child(
        rng: &mut Rng,
        outlook: &Outlook<'_, '_>,
        parents: &[ConfigIndex],
    ) -> Result<ConfigIndex, Halt> {
        // The better of two random parents: parents are sorted.
        let mut parent = || {
            let (a, b) = (rng.below(parents.len()), rng.below(parents.len()));
            parents[a.min(b)].clone()
        };
        let (mut child, other) = (parent(), parent());
        for (digit, other) in child.iter_mut().zip(other) {
            if rng.below(2) == 1 {
                *digit = other;
            }
        }
        let fresh = outlook.space.random(rng)?;
        let count = child.len();
        for (digit, fresh) in child.iter_mut().zip(fresh) {
            if rng.below(count.max(1)) == 0 {
                *digit = match rng.below(3) {
                    0 => digit.saturating_add(1),
                    1 => digit.saturating_sub(1),
                    _ => fresh,
                };
            }
        }
        Ok(child)
    }
}

impl Search for Evolution {
    fn fill(&mut self, outlook: &mut Outlook<'_, '_>, proposed: &mut Proposed) -> Result<(), Halt> {
        let best = outlook.history.fastest();
        let parents: Vec<ConfigIndex> = best
            .into_iter()
            .take(PARENTS)
            .map(|(d, _)| d.clone())
            .collect();
        if outlook.history.tried.len() < FIRST || parents.is_empty() {
            return self.random.fill(outlook, proposed);
        }
        let mut in_vain = 0;
        while !proposed.is_full() && in_vain < CHILDREN {
            let child = Evolution::child(&mut self.rng, outlook, &parents)?;
            in_vain = if proposed.add(outlook, &child)? {
                0
            } else {
                in_vain + 1
            };
        }
        self.random.fill(outlook, proposed)
    }
}
