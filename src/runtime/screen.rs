//! Screening: many kernels, one after the other, each run once and, if that shows promise, again.
//! They share a worker and the inputs in it.

use super::control::Control;
use super::error::RuntimeError;
use super::measure::{self, Workload};
use super::run::{Bench, Outputs, Placed};
use super::turn::turn;
use std::time::Duration;

/// After so many kernels a new worker takes over, since a worker keeps what it has loaded.
const KERNELS: usize = 24;

/// A worker for many kernels.
pub struct Screen<'a> {
    control: &'a Control,
    bench: Option<Bench<'a>>,
    loaded: usize,
}

/// A kernel that has run once.
pub struct Loaded {
    placed: Placed,
    /// How long that took.
    pub time: Duration,
}

impl Loaded {
    /// What the kernel wrote last.
    pub fn outputs(&self) -> &Outputs {
        &self.placed.outputs
    }
}

impl<'a> Screen<'a> {
    /// A screen without a worker, which starts with the first kernel.
    pub fn new(control: &'a Control) -> Screen<'a> {
        Screen {
            control,
            bench: None,
            loaded: 0,
        }
    }

    /// Loads a kernel and runs it once.
    ///
    /// # Errors
    /// [`RuntimeError`] for everything that the kernel or the system can do wrong.
    pub fn load(&mut self, workload: &Workload) -> Result<Loaded, RuntimeError> {
        if self.loaded == KERNELS {
            self.bench = None;
        }
        let control = self.control;
        if self.bench.is_none() {
            self.loaded = 0;
        }
        self.loaded += 1;
        let Workload { kernel, data, .. } = workload;
        self.keep(|bench| {
            let placed = bench.place(kernel, data, workload.threads, workload.apart)?;
            let _alone = measure::alone();
            let _turn = turn(control)?;
            let time = bench.run(&placed)?;
            Ok(Loaded { placed, time })
        })
    }

    /// Runs a kernel again, as long as `goes_on` says of the times so far. A run of a short kernel
    /// is the mean of several calls, which take about [`RUN`](super::RUN) together.
    ///
    /// # Errors
    /// As [`load`](Screen::load).
    pub fn run(
        &mut self,
        loaded: &mut Loaded,
        goes_on: &dyn Fn(&[Duration]) -> bool,
    ) -> Result<Vec<Duration>, RuntimeError> {
        let control = self.control;
        self.keep(|bench| {
            let _alone = measure::alone();
            let _turn = turn(control)?;
            if loaded.time < measure::SHORT {
                loaded.time = bench.run(&loaded.placed)?;
            }
            loaded.placed.lengthen_alone(loaded.time);
            let mut runs = Vec::new();
            while goes_on(&runs) {
                runs.push(bench.run(&loaded.placed)?);
            }
            Ok(runs)
        })
    }

    /// Does something with the worker, which is not used again if that fails: it may be gone.
    fn keep<T>(
        &mut self,
        act: impl FnOnce(&mut Bench<'a>) -> Result<T, RuntimeError>,
    ) -> Result<T, RuntimeError> {
        let control = self.control;
        let bench = self.bench.get_or_insert_with(|| Bench::new(control));
        let done = act(bench);
        if done.is_err() {
            self.bench = None;
        }
        done
    }
}
