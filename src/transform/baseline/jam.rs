//! Unroll and jam: runs several iterations of the loops around the innermost one side by side.
//!
//! As in Pluto, a loop is jammed if its iterations share accesses and the unrolled body fits in the
//! registers. At most three loops are jammed, those nearest to the innermost one, which stays as it
//! is. Jamming happens within tiles. The remainder iterations of a tile run after its whole blocks. Pluto
//! does not limit the number of copies. Here, a loop that would make too many copies is not jammed, and
//! copies in remainders count as well.
//!
//! Source: `pluto_get_unroll_jam_loops` of Pluto (`lib/polyloop.c`), and `pluto_mark_unroll_jam`.

use super::error::NoSchedule;
use super::finish::{Chain, Finish, One};
use super::work::named;
use crate::ir::{Arg, Name};
use crate::legality::{Reductions, Verdict, check};
use crate::nest::unroll_and_jam::UNROLL_AND_JAM;

/// The most jammed loops.
const LOOPS: usize = 3;

/// The most copies of a statement: three whole blocks of eight iterations. Compilers take long for more.
const COPIES: i64 = 8 * 8 * 8;

/// The registers available to jammed loops. This is Pluto's constant for all processors, so that
/// the result does not depend on the machine.
///
/// Source: `NUM_TOTAL_REGISTERS` of Pluto (`lib/polyloop.c`).
const REGISTERS: i64 = 32;

impl Finish<'_> {
    /// Jams loops of a chain that contains only statements. The order and the modes of its loops
    /// are final.
    pub(super) fn jam(&mut self, chain: &Chain, order: &[Name]) -> Result<(), NoSchedule> {
        if !self.options.unrolljam || !chain.is_leaf {
            return Ok(());
        }
        let (mut count, mut copies) = (0, 1);
        for k in (0..order.len().saturating_sub(1)).rev() {
            let inside = &order[k + 1..];
            let last = chain.bands.iter().next_back();
            let own = last.and_then(|band| band.iter().find(|l| l.name == order[k]));
            let Some(l) = own.filter(|l| self.may_be_jammed(chain, l, inside)) else {
                continue;
            };
            if let Some(own) = self.jam_one(chain, l, COPIES / copies)? {
                copies *= own;
                count += 1;
            }
            if count == LOOPS {
                break;
            }
        }
        Ok(())
    }

    /// Whether the iterations of a loop share accesses, and may be jammed into the innermost of the
    /// loops inside.
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
        // Jamming leaves the dependences that the loop carries to the loops inside.
        let is_marked = |name: &Name| {
            let found = self.work.find(name);
            found.is_some_and(|l| !l.is_serial())
        };
        let mut inside = inside.iter();
        l.coincident || inside.all(|n| is_coincident(n) || in_band(n) && !is_marked(n))
    }

    /// Jams a loop, if its range allows it with at most so many copies, and returns their number.
    fn jam_one(&mut self, chain: &Chain, l: &One, most: i64) -> Result<Option<i64>, NoSchedule> {
        // A whole tile consists of whole blocks.
        let mut factors = 2..=self.options.ufactor;
        let factor = factors.rfind(|n| l.size % n == 0);
        let fits = |n: &i64| l.count.is_some_and(|count| count >= *n);
        let Some(factor) = factor.filter(fits) else {
            return Ok(None);
        };
        let has_rest = l.count.is_none_or(|count| count % factor != 0);
        let copies = factor + i64::from(has_rest);
        if copies > most {
            return Ok(None);
        }
        let before = self.work.nest.clone();
        let step = vec![named(&l.name), Arg::Int(factor)];
        match self.work.step(&UNROLL_AND_JAM, step) {
            Ok(()) => {}
            Err(NoSchedule::NoPath(_)) => return Ok(None),
            Err(other) => return Err(other),
        }
        // Jamming may reverse dependences between copies in an inner loop, or between several
        // statements.
        let nests = std::slice::from_ref(&self.work.nest);
        let in_doubt = !l.coincident && chain.statements.len() > 1;
        if in_doubt && check(nests, Reductions::Strict) != Verdict::Legal {
            self.work.nest = before;
            return Ok(None);
        }
        Ok(Some(copies))
    }
}
