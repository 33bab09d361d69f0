//! Random points, each once.

use super::exhaustive::Exhaustive;
use super::outlook::{Outlook, Proposed, Search};
use crate::tune::rng::Rng;
use crate::tune::space::Halt;

pub struct Random {
    rng: Rng,
    /// Whether random draws hardly find new points.
    is_nearly_done: bool,
}

/// After this many draws in a row without a new point, the remaining points are taken in order.
const DRAWS: usize = 400;

impl Random {
    pub fn new(rng: Rng) -> Random {
        Random {
            rng,
            is_nearly_done: false,
        }
    }
}

impl Search for Random {
    fn fill(&mut self, outlook: &mut Outlook<'_, '_>, proposed: &mut Proposed) -> Result<(), Halt> {
        let mut in_vain = 0;
        while !self.is_nearly_done && !proposed.is_full() {
            let digits = outlook.space.random(&mut self.rng)?;
            in_vain = if proposed.add(outlook, &digits)? {
                0
            } else {
                in_vain + 1
            };
            self.is_nearly_done = in_vain == DRAWS;
        }
        if self.is_nearly_done {
            Exhaustive::default().fill(outlook, proposed)?;
        }
        Ok(())
    }
}
