//! Tiles: splits the loops of bands into blocks.

use super::error::NoSchedule;
use super::finish::{Finish, One};
use super::work::named;
use crate::ir::{Affine, Arg, Name};
use crate::nest::shift::SHIFT;
use crate::nest::stripmine::STRIPMINE;

impl Finish<'_> {
    /// Splits the loops of a band into blocks. `now` is the current order of all loops.
    pub(super) fn tile(
        &mut self,
        (band, statements): (&mut [One], &[usize]),
        now: &mut Vec<Name>,
    ) -> Result<(), NoSchedule> {
        self.tiling.note(statements, band.len());
        for (k, l) in band.iter_mut().enumerate() {
            l.size = self.tiling.size(statements, k)?;
            self.split(l, l.size, now)?;
        }
        if self.options.second_level_tile {
            for (k, l) in band.iter_mut().enumerate() {
                self.split_again(l, self.tiling.second_size(statements, k)?, true, now)?;
            }
        }
        Ok(())
    }

    /// Splits a loop over blocks into second-level blocks. They are aligned with those of other
    /// loops unless the loops are `alike`.
    pub(super) fn split_again(
        &mut self,
        l: &mut One,
        size: i64,
        alike: bool,
        now: &mut Vec<Name>,
    ) -> Result<(), NoSchedule> {
        let within = l.name.clone();
        let blocks = std::mem::take(&mut l.blocks);
        l.name = blocks[0].clone();
        if alike {
            self.split(l, size, now)?
        } else {
            self.split_aligned(l, size, now)?
        }
        l.blocks.push(l.name.clone());
        l.name = within;
        Ok(())
    }

    /// Splits a loop into blocks.
    pub(super) fn split(
        &mut self,
        l: &mut One,
        size: i64,
        now: &mut Vec<Name>,
    ) -> Result<(), NoSchedule> {
        let mut args = vec![named(&l.name), Arg::Int(size)];
        // The origin of a loop's blocks must not depend on other loops.
        let range = self.work.range(&l.name);
        if let Some(range) = range.filter(|range| range.as_constant().is_none()) {
            // A grid follows bounds that move in whole blocks; aligned multiples of the size do
            // not.
            let follows = |b: &Affine| {
                b.as_constant().is_none() && b.terms().iter().all(|(_, c)| c % size == 0)
            };
            if range.lower.iter().any(follows) {
                return self.split_aligned(l, size, now);
            }
            args.push(Arg::Word("grid".to_owned()));
        }
        self.work.step(&STRIPMINE, args)?;
        note(l, now);
        Ok(())
    }

    /// Splits a loop into blocks that are aligned with those of other loops: block number k begins
    /// at k times the size.
    pub(super) fn split_aligned(
        &mut self,
        l: &mut One,
        size: i64,
        now: &mut Vec<Name>,
    ) -> Result<(), NoSchedule> {
        let tail = Arg::Word("aligned".to_owned());
        let args = vec![named(&l.name), Arg::Int(size), tail];
        self.work.step(&STRIPMINE, args)?;
        note(l, now);
        let Some(outer) = l.blocks.last() else {
            return Ok(());
        };
        let begins = self.work.range(&l.name).into_iter().flat_map(|r| r.lower);
        let mut begins = begins.filter(|b| b.coefficient(outer) == size);
        match begins.next().map_or(0, |b| b.offset().div_euclid(size)) {
            0 => Ok(()),
            before => self.work.step(&SHIFT, vec![named(outer), Arg::Int(before)]),
        }
    }
}

/// Records a split loop in the order of loops.
fn note(l: &mut One, now: &mut Vec<Name>) {
    let (outer, inner) = (l.name.derived("o"), l.name.derived("i"));
    if let Some(k) = now.iter().position(|name| *name == l.name) {
        now.splice(k..=k, [outer.clone(), inner.clone()]);
    }
    l.name = inner;
    l.blocks.push(outer);
}
