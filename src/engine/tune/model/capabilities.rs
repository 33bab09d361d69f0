//! The capabilities of a machine, in the units of the model: as measured, or as is usual.

use crate::machine::{self, Machine, Rates};
use crate::runtime::Control;
use crate::target::{Pipeline, Target};

/// The capabilities of a machine, in the units of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub(super) target: Target,
    pub(super) threads: f64,
    /// Bytes of a vector register, and number of registers.
    pub(super) vector: (f64, f64),
    /// Cycles per second of one thread: with all its arithmetic units busy, it has the measured rate.
    pub(super) clock: f64,
    /// The caches, nearest first. Each has its bytes per thread, and the bytes per second that one
    /// thread and all threads get from the level behind it.
    pub(super) levels: Vec<Level>,
    /// The cost of a parallel region, in seconds.
    pub(super) region: f64,
}

/// A cache and the bandwidth to it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Level {
    pub(super) name: String,
    pub(super) bytes: f64,
    pub(super) one: f64,
    pub(super) all: f64,
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

    /// The same, if its cores execute instructions as `pipeline` says. Vectors, caches and rates
    /// remain those of this machine.
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
}
