//! Statements that part inside of a tiled band. Each gets tiles of all its loops and its own loop
//! order within them. Then the shared loops over tiles are fused.

use super::error::NoSchedule;
use super::finish::{Around, Chain, Finish, One, blocks_of};
use super::leaves::Leaf;
use super::schedule::{Band, Schedule};
use super::work::{Work, named};
use crate::ir::{Arg, Name};
use crate::nest::fuse::FUSE;
use crate::nest::mode::VECTORIZE;
use crate::nest::skew::SKEW;

/// A leaf with tiled and ordered loops.
struct Done<'a> {
    chain: Chain,
    order: Vec<Name>,
    inside: &'a Schedule,
    depth: usize,
}

impl Finish<'_> {
    /// Finishes a band in which statements part, inside of `depth` loops.
    pub(super) fn apart(
        &mut self,
        band: &Band,
        leaves: &[Leaf],
        depth: usize,
        around: Around,
    ) -> Result<(), NoSchedule> {
        let mut chains: Vec<(Chain, &Schedule, usize)> = leaves
            .iter()
            .map(|leaf| self.chain_of(leaf, depth, around))
            .collect();
        let levels = leaves.iter().map(|l| l.levels.len()).max().unwrap_or(0);
        let alike: Vec<bool> = (0..levels).map(|k| self.begin_alike(&chains, k)).collect();
        let coincident = band.levels.iter().any(|level| level.coincident);
        let waits = self.options.parallel && !around.threads && !coincident;
        let wave = if waits && band.levels.len() > 1 {
            self.options.degrees(band.levels.len())
        } else {
            0
        };
        let mut done = Vec::with_capacity(leaves.len());
        for ((chain, inside, depth), leaf) in chains.iter_mut().zip(leaves) {
            self.tiling.note(&leaf.statements, leaf.levels.len());
            for (k, l) in chain.bands[0].iter_mut().enumerate() {
                l.size = self.tiling.size(&sharing(leaves, leaf, k), k)?;
                if alike[k] {
                    self.split(l, l.size, &mut chain.now)?
                } else {
                    self.split_aligned(l, l.size, &mut chain.now)?
                }
            }
            let again = self.options.second_level_tile;
            for (k, l) in chain.bands[0].iter_mut().enumerate().filter(|_| again) {
                let size = self.tiling.second_size(&sharing(leaves, leaf, k), k)?;
                self.split_again(l, size, alike[k], &mut chain.now)?;
            }
            chain.wave = wave;
            self.skew_wave(&chain.bands[0], wave)?;
            let (order, vector) = self.ordered(chain)?;
            if let Some(vector) = &vector {
                self.work.step(&VECTORIZE, vec![named(vector)])?;
            }
            done.push(Done {
                chain: chain.clone(),
                order,
                inside,
                depth: *depth,
            });
        }
        let mut order: Vec<usize> = (0..band.levels.len()).collect();
        order[..wave].rotate_right(usize::from(wave > 0));
        share(self.work, (band, &order), &mut done, 0)?;
        let threads = around.threads || self.threads_of(band, wave, &done)?;
        for leaf in &done {
            self.jam(&leaf.chain, &leaf.order)?;
            if !leaf.chain.is_leaf {
                let tiled = true;
                self.part(leaf.inside, leaf.depth, Around { threads, tiled })?;
            }
        }
        Ok(())
    }

    /// Whether the loops at a level have the same lower bound. Then their blocks coincide with any
    /// numbering.
    fn begin_alike(&self, chains: &[(Chain, &Schedule, usize)], level: usize) -> bool {
        let begin = |chain: &Chain| {
            let l = chain.bands[0].get(level)?;
            let range = self.work.range(&l.name)?;
            Some(range.as_constant().map(|(low, _)| low))
        };
        let mut begins = chains.iter().filter_map(|(chain, ..)| begin(chain));
        let first = begins.next();
        begins.all(|other| other.is_some() && Some(other) == first)
    }

    /// Marks a parallel loop over tiles that all leaves share, or one in each leaf. Returns whether
    /// all leaves have one.
    fn threads_of(&mut self, band: &Band, wave: usize, done: &[Done]) -> Result<bool, NoSchedule> {
        let Some(first) = done.first().filter(|_| self.options.parallel) else {
            return Ok(false);
        };
        let mut levels = 0..band.levels.len();
        let parallel = match wave {
            0 => levels.find(|k| band.levels[*k].coincident),
            _ => Some(0),
        };
        if let Some(place) = parallel {
            return self.mark(blocks_of(&first.chain.bands[0], place).as_ref());
        }
        let mut all = true;
        for (k, leaf) in done.iter().enumerate() {
            // A shared loop over tiles is parallel for all of its leaves, or for none.
            let others = done.iter().enumerate().filter(|(other, _)| *other != k);
            let shared = |name: &Name| others.clone().any(|(_, leaf)| leaf.order.contains(name));
            let own = leaf.order.iter().filter(|name| !shared(name)).cloned();
            let own: Vec<Name> = own.collect();
            all &= self.threads(&leaf.chain.bands, &own)?;
        }
        Ok(all)
    }

    /// Makes a wavefront of tiles: one diagonal of tiles runs in parallel at a time. Skews the last
    /// of the `degrees` dependent loops over blocks by the others.
    pub(super) fn skew_wave(&mut self, band: &[One], degrees: usize) -> Result<(), NoSchedule> {
        let tiles: Vec<Name> = (0..degrees).filter_map(|k| blocks_of(band, k)).collect();
        if let Some((wave, parallel)) = tiles.split_last() {
            for name in parallel {
                let step = vec![named(wave), named(name), Arg::Int(1)];
                self.work.step(&SKEW, step)?;
            }
        }
        Ok(())
    }
}

