//! How fast the machine is at best: kernels that do nothing but compute, or nothing but move
//! data, compiled and timed as all others are.

use super::Machine;
use crate::codegen::{Header, Kernel, Param, Role};
use crate::ir::{Elem, Shape, Tensor};
use crate::legality::Proof;
use crate::runtime::{
    self, Budget, Compiler, Control, Data, Options, RuntimeError, Scalar, Timing, Variant,
    cache_directory,
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
}

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

    fn or_better(self, other: Rates) -> Rates {
        Rates {
            gflops_f64: self.gflops_f64.max(other.gflops_f64),
            gflops_f32: self.gflops_f32.max(other.gflops_f32),
            read: self.read.max(other.read),
            copy: self.copy.max(other.copy),
            triad: self.triad.max(other.triad),
        }
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
}

/// How fast `threads` threads are, measured in some seconds, or remembered from then.
///
/// # Errors
/// As [`runtime::compile`] and [`runtime::measure`].
pub fn speed(threads: usize, control: &Control) -> Result<Speed, RuntimeError> {
    let known = Known::read(control)?;
    match known.of(threads) {
        Some(rates) => Ok(Speed { threads, rates }),
        None => known.measured(threads, control),
    }
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
    if let Some(file) = Known::read(control)?.file {
        // There may be none.
        let _ = std::fs::remove_file(file);
    }
    Ok(())
}

/// Kernels that tell what a machine can do, to be measured in the same run as others: what it can
/// do changes while others use it, too.
pub struct Probes {
    /// What is to be measured.
    pub variants: Vec<Variant>,
    counts: [f64; 5],
}

impl Probes {
    /// With `threads` threads.
    ///
    /// # Errors
    /// As [`runtime::compile`].
    pub fn new(threads: usize, control: &Control) -> Result<Probes, RuntimeError> {
        Bench::new().probes(threads, control)
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

/// What is remembered.
struct Known {
    bench: Bench,
    file: Option<PathBuf>,
    speeds: Vec<Speed>,
}

impl Known {
    fn read(control: &Control) -> Result<Known, RuntimeError> {
        let bench = Bench::new();
        let file = bench.file(control)?;
        let text = file.as_ref().and_then(|f| std::fs::read_to_string(f).ok());
        let speeds = text.and_then(|text| serde_json::from_str(&text).ok());
        let speeds = speeds.unwrap_or_default();
        Ok(Known {
            bench,
            file,
            speeds,
        })
    }

    fn of(&self, threads: usize) -> Option<Rates> {
        let mut speeds = self.speeds.iter();
        Some(speeds.find(|s| s.threads == threads)?.rates)
    }

    fn measured(mut self, threads: usize, control: &Control) -> Result<Speed, RuntimeError> {
        let mut rates = self.bench.measure(threads, control)?;
        if let Some(known) = self.of(threads) {
            rates = rates.or_better(known);
        }
        let speed = Speed { threads, rates };
        self.speeds.retain(|s| s.threads != threads);
        self.speeds.push(speed.clone());
        // Where nothing can be kept, it is measured again next time.
        let _ = self.write();
        Ok(speed)
    }

    fn write(&self) -> std::io::Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let directory = file.parent().ok_or(std::io::ErrorKind::NotFound)?;
        std::fs::create_dir_all(directory)?;
        let new = tempfile::NamedTempFile::new_in(directory)?;
        serde_json::to_writer(&new, &self.speeds)?;
        new.persist(file)?;
        Ok(())
    }
}

/// What is measured on this machine.
struct Bench {
    vector_bytes: usize,
    many_registers: bool,
    /// The elements of an array that no cache holds.
    count: u64,
    options: Options,
}

/// The rounds of `fma.c`: some milliseconds, so short that among many runs there are some that
/// nothing else disturbs.
const ROUNDS: u64 = 2_000_000;

/// As many runs as fit into a second: the best of them tells what the machine can do.
const BUDGET: Budget = Budget {
    min_runs: 5,
    max_runs: 100,
    time: Duration::from_secs(1),
    patience: Duration::from_secs(5),
};

/// What an array should have at least, and may have at most, in bytes.
const ARRAY: (u64, u64) = (128 << 20, 2 << 30);

impl Bench {
    fn new() -> Bench {
        let machine = Machine::this();
        let vector = machine.vector.as_ref();
        let memory = machine.memory.unwrap_or(u64::MAX);
        let array = (4 * machine.last_caches()).clamp(ARRAY.0, ARRAY.1);
        let array = array.min(memory / 16).max(1 << 20);
        Bench {
            vector_bytes: vector.map_or(16, |v| v.bytes),
            many_registers: vector.is_some_and(|v| v.registers >= 32),
            // A whole number of pages, so a whole number of blocks of registers.
            count: array / 4096 * 4096 / 8,
            options: Options::default(),
        }
    }

