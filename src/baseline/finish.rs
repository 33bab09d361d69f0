//! What becomes of the loops of a schedule: tiles, the order within them, threads and vectors.

use super::error::NoSchedule;
use super::options::Options;
use super::problem::Problem;
use super::schedule::{Band, Level, Schedule};
use super::vector::Strides;
use super::work::{Work, named};
use crate::ir::{Affine, Arg, Name};
use crate::transform::Class;
use crate::transform::nest::mode::{PARALLELIZE, VECTORIZE};
use crate::transform::nest::separate::SEPARATE;
use crate::transform::nest::skew::SKEW;
use crate::transform::nest::stripmine::STRIPMINE;

/// Finishes the loops of a schedule, all of which the nest has.
pub(super) struct Finish<'a> {
    pub(super) work: &'a mut Work,
    pub(super) problem: &'a Problem,
    pub(super) schedule: &'a Schedule,
    pub(super) options: &'a Options,
}

/// Bands of loops, with nothing beside any of them but the innermost one's body.
#[derive(Clone)]
pub(super) struct Chain {
    pub(super) bands: Vec<Vec<One>>,
    /// The order in which the loops stand.
    pub(super) now: Vec<Name>,
    /// Whether there are no loops inside.
    is_leaf: bool,
}

/// A loop of a band, with nothing beside it but the loops of the bands around and inside.
#[derive(Clone)]
pub(super) struct One {
    pub(super) name: Name,
    /// Where it stands in the band.
    place: usize,
    /// Whether it is parallel wherever it stands.
    pub(super) coincident: bool,
    /// Whether it is parallel where it stands.
    pub(super) parallel: bool,
    strides: Strides,
    /// How many iterations of the schedule's loop one of its iterations executes.
    pub(super) jammed: i64,
    /// The loops over its blocks, those over blocks of blocks first.
    blocks: Vec<Name>,
}

