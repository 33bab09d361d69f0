//! Measures how fast the machine is at best.

use super::Machine;
use super::kernels::{self, Arrays};
use super::memo::{are_quiet, forget as forget_file, recall, remember};
use crate::codegen::Kernel;
use crate::ir::Elem;
use crate::runtime::tolerances::{MACHINE_TRIES, MORE_THREADS_RATIO};
use crate::runtime::{
    self, Budget, Compiler, Control, Data, Options, RuntimeError, Scalar, Timing, Workload,
    cache_file,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// The rates with one number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    pub threads: usize,
    /// The best rates of arithmetic, and the median rates of memory.
    pub rates: Rates,
    /// Whether no other program disturbed the measurement, as far as that is known.
    #[serde(default)]
    pub quiet: bool,
}

/// Rates in units of 10^9 per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Operations on `f64`; a fused multiply-add counts twice.
    pub gflops_f64: f64,
    /// Operations on `f32`.
    pub gflops_f32: f64,
    /// Bytes read from memory.
    pub read: f64,
    /// Bytes that `a[k] = 3 * b[k]` reads and writes, half each, with stores that bypass the
    /// caches.
    pub copy: f64,
    /// Bytes that `a[k] = b[k] + 3 * c[k]` reads and writes, two thirds of them reads, with stores
    /// that bypass the caches.
    pub triad: f64,
}

impl Rates {
    /// The rate of operations on elements of a type; integer rates are not measured.
    pub fn gflops(&self, elem: Elem) -> Option<f64> {
        match elem {
            Elem::F64 => Some(self.gflops_f64),
            Elem::F32 => Some(self.gflops_f32),
            Elem::I32 | Elem::I64 => None,
        }
    }

    /// The better one of each rate: other programs make a machine slower, never faster.
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

    /// Whether these can be the rates of more threads than those of `fewer`.
    fn can_be_of_more(&self, fewer: &Rates) -> bool {
        let pairs = [
            (self.gflops_f64, fewer.gflops_f64),
            (self.gflops_f32, fewer.gflops_f32),
            (self.read, fewer.read),
            (self.copy, fewer.copy),
            (self.triad, fewer.triad),
        ];
        pairs
            .iter()
            .all(|(more, fewer)| *more >= MORE_THREADS_RATIO * fewer)
    }

    /// Bytes to and from memory, at best.
    pub fn bandwidth(&self) -> f64 {
        self.read.max(self.copy).max(self.triad)
    }

    /// The seconds in which so many bytes are read from memory and written to it.
    ///
    /// Reads and writes overlap, so the time per byte depends on the share of writes. It is
    /// measured for no writes, a third, and a half. In between, it is interpolated: some bytes move
    /// at one rate and some at the other. Beyond a half, it is that of a half.
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

    /// The limiting resource of a computation, and its least time in seconds: that of its
    /// operations, or that of its inputs and results, unless `caches` hold all of them.
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

    /// The seconds that a computation needs of one resource; `None` for integer arithmetic, which
    /// is not measured.
    pub fn seconds(&self, of: &Demand, resource: Resource) -> Option<f64> {
        match resource {
            Resource::Arithmetic => Some(of.flops / self.gflops(of.elem)? / 1e9),
            Resource::Memory => Some(self.moving(of.read, of.written)),
        }
    }
}

/// The least that a computation needs of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// The element type of the results.
    pub elem: Elem,
    /// Operations.
    pub flops: f64,
    /// Bytes of inputs.
    pub read: f64,
    /// Bytes of results.
    pub written: f64,
}

/// A resource that can limit a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Arithmetic,
    /// Bytes to and from memory.
    Memory,
}

/// How fast `threads` threads are, measured in some seconds, or remembered. A disturbed measurement
/// is repeated.
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

/// As [`speed`], but always measured. Remembered rates replace the new ones where they are better,
/// since other programs make a machine slower, never faster.
///
/// # Errors
/// As [`speed`].
pub fn speed_at_best(threads: usize, control: &Control) -> Result<Speed, RuntimeError> {
    Known::read(control)?.measured(threads, control)
}

/// Forgets all measurements.
///
/// # Errors
/// As [`Compiler::find`](crate::runtime::Compiler::find).
pub fn forget(control: &Control) -> Result<(), RuntimeError> {
    Machine::forget_measured(control);
    forget_file(Known::read(control)?.file.as_deref());
    Ok(())
}

/// Kernels that probe the speed of the machine, measured in the same run as variants: the speed
/// changes with the load by other programs.
pub struct Probes {
    /// The kernels to be measured.
    pub variants: Vec<Workload>,
    counts: [f64; 5],
}

impl Probes {
    /// The probes for `threads` threads.
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

    /// The rates, in the median or at best, as `of` chooses; `None` if the times do not belong to
    /// these variants.
    ///
    /// The speed of a machine changes with the load by other programs. So medians of variants are
    /// compared with medians of probes that took turns with them.
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
    /// Measures the probes alone: the median and the best rates, and whether the run was
    /// undisturbed.
    ///
    /// # Errors
    /// As [`runtime::measure`].
    pub fn alone(&self, control: &Control) -> Result<([Rates; 2], bool), RuntimeError> {
        let each = control.probe_time / self.variants.len() as u32;
        // The best of many runs shows the speed of the machine.
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

    /// As [`alone`](Probes::alone), as one set of rates. A core's units serve one thread, so the
    /// best time of arithmetic is used. Other programs may leave more of the memory to some runs
    /// than to most, so the median of memory is used.
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

/// The remembered rates.
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
        for _ in 0..MACHINE_TRIES {
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

    /// Whether so many threads can have these rates, given the rates of fewer.
    fn is_possible(&self, threads: usize, rates: &Rates) -> bool {
        let fewer = self.speeds.iter().filter(|s| s.threads < threads);
        fewer.into_iter().all(|s| rates.can_be_of_more(&s.rates))
    }
}

/// The file of the results, named after everything that they depend on. Arrays are as large as they
/// have to be, so their size is not part of the name.
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
        // Such rates were measured on a busy machine.
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
        // Three reads per write: the triad, and one more read.
        close(rates.moving(120e9, 40e9), 120.0 / 50.0 + 40.0 / 40.0);
        close(rates.moving(0.0, 0.0), 0.0);
    }
}
