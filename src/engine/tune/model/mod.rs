//! A cost model: predicts the time of a nest before anything is compiled, and what bounds it.
//!
//! The plan of a nest says which loops are vectorized and which tensors are in registers. The model
//! reads it (`read.rs`) as loops with trip counts and accesses with strides (`shape.rs`). For each
//! innermost loop, it derives the bytes that come to each level of cache (`traffic.rs`), and the
//! instructions of a thread (`work.rs`, `code.rs`), as its target's pipeline executes them. The
//! slowest of these bounds the loop; the others overlap with it in part (`cost.rs`).
//!
//! The model ignores conflict misses, pages, and the compiler's choices beyond unrolling and
//! vectors. A search corrects it by measured times.
//!
//! Source: Mullapudi et al., Automatically Scheduling Halide Image Processing Pipelines, SIGGRAPH
//! 2016 (footprints of loop levels); Williams et al., Roofline, CACM 2009.

mod code;
mod cost;
mod kernel;
mod loads;
mod processor;
mod read;
mod shape;
mod traffic;
mod work;

use crate::codegen;
use crate::ir::Nest;
use crate::machine::{self, Machine, Rates};
use crate::runtime::Control;
use crate::target::{Pipeline, Target};
use rayon::prelude::*;
use shape::Shape;

/// The capabilities of a machine, in the units of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    target: Target,
    threads: f64,
    /// Bytes of a vector register, and number of registers.
    vector: (f64, f64),
    /// Cycles per second of one thread: with all its arithmetic units busy, it has the measured rate.
    clock: f64,
    /// The caches, nearest first. Each has its bytes per thread, and the bytes per second that one
    /// thread and all threads get from the level behind it.
    levels: Vec<Level>,
    /// The cost of a parallel region, in seconds.
    region: f64,
}

/// A cache and the bandwidth to it.
#[derive(Clone, Debug, PartialEq)]
struct Level {
    name: String,
    bytes: f64,
    one: f64,
    all: f64,
}

/// The predicted time of a nest.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// In seconds.
    pub seconds: f64,
    /// The bottleneck: `arithmetic`, `loads and stores`, `latency`, `loop overhead`,
    /// `parallel loops`, or the level that data comes from.
    pub bound: String,
    /// The reason, in a sentence.
    pub why: String,
    /// The seconds of each resource, slowest first.
    pub parts: Vec<(String, f64)>,
}

/// Defaults for an unmeasured machine: cycles per second, and bytes per second from memory.
const CLOCK: f64 = 3e9;
const MEMORY: f64 = 1e10;

/// Default transfers between levels, as fractions of a vector register per cycle.
const FROM_L2: f64 = 0.5;
const FROM_L3: f64 = 0.25;

/// Default cost of a parallel region, in seconds per thread.
const REGION: f64 = 2e-6;

impl Model {
    /// The model of this machine, with the known rates.
    pub fn known(control: &Control) -> Model {
        Model::with_pipeline(control, Pipeline::default())
    }

    /// The same, if its cores execute instructions as `pipeline` says. Vectors, caches and rates remain
    /// those of this machine.
    pub fn with_pipeline(control: &Control, pipeline: Pipeline) -> Model {
        let speed = |threads| machine::known_speed(threads, control).map(|speed| speed.rates);
        let rates = speed(1).zip(speed(control.threads));
        let rates = rates.map(|(one, all)| [one, all]);
        Model::new(&Machine::known(control), pipeline, control.threads, rates)
    }

    /// The model of a machine with `threads` threads in parallel loops. `rates` are the rates of
    /// one thread and of all, if they were measured.
    pub fn new(
        machine: &Machine,
        pipeline: Pipeline,
        threads: usize,
        rates: Option<[Rates; 2]>,
    ) -> Model {
        let count = threads.max(1) as f64;
        let vector = machine.vector.as_ref();
        let vector = vector.map_or((16.0, 16.0), |v| (v.bytes as f64, v.registers as f64));
        // Each arithmetic unit executes a fused multiply-add of a register per cycle.
        let per_cycle = 2.0 * pipeline.operations_per_cycle * vector.0 / 8.0;
        let clock = rates.map_or(CLOCK, |[one, _]| one.gflops_f64 * 1e9 / per_cycle);
        let [one, all] = rates.map_or([MEMORY, MEMORY], |r| r.map(|r| 1e9 * r.bandwidth()));
        let cycle = clock * vector.0;
        let within = machine.capacity.as_ref().map(|c| c.within * 1e9);
        let mut levels: Vec<Level> = Vec::new();
        let last = machine.caches.last().map_or(0, |c| c.level);
        for cache in &machine.caches {
            let sharers = if cache.level == last && cache.level > 2 {
                count
            } else {
                1.0
            };
            let bytes = machine.cache(cache.level).unwrap_or(cache.bytes) as f64 / sharers;
            let (next, one, all) = match cache.level {
                level if level == last => ("memory".to_owned(), one, all),
                1 => ("L2".to_owned(), FROM_L2 * cycle, FROM_L2 * cycle * count),
                level => {
                    let usual = FROM_L3 * cycle;
                    // The bandwidth was measured with all threads of the machine.
                    let measured = machine.threads.max(1) as f64;
                    let one = within.map_or(usual, |within| within / measured);
                    (format!("L{}", level + 1), one, one * count)
                }
            };
            levels.push(Level {
                name: next,
                bytes,
                one,
                all,
            });
        }
        let region = machine
            .region
            .as_ref()
            .map_or(REGION * count, |r| r.seconds);
        Model {
            target: Target {
                pipeline,
                ..machine.target()
            },
            threads: count,
            vector,
            clock,
            levels,
            region,
        }
    }

