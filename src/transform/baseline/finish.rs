//! Finishes the loops of a schedule: tiles, the order within them, threads and vectors.

use super::error::NoSchedule;
use super::leaves::Leaf;
use super::options::Options;
use super::problem::Problem;
use super::schedule::{Level, Schedule};
use super::sizes::Tiling;
use super::vector::Strides;
use super::work::{Work, named};
use crate::ir::Name;
use crate::nest::mode::{PARALLELIZE, VECTORIZE};

/// Finishes the loops of a schedule, which the nest already has.
pub(super) struct Finish<'a> {
    pub(super) work: &'a mut Work,
    pub(super) problem: &'a Problem,
    pub(super) schedule: &'a Schedule,
    pub(super) options: &'a Options,
    pub(super) tiling: Tiling<'a>,
}

/// Properties of the loops around.
#[derive(Clone, Copy, Default)]
pub(super) struct Around {
    /// One of them is parallel.
    pub(super) threads: bool,
    /// Some of them are tiled.
    pub(super) tiled: bool,
}

/// Perfectly nested bands of loops: only the innermost body has more than one tree.
#[derive(Clone)]
pub(super) struct Chain {
    pub(super) bands: Vec<Vec<One>>,
    /// The current order of the loops.
    pub(super) now: Vec<Name>,
    /// The statements that share all of them.
    pub(super) statements: Vec<usize>,
    /// Whether there are no loops inside.
    pub(super) is_leaf: bool,
    /// The number of outermost loops over tiles that form a wavefront, or 0. The last of these is
    /// skewed by the others and moved outside of them.
    pub(super) wave: usize,
}

/// A loop of a band, perfectly nested in the bands around and inside.
#[derive(Clone)]
pub(super) struct One {
    pub(super) name: Name,
    /// Its position in the band.
    pub(super) place: usize,
    /// Whether it is parallel at any position.
    pub(super) coincident: bool,
    /// Whether it is parallel at its position.
    pub(super) parallel: bool,
    pub(super) strides: Strides,
    /// Its trip count, if no bounds connect it with another loop.
    pub(super) count: Option<i64>,
    /// The size of its blocks, if it has any.
    pub(super) size: i64,
    /// The loops over its blocks. Those over blocks of blocks come first.
    pub(super) blocks: Vec<Name>,
}

