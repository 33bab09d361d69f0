//! Measures how much the last level of cache holds: virtual machines report sizes that no core
//! gets. Arrays of growing size are read again and again. The cache ends where the rate falls to
//! that of memory.
//!
//! The arrays of all other probes follow from this size. Until it is measured, it is estimated from
//! level 2 (`facts.rs`). Probes are bounded in time and memory.

use super::Machine;
use super::kernels;
use super::measured::{Capacity, Region};
use super::memo::{self, Probed, are_quiet, forget};
use crate::runtime::tolerances::CACHE_CLIFF_RATIO;
use crate::runtime::{
    self, Budget, Control, Data, Options, RuntimeError, Scalar, Timing, Workload, cache_file,
    key_of_processor,
};
use std::path::PathBuf;

impl Probed for Capacity {
    fn is_quiet(&self) -> bool {
        self.quiet
    }

    fn is_faster(&self, other: &Capacity) -> bool {
        self.beyond > other.beyond
    }
}

impl Machine {
    /// This machine, with the capacity of its last caches and the cost of a parallel loop if they
    /// were measured before.
    pub fn known(control: &Control) -> Machine {
        let machine = Machine::this();
        Machine {
            capacity: memo::known(machine.file(control).as_deref()),
            region: Region::known(&machine, control),
            ..machine
        }
    }

    /// This machine, with the capacity of its last caches and the cost of a parallel loop, which
    /// are measured unless they are remembered. `None` where memory or time does not suffice to
    /// measure them.
    ///
    /// # Errors
    /// As [`runtime::compile`] and [`runtime::measure`].
    pub fn measured(control: &Control) -> Result<Machine, RuntimeError> {
        let machine = Machine::this();
        let file = machine.file(control);
        Ok(Machine {
            capacity: memo::measured(file.as_deref(), || machine.probe(control))?,
            region: Region::measured(&machine, control)?,
            ..machine
        })
    }

    /// Forgets the measured capacity and the measured cost of a parallel loop.
    pub(super) fn forget_measured(control: &Control) {
        let machine = Machine::this();
        forget(machine.file(control).as_deref());
        Region::forget(&machine, control);
    }

    /// The file that remembers the capacity. It does not depend on a compiler, so schedules can
    /// read it on machines without one.
    fn file(&self, control: &Control) -> Option<PathBuf> {
        let facts = format!("{:?} {}", self.caches, self.threads);
        let key = key_of_processor(&facts);
        cache_file(control, &format!("caches-{key}.json"))
    }

    fn probe(&self, control: &Control) -> Result<Option<Capacity>, RuntimeError> {
        let [.., inner, _] = &self.caches[..] else {
            return Ok(None);
        };
        let memory = control.memory_for_probes().min(2 * self.reported_last());
        let sizes = sizes(2 * inner.bytes * inner.count as u64, memory);
        // Two arrays do not show where a rate falls.
        let &[_, .., largest] = &sizes[..] else {
            return Ok(None);
        };
        let read = kernels::read(self, largest);
        let kernel = runtime::compile(&read, &Options::default(), control)?;
        let variant = |bytes: &u64| {
            let count = Scalar::Float((bytes / 8) as f64);
            Workload {
                label: format!("reading {bytes} bytes"),
                kernel: kernel.clone(),
                data: vec![
                    Data::Unset,
                    Data::Constant(1.0.into()),
                    Data::Constant(count),
                ],
                threads: self.threads,
                apart: false,
                checked: None,
            }
        };
        let variants: Vec<Workload> = sizes.iter().map(variant).collect();
        let each = control.probe_time / variants.len() as u32;
        let budget = Budget::of(3..=10, each);
        let timings = match runtime::measure(&variants, &budget, &kernels::bounded(control)) {
            Ok(timings) => timings,
            Err(RuntimeError::Allocation { .. } | RuntimeError::TimedOut { .. }) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        // Other programs make a run slower, never faster.
        let rate = |(bytes, timing): (&u64, &Timing)| {
            let seconds = timing.min.as_secs_f64().max(1e-9);
            (*bytes, *bytes as f64 / seconds / 1e9)
        };
        let rates: Vec<(u64, f64)> = sizes.iter().zip(&timings).map(rate).collect();
        Ok(end_of_cache(&rates, are_quiet(&timings)))
    }
}

/// Sizes from `least` to at most `most` bytes, in whole pages. They grow alternately by a half and
/// a third, so that every second one doubles.
fn sizes(least: u64, most: u64) -> Vec<u64> {
    let pages = |bytes: u64| bytes.next_multiple_of(kernels::PAGE);
    let doubled = std::iter::successors(Some(least.max(kernels::PAGE)), |size| size.checked_mul(2));
    let all = doubled.flat_map(|size| [pages(size), pages(size / 2 * 3)]);
    all.take_while(|size| *size <= most).collect()
}

/// The largest array that is read faster than the geometric mean of both ends of `rates`; the
/// largest of all if the rate does not fall.
fn end_of_cache(rates: &[(u64, f64)], quiet: bool) -> Option<Capacity> {
    let &(largest, beyond) = rates.last()?;
    let within = rates.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let least = if within / beyond >= CACHE_CLIFF_RATIO {
        (within * beyond).sqrt()
    } else {
        0.0
    };
    let fast = rates.iter().rev().find(|(_, rate)| *rate >= least);
    Some(Capacity {
        bytes: fast.map_or(largest, |(bytes, _)| *bytes),
        within,
        beyond,
        quiet,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_double_in_two_steps_up_to_the_bound() {
        let kib = |sizes: Vec<u64>| sizes.iter().map(|s| s >> 10).collect::<Vec<_>>();
        let found = sizes(64 << 10, 400 << 10);
        assert_eq!(kib(found), [64, 96, 128, 192, 256, 384]);
        assert_eq!(sizes(64 << 10, 1 << 10), [] as [u64; 0]);
        assert!(sizes(0, 1 << 20).iter().all(|s| s % kernels::PAGE == 0));
    }

    #[test]
    fn the_cache_ends_where_the_rate_falls() {
        let end = |rates: &[f64]| {
            let rates: Vec<(u64, f64)> = (1..).zip(rates.iter().copied()).collect();
            end_of_cache(&rates, true).map(|capacity| capacity.bytes)
        };
        assert_eq!(end(&[30.0, 29.0, 29.5, 25.0, 16.0, 10.0, 10.0]), Some(4));
        // One array was disturbed.
        assert_eq!(end(&[30.0, 8.0, 29.5, 25.0, 16.0, 10.0, 10.0]), Some(4));
        // The rate never falls, or memory is as fast as the cache.
        assert_eq!(end(&[30.0, 29.0, 28.0]), Some(3));
        assert_eq!(end(&[]), None);
    }
}