    /// Predicts the time of nests that run in order; `None` if their loops are beyond the model.
    pub fn predict(&self, nests: &[Nest]) -> Option<Prediction> {
        cost::cost(self, &self.shapes(nests)?)
    }

    /// Predicts the time of each of `variants`, whose nests `nest` makes, on all cores.
    pub fn predict_each<T: Sync>(
        &self,
        variants: &[T],
        nest: impl Fn(&T) -> Option<Nest> + Sync,
    ) -> Vec<Option<Prediction>> {
        let predict = |variant: &T| self.predict(&[nest(variant)?]);
        variants.par_iter().map(predict).collect()
    }

    fn shapes(&self, nests: &[Nest]) -> Option<Vec<Shape>> {
        let plan = codegen::unproved(nests, &self.target).ok()?;
        let parts = plan.parts.iter();
        parts
            .map(|part| read::read(part, self.threads, self.vector.0))
            .collect()
    }
}

impl Prediction {
    /// The prediction as text lines.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{}, bound by {}: {}",
            crate::report::time(std::time::Duration::from_secs_f64(self.seconds)),
            self.bound,
            self.why
        )];
        lines.extend(self.parts.iter().map(|(name, seconds)| {
            let time = crate::report::time(std::time::Duration::from_secs_f64(*seconds));
            format!("  {name}: {time}")
        }));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TILED: &str = "\
f64 C[8][8], A[8][64], B[64][8], bias[8]
parallel for i in 0..8
  local f64 T[8]
  vector for j in 0..8
    T[j] = 0
  for k in 0..64
    vector for j_2 in 0..8
      T[j_2] += A[i][k] * B[k][j_2]
  vector for j_3 in 0..8
    T[j_3] += bias[j_3]
  vector for j_4 in 0..8
    C[i][j_4] = T[j_4]
";

    #[test]
    fn hints_cost_nothing() {
        let nests = [crate::ir::parse_nest(TILED).unwrap()];
        let target = Target::named("avx512").unwrap();
        let stages = codegen::stages(&nests, &target).unwrap();
        let full = &stages.last().unwrap().after;
        for hint in ["no load is moved above this", "function of"] {
            assert!(full.to_string().contains(hint), "{full}");
        }
        let without = codegen::unproved(&nests, &target).unwrap();
        let read = |plan: &codegen::Plan| format!("{:?}", read::read(&plan.parts[0], 2.0, 64.0));
        assert_eq!(read(full), read(&without));
    }

    /// A machine with AVX2 and 3 GHz, whose cores execute instructions as `pipeline` says.
    fn described(pipeline: Pipeline) -> Model {
        let level = |name: &str, bytes, rate| Level {
            name: name.to_owned(),
            bytes,
            one: rate,
            all: 2.0 * rate,
        };
        Model {
            target: Target {
                pipeline,
                ..Target::named("avx2").unwrap()
            },
            threads: 2.0,
            vector: (32.0, 16.0),
            clock: 3e9,
            levels: vec![level("L2", 32_768.0, 4.8e10), level("memory", 1e6, 1e10)],
            region: 2e-6,
        }
    }

    /// The predicted nanoseconds of a resource, in whole numbers.
    fn nanoseconds(pipeline: Pipeline, nest: &str, resource: &str) -> i64 {
        let nests = [crate::ir::parse_nest(nest).unwrap()];
        let prediction = described(pipeline).predict(&nests).unwrap();
        let mut parts = prediction.parts.iter();
        let part = parts.find(|(name, _)| name == resource).unwrap();
        (part.1 * 1e9).round() as i64
    }

    const SUM: &str = "\
f64 s[1], a[1024]
for k in 0..1024
  s[0] += a[k]
";

    const QUOTIENTS: &str = "\
f64 b[1024], a[1024]
for k in 0..1024
  b[k] = exp(a[k]) / a[k]
";

    #[test]
    fn predictions_with_the_default_pipeline_are_pinned() {
        let told = [
            (TILED, "arithmetic"),
            (TILED, "loads and stores"),
            (TILED, "latency"),
            (TILED, "loop overhead"),
            (SUM, "latency"),
            (QUOTIENTS, "arithmetic"),
        ];
        let told = told.map(|(nest, part)| nanoseconds(Pipeline::default(), nest, part));
        assert_eq!(told, [87, 131, 314, 4, 1195, 2048]);
    }

    #[test]
    fn targets_have_pipelines_of_their_own() {
        let usual = Pipeline::default();
        let slow = Pipeline {
            addition_latency: 2.0 * usual.addition_latency,
            function_cycles: 3.0 * usual.function_cycles,
            ..usual
        };
        let of = |pipeline, nest, part| nanoseconds(pipeline, nest, part);
        let waits = of(usual, SUM, "latency");
        assert!((of(slow, SUM, "latency") - 2 * waits).abs() <= 1);
        assert!(of(slow, QUOTIENTS, "arithmetic") > 2 * of(usual, QUOTIENTS, "arithmetic"));
    }
}