impl Finish<'_> {
    /// Finishes a part of the schedule that is inside of `depth` loops.
    pub(super) fn part(
        &mut self,
        part: &Schedule,
        depth: usize,
        around: Around,
    ) -> Result<(), NoSchedule> {
        match part {
            Schedule::Statement(_) => Ok(()),
            Schedule::Sequence(parts) => parts
                .iter()
                .try_for_each(|part| self.part(part, depth, around)),
            Schedule::Band(band) => {
                let leaves = self.options.leaves(band, around.tiled);
                match leaves.as_slice() {
                    [leaf] => self.leaf(leaf, depth, around),
                    leaves => self.apart(band, leaves, depth, around),
                }
            }
        }
    }

    fn leaf(&mut self, leaf: &Leaf, depth: usize, around: Around) -> Result<(), NoSchedule> {
        let (chain, inside, at) = self.chain_of(leaf, depth, around);
        let is_leaf = chain.is_leaf;
        let around = self.chain(chain, around)?;
        if is_leaf {
            Ok(())
        } else {
            self.part(inside, at, around)
        }
    }

    /// The loops of a leaf and of the bands directly inside, the part inside of them, and its
    /// depth.
    pub(super) fn chain_of<'a>(
        &self,
        leaf: &Leaf<'a>,
        depth: usize,
        around: Around,
    ) -> (Chain, &'a Schedule, usize) {
        let mut bands = vec![self.loops(leaf, depth)];
        let mut tiled = around.tiled || leaf.levels.len() > 1;
        let mut at = depth + leaf.levels.len();
        let mut inside = leaf.inside;
        while let Schedule::Band(band) = inside {
            let [one] = &self.options.leaves(band, tiled)[..] else {
                break;
            };
            bands.push(self.loops(one, at));
            tiled |= one.levels.len() > 1;
            at += one.levels.len();
            inside = one.inside;
        }
        let is_statement = |p: &Schedule| matches!(p, Schedule::Statement(_));
        let is_leaf = match inside {
            Schedule::Sequence(parts) => parts.iter().all(is_statement),
            one => is_statement(one),
        };
        let chain = Chain {
            now: bands.iter().flatten().map(|l| l.name.clone()).collect(),
            bands,
            statements: leaf.statements.clone(),
            is_leaf,
            wave: 0,
        };
        (chain, inside, at)
    }

    /// Finishes a chain and returns the properties of its loops for the part inside.
    fn chain(&mut self, mut chain: Chain, around: Around) -> Result<Around, NoSchedule> {
        let tiled = self.tiled(&chain, around);
        if let Some(k) = tiled {
            self.tile((&mut chain.bands[k], &chain.statements), &mut chain.now)?;
        }
        let threads = self.options.parallel && !around.threads;
        let waits = tiled.filter(|k| {
            let (before, own) = (&chain.bands[..*k], &chain.bands[*k]);
            let serial = before.iter().flatten().all(|l| !l.parallel);
            threads && serial && own.len() > 1 && own.iter().all(|l| !l.coincident)
        });
        if let Some(k) = waits {
            chain.wave = self.options.degrees(chain.bands[k].len());
            self.skew_wave(&chain.bands[k], chain.wave)?;
        }
        let (then, vector) = self.ordered(&mut chain)?;
        let threads = match (threads, waits) {
            (false, _) => around.threads,
            (true, Some(k)) => self.mark(blocks_of(&chain.bands[k], 0).as_ref())?,
            (true, None) => self.threads(&chain.bands, &then)?,
        };
        if let Some(vector) = &vector {
            self.work.step(&VECTORIZE, vec![named(vector)])?;
        }
        self.jam(&chain, &then)?;
        let tiled = around.tiled || tiled.is_some();
        Ok(Around { threads, tiled })
    }

    /// The band of a chain to tile: the outermost one with several loops, otherwise an innermost
    /// parallel loop.
    fn tiled(&self, chain: &Chain, around: Around) -> Option<usize> {
        if !self.options.tile || around.tiled {
            return None;
        }
        let last = chain.bands.len().checked_sub(1)?;
        let wide = chain.bands.iter().position(|band| band.len() > 1);
        let innermost = chain.bands[last].last()?;
        wide.or((chain.is_leaf && innermost.parallel).then_some(last))
    }

    /// Orders the loops of a chain whose tiles exist. Returns the order, and the loop to vectorize.
    pub(super) fn ordered(
        &mut self,
        chain: &mut Chain,
    ) -> Result<(Vec<Name>, Option<Name>), NoSchedule> {
        let plain = order(&chain.bands, None, chain.wave);
        let rearranged = self.rearranged(chain);
        let vector = self.vector(&rearranged, chain.is_leaf);
        let then = order(&rearranged, vector.as_ref(), chain.wave);
        // Bounds of skewed loops may keep one of them from moving inward; then all keep their
        // order.
        match self.work.order(&chain.now, &then) {
            Ok(()) => {
                chain.bands = rearranged;
                chain.now.clone_from(&then);
                Ok((then, vector))
            }
            Err(_) => {
                self.work.order(&chain.now, &plain)?;
                chain.now.clone_from(&plain);
                let kept = self.vector(&chain.bands, chain.is_leaf);
                let vector = kept.filter(|name| plain.last() == Some(name));
                Ok((plain, vector))
            }
        }
    }

    /// The loops of a leaf inside of `depth` others.
    fn loops(&self, leaf: &Leaf, depth: usize) -> Vec<One> {
        let of_first = &self.work.loops[leaf.statements[0]];
        let one = |(place, level): (usize, &&Level)| {
            let [coincident, parallel] = level.is_parallel_for(&leaf.statements);
            let depth = depth + place;
            One {
                name: of_first[depth].clone(),
                place,
                coincident,
                parallel,
                strides: Strides::of(self.problem, self.schedule, &leaf.statements, depth),
                count: self.count(&of_first[depth]),
                size: 0,
                blocks: Vec::new(),
            }
        };
        leaf.levels.iter().enumerate().map(one).collect()
    }

    /// The trip count of a loop, if no bounds connect it with another loop.
    fn count(&self, name: &Name) -> Option<i64> {
        let loops = self.work.nest.loops();
        if loops.iter().any(|(_, l)| l.range.mentions(name)) {
            return None;
        }
        let (low, high) = self.work.range(name)?.as_constant()?;
        Some(high - low)
    }

    /// The bands with the best loop of each moved innermost. If loops are tiled, Pluto considers
    /// only the outermost band of several loops, and only if it contains just statements.
    pub(super) fn rearranged(&self, chain: &Chain) -> Vec<Vec<One>> {
        let mut bands = chain.bands.clone();
        let wide = bands.iter().position(|band| band.len() > 1);
        let innermost = chain.is_leaf && wide == bands.len().checked_sub(1);
        if !self.options.intratileopt || self.options.tile && !innermost {
            return bands;
        }
        for band in &mut bands {
            // Among equally good loops, the innermost stays there.
            let score = |l: &One| l.strides.score(l.parallel);
            let best = (0..band.len()).max_by_key(|k| score(&band[*k]));
            if let Some(best) = best.filter(|k| k + 1 < band.len()) {
                let l = band.remove(best);
                band.push(l);
                // The others were parallel in another order of outer loops.
                band.iter_mut().for_each(|l| l.parallel = l.coincident);
            }
        }
        bands
    }

    /// The loop to move innermost and vectorize.
    pub(super) fn vector(&self, bands: &[Vec<One>], is_leaf: bool) -> Option<Name> {
        if !self.options.prevector || !is_leaf {
            return None;
        }
        let innermost = &bands.last()?.last()?.name;
        let fits = |l: &&One| {
            let anywhere = l.coincident || l.name == *innermost;
            l.parallel && anywhere && l.strides.all_near()
        };
        let loops = bands.iter().flatten().filter(fits);
        let best = loops.max_by_key(|l| l.strides.score(l.parallel))?;
        Some(best.name.clone())
    }

    /// Marks the outermost parallel loop and returns whether there is one.
    pub(super) fn threads(
        &mut self,
        bands: &[Vec<One>],
        order: &[Name],
    ) -> Result<bool, NoSchedule> {
        let is_parallel = |name: &Name| {
            let mut loops = bands.iter().flatten();
            loops.any(|l| {
                if l.blocks.contains(name) {
                    l.coincident || l.parallel && bands.iter().all(|band| band.len() == 1)
                } else {
                    l.name == *name && (l.coincident || l.parallel)
                }
            })
        };
        let Some(name) = order.iter().find(|name| is_parallel(name)) else {
            return Ok(false);
        };
        self.mark(Some(name))
    }

    /// Marks a loop parallel and returns whether there is one.
    pub(super) fn mark(&mut self, name: Option<&Name>) -> Result<bool, NoSchedule> {
        let Some(name) = name else {
            return Ok(false);
        };
        if self.work.find(name).is_some_and(|l| !l.is_parallel()) {
            self.work.step(&PARALLELIZE, vec![named(name)])?;
        }
        Ok(true)
    }
}

/// The outermost loop over blocks of the loop at a position of a band.
pub(super) fn blocks_of(band: &[One], place: usize) -> Option<Name> {
    let l = band.iter().find(|l| l.place == place)?;
    l.blocks.first().cloned()
}

/// The names of all loops of bands. Each band has its loops over blocks first, in the order of
/// discovery, then those within. `innermost` comes last. The last of the first `wave` loops over
/// blocks comes first.
pub(super) fn order(bands: &[Vec<One>], innermost: Option<&Name>, wave: usize) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    for band in bands {
        let mut found: Vec<&One> = band.iter().collect();
        found.sort_unstable_by_key(|l| l.place);
        let levels = found.first().map_or(0, |l| l.blocks.len());
        let begin = names.len();
        for level in 0..levels {
            names.extend(found.iter().map(|l| l.blocks[level].clone()));
        }
        if levels > 0
            && let Some(waves) = names.get_mut(begin..begin + wave)
            && wave > 0
        {
            waves.rotate_right(1);
        }
        names.extend(band.iter().map(|l| l.name.clone()));
    }
    names.retain(|name| Some(name) != innermost);
    names.extend(innermost.cloned());
    names
}
