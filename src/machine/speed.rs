//! How fast the machine is at best: kernels that do nothing but compute, or nothing but move
//! data, compiled and timed as all others are.

use super::Machine;
use crate::codegen::{Kernel, Param, Role};
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
    /// At best.
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
    /// Bytes that `a[k] = b[k] + 3 * c[k]` names, of which two thirds are read.
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
            triad: self.triad.max(other.triad),
        }
    }

    /// Bytes per second to or from memory, at best.
    pub fn bandwidth(&self) -> f64 {
        self.read.max(self.triad)
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
    counts: [f64; 4],
}

impl Probes {
    /// With `threads` threads.
    ///
    /// # Errors
    /// As [`runtime::compile`].
    pub fn new(threads: usize, control: &Control) -> Result<Probes, RuntimeError> {
        Bench::new().probes(threads, control)
    }

    /// The best of what was measured; `None` if that are not the times of these variants.
    pub fn rates(&self, timings: &[Timing]) -> Option<Rates> {
        let [f64, f32, read, triad] = timings else {
            return None;
        };
        let rate = |timing: &Timing, count: f64| count / (timing.min.as_secs_f64().max(1e-9) * 1e9);
        Some(Rates {
            gflops_f64: rate(f64, self.counts[0]),
            gflops_f32: rate(f32, self.counts[1]),
            read: rate(read, self.counts[2]),
            triad: rate(triad, self.counts[3]),
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
        let kernels = kernels.into_iter().chain([self.read(), self.triad()]);
        let source: String = kernels.map(|kernel| kernel.source()).collect();
        let compiler = Compiler::find()?;
        let key = compiler.key(&source, &self.options.flags(compiler, false));
        let file = |directory: PathBuf| directory.join(format!("machine-{key}.json"));
        Ok(cache_directory(control).map(file))
    }

    fn measure(&self, threads: usize, control: &Control) -> Result<Rates, RuntimeError> {
        let probes = self.probes(threads, control)?;
        let timings = runtime::measure(&probes.variants, &BUDGET, control)?;
        probes.rates(&timings).ok_or(RuntimeError::Interrupted {
            during: "measuring".to_owned(),
        })
    }

    fn probes(&self, threads: usize, control: &Control) -> Result<Probes, RuntimeError> {
        let half = || Data::Constant(Scalar::Float(0.5));
        let variant = |kernel: Kernel, inputs: usize| -> Result<Variant, RuntimeError> {
            let inputs = std::iter::repeat_with(half).take(inputs);
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
                variant(self.triad(), 2)?,
            ],
            counts: [
                operations(Elem::F64),
                operations(Elem::F32),
                bytes,
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
        kernel("teml_fma", before + include_str!("fma.c"), params)
    }

    fn read(&self) -> Kernel {
        let (bytes, count) = (self.vector_bytes, self.count);
        let before = format!("#define BYTES {bytes}\n#define COUNT {count}\n");
        let params = [
            param(1, Elem::F64, Role::Out),
            param(count, Elem::F64, Role::In),
        ];
        kernel("teml_read", before + include_str!("read.c"), params)
    }

    fn triad(&self) -> Kernel {
        let of = |role| param(self.count, Elem::F64, role);
        let before = format!("#define COUNT {}\n", self.count);
        let params = [of(Role::Out), of(Role::In), of(Role::In)];
        kernel("teml_triad", before + include_str!("triad.c"), params)
    }
}

fn param(count: u64, elem: Elem, role: Role) -> Param {
    let tensor = Tensor::new(Shape::of_extents([count]), elem);
    Param { tensor, role }
}

fn kernel<const N: usize>(symbol: &str, function: String, params: [Param; N]) -> Kernel {
    Kernel {
        symbol: symbol.to_owned(),
        headers: Default::default(),
        function,
        params: params.into(),
        proof: Proof::Proved,
    }
}
