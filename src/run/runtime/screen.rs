//! Screening: runs many kernels, one after the other. Each runs once and, if it is promising,
//! again. They share a worker, its inputs, and the memory for their outputs.

use super::control::Control;
use super::error::RuntimeError;
use super::machine_lock::lock_machine;
use super::measure::Workload;
use super::pace::{RetryBudget, Runs};
use super::process_lock;
use super::run::{Bench, Outputs, Placed};
use super::tolerances::SHORT_WARM_UP;
use std::time::Duration;

/// How many kernels a worker runs before a new one replaces it, since it keeps all that it has
/// loaded.
const KERNELS: usize = 24;

/// A worker for many kernels.
pub struct Screen<'a> {
    control: &'a Control,
    bench: Option<Bench<'a>>,
    loaded: usize,
    /// The kernel loaded last, in the worker of `bench`.
    last: Option<Placed>,
}

/// A kernel that has run once.
pub struct Loaded<'s, 'a> {
    screen: &'s mut Screen<'a>,
    /// The time of that run.
    pub time: Duration,
}

impl<'a> Screen<'a> {
    /// A screen whose worker starts with the first kernel.
    pub fn new(control: &'a Control) -> Screen<'a> {
        Screen {
            control,
            bench: None,
            loaded: 0,
            last: None,
        }
    }

    /// Loads a kernel and runs it once.
    ///
    /// # Errors
    /// [`RuntimeError`] for all failures of the kernel or the system.
    pub fn load(&mut self, workload: &Workload) -> Result<Loaded<'_, 'a>, RuntimeError> {
        if self.loaded == KERNELS {
            self.bench = None;
        }
        let last = self.last.take().filter(|_| self.bench.is_some());
        if self.bench.is_none() {
            self.loaded = 0;
        }
        self.loaded += 1;
        let control = self.control;
        let Workload { kernel, data, .. } = workload;
        let (placed, time) = self.keep(|bench| {
            if let Some(last) = last {
                bench.recycle(last);
            }
            let placed = bench.place(kernel, data, workload.threads, workload.apart)?;
            let _alone = process_lock::alone();
            let _lock = lock_machine(control)?;
            let time = bench.run(&placed)?;
            Ok((placed, time))
        })?;
        self.last = Some(placed);
        Ok(Loaded { screen: self, time })
    }

    /// Uses the worker, and drops it after a failure: its process may be gone.
    fn keep<T>(
        &mut self,
        act: impl FnOnce(&mut Bench<'a>) -> Result<T, RuntimeError>,
    ) -> Result<T, RuntimeError> {
        let control = self.control;
        let bench = self.bench.get_or_insert_with(|| Bench::patient(control));
        let done = act(bench);
        if done.is_err() {
            self.bench = None;
        }
        done
    }
}

impl Loaded<'_, '_> {
    /// The outputs of the kernel's last run.
    pub fn outputs(&self) -> Option<&Outputs> {
        self.screen.last.as_ref().map(|placed| &placed.outputs)
    }

    /// Runs the kernel again while `goes_on` holds for the times so far. A run of a short kernel is
    /// the mean of several calls, which take about [`RUN`](super::RUN) together.
    ///
    /// # Errors
    /// As [`load`](Screen::load).
    pub fn run(&mut self, goes_on: &dyn Fn(&Runs) -> bool) -> Result<Runs, RuntimeError> {
        let Some(mut placed) = self.screen.last.take() else {
            return Ok(Runs::default());
        };
        let (control, first) = (self.screen.control, self.time);
        let (placed, runs) = self.screen.keep(|bench| {
            let _alone = process_lock::alone();
            let _lock = lock_machine(control)?;
            let warm = if first < SHORT_WARM_UP {
                bench.run(&placed)?
            } else {
                first
            };
            placed.lengthen_alone(warm);
            let mut runs = Runs::default();
            let mut patience = RetryBudget::none();
            while goes_on(&runs) {
                bench.run_alone(&placed, &mut patience, &mut runs)?;
            }
            Ok((placed, runs))
        })?;
        self.screen.last = Some(placed);
        Ok(runs)
    }
}