    /// Where the results are kept: a file for everything that they depend on.
    fn file(&self, control: &Control) -> Result<Option<PathBuf>, RuntimeError> {
        let kernels = [Elem::F64, Elem::F32].map(|elem| self.fma(elem));
        let moving = [self.read(), self.copy(), self.triad()];
        let kernels = kernels.into_iter().chain(moving);
        let source: String = kernels.map(|kernel| kernel.source()).collect();
        let compiler = Compiler::find()?;
        let key = compiler.key(&source, &self.options.flags(compiler, false));
        let file = |directory: PathBuf| directory.join(format!("machine-{key}.json"));
        Ok(cache_directory(control).map(file))
    }

    fn measure(&self, threads: usize, control: &Control) -> Result<Rates, RuntimeError> {
        let probes = self.probes(threads, control)?;
        let timings = runtime::measure(&probes.variants, &BUDGET, control)?;
        let usual = probes.rates(&timings, |timing| timing.median);
        let best = probes.rates(&timings, |timing| timing.min);
        // A core's units are there for one thread only; of memory, others may leave more for some
        // runs than there is at other times.
        let rates = usual.zip(best).map(|(usual, best)| Rates {
            gflops_f64: best.gflops_f64,
            gflops_f32: best.gflops_f32,
            ..usual
        });
        rates.ok_or(RuntimeError::Interrupted {
            during: "measuring".to_owned(),
        })
    }

    fn probes(&self, threads: usize, control: &Control) -> Result<Probes, RuntimeError> {
        // Kernels that read the same data read the same memory, and these must not.
        let constant = |number: usize| Data::Constant(Scalar::Float(0.5 / (1 + number) as f64));
        let variant = |kernel: Kernel, inputs: usize| -> Result<Variant, RuntimeError> {
            let inputs = (0..inputs).map(constant);
            Ok(Variant {
                label: kernel.symbol.clone(),
                kernel: runtime::compile(&kernel, &self.options, control)?,
                data: [Data::Unset].into_iter().chain(inputs).collect(),
                threads,
                apart: false,
                checked: None,
            })
        };
        let operations = |elem: Elem| {
            let sums = if self.many_registers { 24 } else { 12 };
            let lanes = self.vector_bytes / elem.size();
            (threads * sums * lanes * 2) as f64 * ROUNDS as f64
        };
        let bytes = (self.count * 8) as f64;
        Ok(Probes {
            variants: vec![
                variant(self.fma(Elem::F64), 1)?,
                variant(self.fma(Elem::F32), 1)?,
                variant(self.read(), 1)?,
                variant(self.copy(), 1)?,
                variant(self.triad(), 2)?,
            ],
            counts: [
                operations(Elem::F64),
                operations(Elem::F32),
                bytes,
                2.0 * bytes,
                3.0 * bytes,
            ],
        })
    }

    fn fma(&self, elem: Elem) -> Kernel {
        let (name, bytes) = (elem.c_name(), self.vector_bytes);
        let many = u8::from(self.many_registers);
        let before = format!(
            "#define ELEM {name}\n#define BYTES {bytes}\n#define MANY {many}\n#define ROUNDS {ROUNDS}\n"
        );
        let params = [param(1, elem, Role::Out), param(2, elem, Role::In)];
        kernel("teml_fma", before + include_str!("fma.c"), params, [])
    }

    fn read(&self) -> Kernel {
        let (bytes, count) = (self.vector_bytes, self.count);
        let before = format!("#define BYTES {bytes}\n#define COUNT {count}\n");
        let params = [
            param(1, Elem::F64, Role::Out),
            param(count, Elem::F64, Role::In),
        ];
        kernel("teml_read", before + include_str!("read.c"), params, [])
    }

    fn copy(&self) -> Kernel {
        let inputs = [Role::In];
        self.streaming("teml_copy", include_str!("copy.c"), &inputs)
    }

    fn triad(&self) -> Kernel {
        let inputs = [Role::In, Role::In];
        self.streaming("teml_triad", include_str!("triad.c"), &inputs)
    }

    /// A kernel that writes an array past the caches.
    fn streaming(&self, symbol: &str, function: &str, inputs: &[Role]) -> Kernel {
        let roles = [Role::Out].into_iter().chain(inputs.iter().copied());
        let params = roles.map(|role| param(self.count, Elem::F64, role));
        let before = format!("#define COUNT {}\n", self.count);
        let headers = [Header::Integers, Header::Vectors];
        kernel(symbol, before + function, params, headers)
    }
}

fn param(count: u64, elem: Elem, role: Role) -> Param {
    let tensor = Tensor::new(Shape::of_extents([count]), elem);
    Param { tensor, role }
}

fn kernel(
    symbol: &str,
    function: String,
    params: impl IntoIterator<Item = Param>,
    headers: impl IntoIterator<Item = Header>,
) -> Kernel {
    Kernel {
        symbol: symbol.to_owned(),
        headers: headers.into_iter().collect(),
        function,
        params: params.into_iter().collect(),
        proof: Proof::Proved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
