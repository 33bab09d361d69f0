//! How fast the machine is at best.

use super::Machine;
use super::kernels::{self, Arrays};
use super::memo::{TRIES, are_quiet, forget as forget_file, recall, remember};
use crate::codegen::Kernel;
use crate::ir::Elem;
use crate::runtime::{
    self, Budget, Compiler, Control, Data, Options, RuntimeError, Scalar, Timing, Workload,
    cache_file,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// What was measured with one number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// The number of threads.
    pub threads: usize,
    /// At best of arithmetic, in the median of memory.
    pub rates: Rates,
    /// Whether others left the machine alone meanwhile, as far as that is known.
    #[serde(default)]
    pub quiet: bool,
}

/// More threads are no slower than fewer, to this factor.
const SLOWER: f64 = 0.9;

/// Rates in units of 10^9 per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Operations on `f64`, where a fused multiply-add is two.
    pub gflops_f64: f64,
    /// Operations on `f32`.
    pub gflops_f32: f64,
    /// Bytes that are read from memory.
    pub read: f64,
    /// Bytes that `a[k] = 3 * b[k]` reads and writes past the caches, one half each.
    pub copy: f64,
    /// Bytes that `a[k] = b[k] + 3 * c[k]` reads and writes past the caches, two thirds of them
    /// reads.
    pub triad: f64,
}

impl Rates {
    /// The rate of operations on elements of a type; nothing is measured for integers.
    pub fn gflops(&self, elem: Elem) -> Option<f64> {
        match elem {
            Elem::F64 => Some(self.gflops_f64),
            Elem::F32 => Some(self.gflops_f32),
            Elem::I32 | Elem::I64 => None,
        }
    }

    /// The better one of each: whatever else a machine does makes it slower, never faster.
    #[must_use]
    pub fn or_better(self, other: Rates) -> Rates {
        Rates {
            gflops_f64: self.gflops_f64.max(other.gflops_f64),
            gflops_f32: self.gflops_f32.max(other.gflops_f32),
            read: self.read.max(other.read),
            copy: self.copy.max(other.copy),
            triad: self.triad.max(other.triad),
        }
    }

    /// Whether these are rates of more threads than `fewer` are of, which can be.
    fn can_be_of_more(&self, fewer: &Rates) -> bool {
        let pairs = [
            (self.gflops_f64, fewer.gflops_f64),
            (self.gflops_f32, fewer.gflops_f32),
            (self.read, fewer.read),
            (self.copy, fewer.copy),
            (self.triad, fewer.triad),
        ];
        pairs.iter().all(|(more, fewer)| *more >= SLOWER * fewer)
    }

    /// Bytes to and from memory, at best.
    pub fn bandwidth(&self) -> f64 {
        self.read.max(self.copy).max(self.triad)
    }

    /// The seconds in which so many bytes are read from memory and written to it.
    ///
    /// Both can go on at the same time, so how long a byte takes depends on how many of all are
    /// written. It is known for none, for a third, and for a half of them; in between, some are
    /// moved as the one does and some as the other. Beyond, it is what it is for a half.
    pub fn moving(&self, read: f64, written: f64) -> f64 {
        let bytes = read + written;
        let known = [(0.0, self.read), (1.0 / 3.0, self.triad), (0.5, self.copy)];
        let known = known.map(|(part, rate)| (part, 1e-9 / rate));
        let part = (written / bytes.max(1.0)).min(0.5);
        let between = known.windows(2).find(|pair| part <= pair[1].0);
        let each = match between {
            Some(&[low, high]) => low.1 + (high.1 - low.1) * (part - low.0) / (high.0 - low.0),
            _ => known[2].1,
        };
        bytes * each
    }

    /// What limits a computation, and the least time in seconds that it takes: its operations, or
    /// its inputs and results, unless `caches` hold all of them.
    pub fn limit(&self, of: &Demand, caches: u64) -> Option<(Resource, f64)> {
        let in_memory = of.read + of.written > caches as f64;
        let resources = [
            Some(Resource::Arithmetic),
            in_memory.then_some(Resource::Memory),
        ];
        let times = resources.into_iter().flatten();
        let times = times.filter_map(|resource| Some((resource, self.seconds(of, resource)?)));
        let (resource, seconds) = times.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let possible = seconds.is_finite() && seconds > 0.0;
        possible.then_some((resource, seconds))
    }

    /// The seconds that a computation needs of one resource; nothing is known of the arithmetic of
    /// integers.
    pub fn seconds(&self, of: &Demand, resource: Resource) -> Option<f64> {
        match resource {
            Resource::Arithmetic => Some(of.flops / self.gflops(of.elem)? / 1e9),
            Resource::Memory => Some(self.moving(of.read, of.written)),
        }
    }
}

/// What a computation needs of a machine at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// The type of the elements that it computes.
    pub elem: Elem,
    /// Operations.
    pub flops: f64,
    /// Bytes of inputs.
    pub read: f64,
    /// Bytes of results.
    pub written: f64,
}

