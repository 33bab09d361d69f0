//! A cost model: what a nest should take, before anything is compiled, and what bounds it.
//!
//! A nest is read as loops with trip counts and accesses with strides (`shape.rs`). From that follow
//! the bytes that have to come to each level of cache (`traffic.rs`), and the instructions of a
//! thread (`work.rs`). The slowest of these bounds the nest; the others overlap with it in part.
//!
//! It knows nothing of conflicts between cache lines, of prefetchers that lose track, and of what
//! compilers make of a loop. A search corrects it by what it measures.
//!
//! Source: Mullapudi et al., Automatically Scheduling Halide Image Processing Pipelines, SIGGRAPH
//! 2016 (footprints of loop levels); Williams et al., Roofline, CACM 2009.

mod shape;
mod traffic;
mod work;

use crate::ir::Nest;
use crate::machine::{Machine, Rates};
use shape::Shape;

/// What a machine can do, in the units of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    threads: f64,
    /// Bytes of a vector register, and how many there are.
    vector: (f64, f64),
    /// Cycles per second of one thread, as if it issued two vector operations in each.
    clock: f64,
    /// The caches, the nearest first: bytes that one thread has, and bytes per second of one thread
    /// and of all threads from the level behind it.
    levels: Vec<Level>,
    /// What a parallel loop costs, in seconds.
    region: f64,
}

/// A cache, and what brings data to it.
#[derive(Clone, Debug, PartialEq)]
struct Level {
    name: String,
    bytes: f64,
    one: f64,
    all: f64,
}

/// What a nest should take.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Seconds.
    pub seconds: f64,
    /// What bounds it: `arithmetic`, `loads and stores`, `latency`, `loop overhead`, `parallel
    /// loops`, or the level that data comes from.
    pub bound: String,
    /// Why, in a sentence.
    pub why: String,
    /// The seconds of each resource, the slowest first.
    pub parts: Vec<(String, f64)>,
}

/// How much of what does not bound a nest adds to its time all the same.
const EXPOSED: f64 = 0.2;

/// Where nothing was measured: cycles per second, and bytes per second from memory.
const CLOCK: f64 = 3e9;
const MEMORY: f64 = 1e10;

/// From one level to the next, a cycle brings a fraction of a vector register.
const FROM_L2: f64 = 0.5;
const FROM_L3: f64 = 0.25;

/// What a parallel loop costs where that was not measured, in seconds for each thread.
const REGION: f64 = 2e-6;

impl Model {
    /// The model of a machine whose parallel loops have `threads` threads, with the rates of one
    /// thread and of all if they were measured.
    pub fn new(machine: &Machine, threads: usize, rates: Option<[Rates; 2]>) -> Model {
        let count = threads.max(1) as f64;
        let vector = machine.vector.as_ref();
        let vector = vector.map_or((16.0, 16.0), |v| (v.bytes as f64, v.registers as f64));
        // Two fused multiply-adds of a register in each cycle.
        let per_cycle = 4.0 * vector.0 / 8.0;
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
                    let one = within.map_or(usual, |within| within / count);
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
            threads: count,
            vector,
            clock,
            levels,
            region,
        }
    }

    /// What nests that run in order should take; `None` where their loops are beyond the model.
    pub fn predict(&self, nests: &[Nest]) -> Option<Prediction> {
        let mut parts: Vec<(String, f64, String)> = Vec::new();
        for nest in nests {
            for tree in nest.trees() {
                let shape = Shape::of(nest, tree, self.threads)?;
                self.add(&shape, &mut parts);
            }
        }
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (bound, most, why) = parts.first().cloned()?;
        let all: f64 = parts.iter().map(|(_, seconds, _)| seconds).sum();
        let seconds = most + EXPOSED * (all - most);
        Some(Prediction {
            seconds: seconds.max(1e-9),
            bound,
            why,
            parts: parts
                .into_iter()
                .map(|(name, seconds, _)| (name, seconds))
                .collect(),
        })
    }

    /// Adds what one tree takes of each resource.
    fn add(&self, shape: &Shape, parts: &mut Vec<(String, f64, String)>) {
        let threads = if shape.is_parallel() {
            shape.threads()
        } else {
            1.0
        };
        let mut add = |name: &str, seconds: f64, why: String| match parts
            .iter_mut()
            .find(|(known, ..)| known == name)
        {
            Some(part) => {
                if seconds > part.1 {
                    part.2 = why;
                }
                part.1 += seconds;
            }
            None => parts.push((name.to_owned(), seconds, why)),
        };
        let work = work::of(shape, self.vector);
        for (name, cycles, why) in work.parts() {
            add(name, cycles / self.clock, why);
        }
        if shape.is_parallel() {
            let seconds = shape.regions() * self.region;
            let why = format!("{:.0} parallel loops begin and end", shape.regions());
            add("parallel loops", seconds, why);
        }
        for level in &self.levels {
            let traffic = traffic::of(shape, level.bytes);
            let rate = level.one.min(level.all / threads);
            let why = traffic.why(shape, &level.name);
            add(&level.name, traffic.bytes / rate, why);
        }
    }
}

impl Prediction {
    /// What people read of it.
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