/// The statements of leaves that share a level with `leaf`.
fn sharing(leaves: &[Leaf], leaf: &Leaf, level: usize) -> Vec<usize> {
    let level = |leaf: &Leaf| leaf.levels.get(level).map(|l| std::ptr::from_ref(*l));
    let own = level(leaf);
    let same = leaves.iter().filter(|other| level(other) == own);
    same.flat_map(|other| other.statements.clone()).collect()
}

/// Fuses the loops over tiles that leaves share. These are the levels `order` of a band, which
/// starts at level `from` of the outermost one, and those of the bands inside.
fn share(
    work: &mut Work,
    (band, order): (&Band, &[usize]),
    leaves: &mut [Done],
    from: usize,
) -> Result<(), NoSchedule> {
    let [first, others @ ..] = leaves else {
        return Ok(());
    };
    for level in order.iter().map(|level| from + level) {
        let Some(name) = blocks_of(&first.chain.bands[0], level) else {
            return Err(NoSchedule::Unknown);
        };
        for other in others.iter_mut() {
            let own = other.chain.bands[0].iter_mut();
            let own = own.filter(|l| l.place == level);
            let mut blocks = own.filter_map(|l| l.blocks.first_mut());
            let Some(second) = blocks.next() else {
                return Err(NoSchedule::Unknown);
            };
            let ends = Arg::Word("guard".to_owned());
            work.step(&FUSE, vec![named(&name), named(second), ends])?;
            for old in other.order.iter_mut().filter(|n| *n == second) {
                *old = name.clone();
            }
            *second = name.clone();
        }
    }
    let mut at = 0;
    for part in band.joined_parts().unwrap_or_default() {
        let count = match part {
            Schedule::Band(inner) => inner.leaves().len(),
            _ => 1,
        };
        let Some(own) = leaves.get_mut(at..at + count) else {
            return Err(NoSchedule::Unknown);
        };
        if let Schedule::Band(inner) = part {
            let order: Vec<usize> = (0..inner.levels.len()).collect();
            share(work, (inner, &order), own, from + band.levels.len())?;
        }
        at += count;
    }
    Ok(())
}