/// What can limit a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Operations.
    Arithmetic,
    /// Bytes to and from memory.
    Memory,
}

/// How fast `threads` threads are, measured in some seconds, or remembered from then. What was measured
/// while others used the machine is measured again.
///
/// # Errors
/// As [`runtime::compile`] and [`runtime::measure`].
pub fn speed(threads: usize, control: &Control) -> Result<Speed, RuntimeError> {
    let known = Known::read(control)?;
    match known.of(threads).filter(|speed| speed.quiet) {
        Some(speed) => Ok(speed.clone()),
        None => known.measured(threads, control),
    }
}

/// How fast `threads` threads are, if that was measured before.
pub fn known_speed(threads: usize, control: &Control) -> Option<Speed> {
    Known::read(control).ok()?.of(threads).cloned()
}

/// The same, measured in any case; what is remembered counts where it is better, since whatever
/// else a machine does makes it slower, never faster.
///
/// # Errors
/// As [`speed`].
pub fn speed_at_best(threads: usize, control: &Control) -> Result<Speed, RuntimeError> {
    Known::read(control)?.measured(threads, control)
}

/// Forgets what was measured.
///
/// # Errors
/// As [`Compiler::find`](crate::runtime::Compiler::find).
pub fn forget(control: &Control) -> Result<(), RuntimeError> {
    Machine::forget_measured(control);
    forget_file(Known::read(control)?.file.as_deref());
    Ok(())
}

/// Kernels that tell what a machine can do, to be measured in the same run as others: what it can
/// do changes while others use it, too.
pub struct Probes {
    /// What is to be measured.
    pub variants: Vec<Workload>,
    counts: [f64; 5],
}

impl Probes {
    /// With `threads` threads.
    ///
    /// # Errors
    /// As [`Machine::measured`] and [`runtime::compile`].
    pub fn new(threads: usize, control: &Control) -> Result<Probes, RuntimeError> {
        let machine = Machine::measured(control)?;
        let arrays = Arrays::new(&machine, control.memory_for_probes());
        // Kernels that read the same array share its memory.
        let array = || Data::Constant(Scalar::Float(0.5));
        let variant = |kernel: Kernel, inputs: Vec<Data>| -> Result<Workload, RuntimeError> {
            Ok(Workload {
                label: kernel.symbol.clone(),
                kernel: runtime::compile(&kernel, &Options::default(), control)?,
                data: [Data::Unset].into_iter().chain(inputs).collect(),
                threads,
                apart: false,
                checked: None,
            })
        };
        let read = kernels::read(&machine, arrays.read() * 8);
        let count = Data::Constant(Scalar::Float(arrays.read() as f64));
        let [read_bytes, copied, added] = arrays.moved();
        let fma = variant(kernels::fma(&machine, Elem::F64), vec![array()])?;
        let threads = if fma.kernel.is_serial() { 1 } else { threads };
        Ok(Probes {
            variants: vec![
                fma,
                variant(kernels::fma(&machine, Elem::F32), vec![array()])?,
                variant(read, vec![array(), count])?,
                variant(kernels::copy(&arrays), vec![array()])?,
                variant(kernels::triad(&arrays), vec![array()])?,
            ],
            counts: [
                kernels::operations(&machine, Elem::F64, threads),
                kernels::operations(&machine, Elem::F32, threads),
                read_bytes,
                copied,
                added,
            ],
        })
    }

    /// What was measured, in the median or at best, as `of` says; `None` if that are not the times
    /// of these variants.
    ///
    /// What a machine can do changes while others use it, so medians of variants are compared with
    /// medians of probes that took turns with them.
    pub fn rates(&self, timings: &[Timing], of: impl Fn(&Timing) -> Duration) -> Option<Rates> {
        let [f64, f32, read, copy, triad] = timings else {
            return None;
        };
        let rate = |timing: &Timing, count: f64| count / (of(timing).as_secs_f64().max(1e-9) * 1e9);
        Some(Rates {
            gflops_f64: rate(f64, self.counts[0]),
            gflops_f32: rate(f32, self.counts[1]),
            read: rate(read, self.counts[2]),
            copy: rate(copy, self.counts[3]),
            triad: rate(triad, self.counts[4]),
        })
    }
}

impl Probes {
    /// Measures the probes alone: the rates in the median and at best, and whether others left the
    /// machine alone.
    ///
    /// # Errors
    /// As [`runtime::measure`].
    pub fn alone(&self, control: &Control) -> Result<([Rates; 2], bool), RuntimeError> {
        let each = control.probe_time / self.variants.len() as u32;
        // The best of many runs tells what the machine can do.
        let budget = Budget {
            min_runs: 5,
            max_runs: 100,
            time: each,
            patience: 2 * each,
            enough: None,
            reached: None,
            repeats: true,
        };
        let timings = runtime::measure(&self.variants, &budget, &kernels::bounded(control))?;
        let usual = self.rates(&timings, |timing| timing.median);
        let best = self.rates(&timings, |timing| timing.min);
        let rates = usual.zip(best).ok_or_else(interrupted)?;
        Ok(([rates.0, rates.1], are_quiet(&timings)))
    }

