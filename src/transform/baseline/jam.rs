//! Unroll and jam: some iterations of the loops around the innermost one, side by side in it.
//!
//! As in Pluto, a loop is jammed where its iterations share something, and what they need side by
//! side fits the registers. At most three loops are jammed, the nearest to the innermost one, which
//! stays as it is. It is done within tiles: iterations that do not fill a last block of them come
//! after the blocks of the same tile.
//!
//! Source: `pluto_get_unroll_jam_loops` of Pluto (`lib/polyloop.c`), and `pluto_mark_unroll_jam`.

use super::error::NoSchedule;
use super::finish::{Chain, Finish, One};
use super::work::named;
use crate::ir::{Arg, Name};
use crate::legality::{Reductions, Verdict, check};
use crate::nest::unroll_and_jam::UNROLL_AND_JAM;

/// How many loops are jammed.
const LOOPS: usize = 3;

/// How many registers what is jammed may take: Pluto's constant, which is the same for all
/// processors. What is found does not depend on the machine.
///
/// Source: `NUM_TOTAL_REGISTERS` of Pluto (`lib/polyloop.c`).
const REGISTERS: i64 = 32;

impl Finish<'_> {
    /// Jams loops of a chain in which nothing but statements is, and whose loops have their order
    /// and modes.
    pub(super) fn jam(&mut self, chain: &Chain, order: &[Name]) -> Result<(), NoSchedule> {
        if !self.options.unrolljam || !chain.is_leaf {
            return Ok(());
        }
        let mut count = 0;
        for k in (0..order.len().saturating_sub(1)).rev() {
            let inside = &order[k + 1..];
            let last = chain.bands.iter().next_back();
            let own = last.and_then(|band| band.iter().find(|l| l.name == order[k]));
            let Some(l) = own.filter(|l| self.may_be_jammed(chain, l, inside)) else {
                continue;
            };
            count += usize::from(self.jam_one(chain, l)?);
            if count == LOOPS {
                break;
            }
        }
        Ok(())
    }

    /// Whether iterations of a loop share something, and may be brought together in the innermost
    /// of those inside.
    fn may_be_jammed(&self, chain: &Chain, l: &One, inside: &[Name]) -> bool {
        if !l.strides.fits_jammed(self.options.ufactor, REGISTERS) {
            return false;
        }
        let is_coincident = |name: &Name| {
            let mut loops = chain.bands.iter().flatten();
            loops.any(|l| l.name == *name && l.coincident)
        };
        let in_band = |name: &Name| {
            let band = chain
                .bands
                .iter()
                .find(|b| b.iter().any(|o| o.name == l.name));
            band.is_some_and(|band| band.iter().any(|l| l.name == *name))
        };
        // What the loop carries, its iterations side by side leave to loops inside.
        let is_marked = |name: &Name| {
            let found = self.work.find(name);
            found.is_some_and(|l| l.vector || l.parallel)
        };
        let mut inside = inside.iter();
        l.coincident || inside.all(|n| is_coincident(n) || in_band(n) && !is_marked(n))
    }

    /// Jams a loop, if its range allows it; the answer is whether it does.
    fn jam_one(&mut self, chain: &Chain, l: &One) -> Result<bool, NoSchedule> {
        // Whole tiles are whole blocks.
        let mut factors = 2..=self.options.ufactor;
        let factor = factors.rfind(|n| l.size % n == 0);
        let fits = |n: &i64| l.count.is_some_and(|count| count >= *n);
        let Some(factor) = factor.filter(fits) else {
            return Ok(false);
        };
        let before = self.work.nest.clone();
        let step = vec![named(&l.name), Arg::Int(factor)];
        match self.work.step(&UNROLL_AND_JAM, step) {
            Ok(()) => {}
            Err(NoSchedule::NoPath(_)) => return Ok(false),
            Err(other) => return Err(other),
        }
        // What one of the copies computes a loop further in may need of a later one of the others,
        // and so may one of several statements of another one.
        let nests = std::slice::from_ref(&self.work.nest);
        let in_doubt = !l.coincident && chain.statements.len() > 1;
        if in_doubt && check(nests, Reductions::Strict) != Verdict::Legal {
            self.work.nest = before;
            return Ok(false);
        }
        Ok(true)
    }
}