impl Finish<'_> {
    /// Finishes the whole schedule.
    pub(super) fn all(&mut self) -> Result<(), NoSchedule> {
        self.part(self.schedule, 0, false)?;
        // Most iterations of a loop need none of the guards that fusing has put into it.
        let loops = self.work.nest.loops();
        let names: Vec<Name> = loops.iter().map(|(_, l)| l.name.clone()).collect();
        for name in names {
            // Guards are loops themselves, some of which are gone now.
            if self.work.find(&name).is_none() {
                continue;
            }
            match self.work.step(&SEPARATE, vec![named(&name)]) {
                Ok(()) => {}
                Err(NoSchedule::NoPath(error)) if error.kind.class() == Class::Refusal => {}
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    /// Finishes a part of the schedule that is inside of `depth` loops; `on_threads` says whether
    /// one of them is parallel.
    fn part(&mut self, part: &Schedule, depth: usize, on_threads: bool) -> Result<(), NoSchedule> {
        match part {
            Schedule::Statement(_) => Ok(()),
            Schedule::Sequence(parts) => parts
                .iter()
                .try_for_each(|part| self.part(part, depth, on_threads)),
            Schedule::Band(band) => self.bands(band, depth, on_threads),
        }
    }

    fn bands(&mut self, band: &Band, depth: usize, on_threads: bool) -> Result<(), NoSchedule> {
        let mut bands: Vec<Vec<One>> = Vec::new();
        let (mut next, mut at) = (Some(band), depth);
        let mut inside: &Schedule = &band.inside;
        while let Some(band) = next {
            bands.push(self.loops(band, at));
            at += band.levels.len();
            inside = &band.inside;
            next = match inside {
                Schedule::Band(band) => Some(band),
                _ => None,
            };
        }
        let is_leaf = match inside {
            Schedule::Sequence(parts) => {
                let is_statement = |p: &Schedule| matches!(p, Schedule::Statement(_));
                parts.iter().all(is_statement)
            }
            _ => true,
        };
        let chain = Chain {
            now: bands.iter().flatten().map(|l| l.name.clone()).collect(),
            bands,
            is_leaf,
        };
        let threads = self.chain(chain, on_threads)?;
        match inside {
            Schedule::Sequence(parts) if !is_leaf => parts
                .iter()
                .try_for_each(|part| self.part(part, at, threads)),
            _ => Ok(()),
        }
    }

    /// The answer is whether iterations run on several threads, in these loops or around them.
    fn chain(&mut self, mut chain: Chain, on_threads: bool) -> Result<bool, NoSchedule> {
        if self.options.unrolljam && chain.is_leaf {
            for rest in self.jam(&mut chain)? {
                self.chain(rest, on_threads)?;
            }
        }
        let Chain {
            mut bands,
            mut now,
            is_leaf,
            ..
        } = chain;
        if self.options.tile {
            for band in bands.iter_mut().filter(|band| band.len() > 1) {
                self.tile(band, &mut now)?;
            }
        }
        let wave = self.options.parallel
            && !on_threads
            && bands[0]
                .iter()
                .all(|l| !l.coincident && !l.blocks.is_empty());
        let plain = order(&bands, None);
        let rearranged = self.rearranged(&bands);
        let vector = self.vector(&rearranged, is_leaf);
        let mut then = order(&rearranged, vector.as_ref());
        // Bounds of skewed loops may forbid that one moves inward; then all keep their order.
        let vector = match self.work.order(&now, &then) {
            Ok(()) => {
                bands = rearranged;
                vector
            }
            Err(_) => {
                self.work.order(&now, &plain)?;
                then = plain;
                let kept = self.vector(&bands, is_leaf);
                kept.filter(|name| then.last() == Some(name))
            }
        };
        let mut threads = on_threads;
        if self.options.parallel && !on_threads {
            threads = match wave {
                true => self.wavefront(&then)?,
                false => self.threads(&bands, &then)?,
            };
        }
        if let Some(vector) = &vector {
            self.work.step(&VECTORIZE, vec![named(vector)])?;
        }
        Ok(threads)
    }

    /// The loops of a band inside of `depth` others.
    fn loops(&self, band: &Band, depth: usize) -> Vec<One> {
        let of_first = &self.work.loops[band.statements[0]];
        let levels = band.levels.iter().enumerate();
        let one = |(place, level): (usize, &Level)| One {
            name: of_first[depth + place].clone(),
            place,
            coincident: level.coincident,
            parallel: level.parallel,
            strides: Strides::of(self.problem, self.schedule, &band.statements, depth + place),
            jammed: 1,
            blocks: Vec::new(),
        };
        levels.map(one).collect()
    }

    /// Splits the loops of a band into blocks; `now` is the order in which all loops stand.
    fn tile(&mut self, band: &mut [One], now: &mut Vec<Name>) -> Result<(), NoSchedule> {
        for (k, l) in band.iter_mut().enumerate() {
            let size = (self.options.tile_size(k) / l.jammed).max(1);
            self.split(l, size, now)?;
        }
        if self.options.l2tile {
            for (k, l) in band.iter_mut().enumerate() {
                let within = l.name.clone();
                let blocks = std::mem::take(&mut l.blocks);
                l.name = blocks[0].clone();
                self.split(l, self.options.l2tile_size(k), now)?;
                l.blocks.push(l.name.clone());
                l.name = within;
            }
        }
        Ok(())
    }

    fn split(&mut self, l: &mut One, size: i64, now: &mut Vec<Name>) -> Result<(), NoSchedule> {
        let mut args = vec![named(&l.name), Arg::Int(size)];
        // Blocks of one loop that are beside each other must not depend on where others are.
        let range = self.work.range(&l.name);
        if let Some(range) = range.filter(|range| range.as_constant().is_none()) {
            // A grid follows bounds that go in steps of whole blocks.
            let follows = |b: &Affine| b.terms().iter().all(|(_, c)| c % size == 0);
            if range
                .lower
                .iter()
                .any(|b| b.as_constant().is_none() && follows(b))
            {
                let (name, range) = (l.name.clone(), range.to_string());
                return Err(NoSchedule::TileSize { name, range, size });
            }
            args.push(Arg::Word("grid".to_owned()));
        }
        self.work.step(&STRIPMINE, args)?;
        let (outer, inner) = (l.name.derived("o"), l.name.derived("i"));
        if let Some(k) = now.iter().position(|name| *name == l.name) {
            now.splice(k..=k, [outer.clone(), inner.clone()]);
        }
        l.name = inner;
        l.blocks.push(outer);
        Ok(())
    }

    /// The bands with the best loop of each innermost.
    pub(super) fn rearranged(&self, bands: &[Vec<One>]) -> Vec<Vec<One>> {
        let mut bands = bands.to_vec();
        if !self.options.intratileopt {
            return bands;
        }
        for band in &mut bands {
            // Of equally good ones the innermost, which stays there.
            let score = |l: &One| l.strides.score(l.parallel);
            // One that is jammed has no neighbors left.
            let best = (0..band.len()).filter(|k| band[*k].jammed == 1);
            let best = best.max_by_key(|k| score(&band[*k]));
            if let Some(best) = best.filter(|k| k + 1 < band.len()) {
                let l = band.remove(best);
                band.push(l);
                // The others were parallel with another order around them.
                band.iter_mut().for_each(|l| l.parallel = l.coincident);
            }
        }
        bands
    }

    /// The loop that is to be innermost, and a vector loop.
    pub(super) fn vector(&self, bands: &[Vec<One>], is_leaf: bool) -> Option<Name> {
        if !self.options.prevector || !is_leaf {
            return None;
        }
        let innermost = &bands.last()?.last()?.name;
        let fits = |l: &&One| {
            let anywhere = l.coincident || l.name == *innermost;
            l.parallel && anywhere && l.jammed == 1 && l.strides.all_near()
        };
        let loops = bands.iter().flatten().filter(fits);
        let best = loops.max_by_key(|l| l.strides.score(l.parallel))?;
        Some(best.name.clone())
    }

    /// Marks the outermost loop that is parallel; the answer is whether there is one.
    fn threads(&mut self, bands: &[Vec<One>], order: &[Name]) -> Result<bool, NoSchedule> {
        let is_parallel = |name: &Name| {
            let mut loops = bands.iter().flatten();
            loops.any(|l| match l.blocks.contains(name) {
                true => l.coincident,
                false => l.name == *name && (l.coincident || l.parallel),
            })
        };
        let Some(name) = order.iter().find(|name| is_parallel(name)) else {
            return Ok(false);
        };
        self.work.step(&PARALLELIZE, vec![named(name)])?;
        Ok(true)
    }

    /// Tiles along a diagonal, one diagonal after the other, in parallel: the outer two loops over
    /// blocks, each of which depends on those before.
    fn wavefront(&mut self, order: &[Name]) -> Result<bool, NoSchedule> {
        let [first, second, ..] = order else {
            return Ok(false);
        };
        self.work
            .step(&SKEW, vec![named(second), named(first), Arg::Int(1)])?;
        let now = [first.clone(), second.clone()];
        let then = [second.clone(), first.clone()];
        self.work.order(&now, &then)?;
        self.work.step(&PARALLELIZE, vec![named(first)])?;
        Ok(true)
    }
}

/// The names of all loops of bands: of each band those over blocks, in the order in which they were
/// found, and then those within; `innermost` comes last.
pub(super) fn order(bands: &[Vec<One>], innermost: Option<&Name>) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    for band in bands {
        let mut found: Vec<&One> = band.iter().collect();
        found.sort_unstable_by_key(|l| l.place);
        let levels = found.first().map_or(0, |l| l.blocks.len());
        for level in 0..levels {
            names.extend(found.iter().map(|l| l.blocks[level].clone()));
        }
        names.extend(band.iter().map(|l| l.name.clone()));
    }
    names.retain(|name| Some(name) != innermost);
    names.extend(innermost.cloned());
    names
}