    /// The same, as one: a core's units are there for one thread only; of memory, others may leave
    /// more for some runs than there is at other times.
    fn measured(&self, control: &Control) -> Result<(Rates, bool), RuntimeError> {
        let ([usual, best], quiet) = self.alone(control)?;
        let rates = Rates {
            gflops_f64: best.gflops_f64,
            gflops_f32: best.gflops_f32,
            ..usual
        };
        Ok((rates, quiet))
    }
}

/// What is remembered.
struct Known {
    file: Option<PathBuf>,
    speeds: Vec<Speed>,
}

impl Known {
    fn read(control: &Control) -> Result<Known, RuntimeError> {
        let file = file(control)?;
        let speeds = recall(file.as_deref()).unwrap_or_default();
        Ok(Known { file, speeds })
    }

    fn of(&self, threads: usize) -> Option<&Speed> {
        self.speeds.iter().find(|s| s.threads == threads)
    }

    fn measured(mut self, threads: usize, control: &Control) -> Result<Speed, RuntimeError> {
        let probes = Probes::new(threads, control)?;
        let mut found: Option<Speed> = None;
        for _ in 0..TRIES {
            let (rates, quiet) = probes.measured(control)?;
            let speed = Speed {
                threads,
                quiet: quiet && self.is_possible(threads, &rates),
                rates: match &found {
                    Some(before) => rates.or_better(before.rates),
                    None => rates,
                },
            };
            let is_quiet = speed.quiet;
            found = Some(speed);
            if is_quiet {
                break;
            }
        }
        let mut speed = found.ok_or_else(interrupted)?;
        if let Some(known) = self.of(threads) {
            speed.rates = speed.rates.or_better(known.rates);
            speed.quiet |= known.quiet;
        }
        self.speeds.retain(|s| s.threads != threads);
        self.speeds.push(speed.clone());
        remember(self.file.as_deref(), &self.speeds);
        Ok(speed)
    }

    /// Whether so many threads can have these rates, by what is known of fewer.
    fn is_possible(&self, threads: usize, rates: &Rates) -> bool {
        let fewer = self.speeds.iter().filter(|s| s.threads < threads);
        fewer.into_iter().all(|s| rates.can_be_of_more(&s.rates))
    }
}

/// Where the results are kept: a file for everything that they depend on. Arrays are as large as
/// they have to be, which is no property of the machine.
fn file(control: &Control) -> Result<Option<PathBuf>, RuntimeError> {
    let machine = Machine::this();
    let arrays = Arrays::new(&machine, 0);
    let computing = [Elem::F64, Elem::F32].map(|elem| kernels::fma(&machine, elem));
    let moving = [
        kernels::read(&machine, 0),
        kernels::copy(&arrays),
        kernels::triad(&arrays),
    ];
    let kernels = computing.into_iter().chain(moving);
    let source: String = kernels.map(|kernel| kernel.source()).collect();
    let compiler = Compiler::find(control)?;
    let flags = Options::default().flags(compiler, false);
    let key = compiler.key(&source, &compiler.command_line(&flags));
    Ok(cache_file(control, &format!("machine-{key}.json")))
}

fn interrupted() -> RuntimeError {
    RuntimeError::Interrupted {
        during: "measuring".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_threads_are_no_slower_than_fewer() {
        let rates = |factor: f64| Rates {
            gflops_f64: 10.0 * factor,
            gflops_f32: 20.0 * factor,
            read: 40.0,
            copy: 30.0 * factor,
            triad: 30.0,
        };
        let known = Known {
            file: None,
            speeds: vec![Speed {
                threads: 1,
                rates: rates(1.0),
                quiet: true,
            }],
        };
        assert!(known.is_possible(2, &rates(1.9)) && known.is_possible(2, &rates(0.95)));
        assert!(!known.is_possible(2, &rates(0.5)));
        // As was measured on a busy machine.
        let slow_memory = Rates {
            read: 0.5,
            ..rates(1.9)
        };
        assert!(!known.is_possible(2, &slow_memory));
        assert!(known.is_possible(1, &rates(0.5)));
    }

    #[test]
    fn bytes_take_as_long_as_in_the_probes_of_the_same_mix() {
        let rates = Rates {
            gflops_f64: 1.0,
            gflops_f32: 1.0,
            read: 40.0,
            copy: 60.0,
            triad: 50.0,
        };
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} is not {b}");
        close(rates.moving(40e9, 0.0), 1.0);
        close(rates.moving(100e9, 50e9), 3.0);
        close(rates.moving(60e9, 60e9), 2.0);
        close(rates.moving(0.0, 60e9), 1.0);
        // Three reads for a write: the triad, and one more read.
        close(rates.moving(120e9, 40e9), 120.0 / 50.0 + 40.0 / 40.0);
        close(rates.moving(0.0, 0.0), 0.0);
    }
}
