//! Unroll and jam: some iterations of the loops around the innermost one, side by side in it.
//!
//! As in Pluto, a loop is jammed where its iterations share something, and what they need side by
//! side fits the registers. At most three loops are jammed, the nearest to the innermost one, which
//! stays as it is. Where the factor does not divide the iterations of an outermost loop, the last
//! ones are loops of their own, which are finished like the others. Loops inside, and loops that
//! statements share which part further in, take the greatest factor that divides their iterations:
//! the rest would be a second pass over everything.

use super::error::NoSchedule;
use super::finish::{Chain, Finish, One, order};
use super::work::named;
use crate::analysis::position;
use crate::ir::{Arg, Name, Tree};
use crate::legality::{Reductions, Verdict, check};
use crate::transform::nest::unroll_and_jam::UNROLL_AND_JAM;

/// How many loops are jammed.
const LOOPS: usize = 3;

impl Finish<'_> {
    /// Jams loops of a chain; the answer is the loops over what is left. Where tiles of the loops are
    /// shared with statements elsewhere, `alike` says of which loops these begin at the same number.
    pub(super) fn jam(
        &mut self,
        chain: &mut Chain,
        alike: Option<&[bool]>,
    ) -> Result<Vec<Chain>, NoSchedule> {
        let rearranged = self.rearranged(chain);
        let vector = self.vector(&rearranged, true);
        let names = order(&rearranged, vector.as_ref(), 0);
        let mut left = Vec::new();
        for name in candidates(&chain.bands, &names) {
            if chain.jammed() == LOOPS {
                break;
            }
            left.extend(self.jam_one(chain, &name, alike)?);
        }
        Ok(left)
    }

    /// Jams a loop, if its range and those inside allow it.
    fn jam_one(
        &mut self,
        chain: &mut Chain,
        name: &Name,
        alike: Option<&[bool]>,
    ) -> Result<Option<Chain>, NoSchedule> {
        let (most, registers) = (self.options.ufactor, self.options.registers);
        let fits = |l: &One| l.strides.fits_jammed(most, registers);
        if !chain.find(name).is_some_and(fits) {
            return Ok(None);
        }
        let loops = self.work.nest.loops();
        let is_independent = loops.iter().all(|(_, l)| !l.range.mentions(name));
        let range = self.work.range(name).and_then(|range| range.as_constant());
        let Some((low, high)) = range.filter(|_| is_independent) else {
            return Ok(None);
        };
        let count = high - low;
        let coincident = chain.find(name).is_some_and(|l| l.coincident);
        let place = chain.find(name).map_or(0, |l| l.place);
        let size = self.options.tile_size(place);
        let (is_split, divides) = match alike {
            Some(alike) if !alike.get(place).is_some_and(|alike| *alike) => return Ok(None),
            Some(_) => (false, size),
            None => (coincident, 0),
        };
        // A rest that would be a second pass must not be, and tiles that are shared have one size.
        let factor = match is_split {
            true => most.min(count),
            false => (1..=most.min(count))
                .rfind(|n| count % n == 0 && divides % n == 0)
                .unwrap_or(1),
        };
        if factor < 2 {
            return Ok(None);
        }
        let (before, now) = (self.work.nest.clone(), chain.now.clone());
        if count % factor != 0 {
            let others = now.iter().filter(|n| *n != name).cloned();
            let then: Vec<Name> = [name.clone()].into_iter().chain(others).collect();
            self.work.order(&now, &then)?;
            chain.now = then;
        }
        let step = vec![named(name), Arg::Int(factor)];
        self.work.step(&UNROLL_AND_JAM, step)?;
        // What one of the copies computes a loop further in may need of a later one of the others,
        // and so may one of several statements of another one.
        let nests = std::slice::from_ref(&self.work.nest);
        let in_doubt = !coincident && chain.statements > 1;
        if in_doubt && check(nests, Reductions::Strict) != Verdict::Legal {
            (self.work.nest, chain.now) = (before, now);
            return Ok(None);
        }
        let rest = (count % factor != 0).then(|| self.rest(chain, name));
        // What a loop carried, its iterations side by side leave to loops inside.
        if chain.find(name).is_some_and(|l| !l.coincident) {
            chain.loops().for_each(|l| l.parallel = l.coincident);
        }
        let blocks = name.derived("o");
        chain.rename(name, &blocks);
        if let Some(l) = chain.loops().find(|l| l.name == blocks) {
            l.jammed = factor;
        }
        Ok(rest)
    }

    /// The loops that execute what is left of the outermost one, in the order of the chain.
    fn rest(&self, chain: &Chain, name: &Name) -> Chain {
        let mut rest = chain.clone();
        rest.is_rest = true;
        let nest = &self.work.nest;
        let outermost = name.derived("r");
        let found = position::named(nest, outermost.as_str());
        let mut next = found.ok().and_then(|place| {
            let chain = position::chain(nest, &place);
            chain.last().map(|l| (*l).clone())
        });
        for old in &chain.now {
            let Some(l) = next.take() else { break };
            rest.rename(old, &l.name);
            next = l.body.iter().find_map(Tree::as_loop).cloned();
        }
        rest
    }
}

impl Chain {
    fn loops(&mut self) -> impl Iterator<Item = &mut One> {
        self.bands.iter_mut().flatten()
    }

    fn find(&self, name: &Name) -> Option<&One> {
        self.bands.iter().flatten().find(|l| l.name == *name)
    }

    fn jammed(&self) -> usize {
        let loops = self.bands.iter().flatten();
        loops.filter(|l| l.jammed > 1).count()
    }

    fn rename(&mut self, old: &Name, new: &Name) {
        let own = self.bands.iter_mut().flatten().map(|l| &mut l.name);
        for name in own.chain(&mut self.now).filter(|name| **name == *old) {
            *name = new.clone();
        }
    }
}

/// The loops around the innermost one whose iterations may be brought together in it, the nearest
/// first; `names` is the order of all loops.
fn candidates(bands: &[Vec<One>], names: &[Name]) -> Vec<Name> {
    let band_of = |name: &Name| {
        let has = |band: &Vec<One>| band.iter().any(|l| l.name == *name);
        bands.iter().position(has)
    };
    let is_coincident = |name: &Name| {
        let mut loops = bands.iter().flatten();
        loops.any(|l| l.name == *name && l.coincident)
    };
    let is_jammed = |name: &Name| {
        let mut loops = bands.iter().flatten();
        loops.any(|l| l.name == *name && l.jammed > 1)
    };
    let fits = |k: &usize| {
        let (name, inside) = (&names[*k], &names[k + 1..]);
        if is_jammed(name) || band_of(name) != bands.len().checked_sub(1) {
            return false;
        }
        let mut inside = inside.iter();
        let moves = |n: &Name| is_coincident(n) || band_of(n) == band_of(name);
        is_coincident(name) || inside.all(moves)
    };
    let outer = (0..names.len().saturating_sub(1)).rev().filter(fits);
    outer.map(|k| names[k].clone()).collect()
}
