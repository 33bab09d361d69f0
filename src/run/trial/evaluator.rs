//! Evaluators: try variants of one computation, one after the other, as a tuner proposes them.
//!
//! A session's runner opens an evaluator. Variants are compiled on all cores, then run one after
//! the other in one worker, each compared with the reference before its time counts. Nothing else
//! of `tune` runs kernels, so tests stub the times. Compilers run beside a measurement only if
//! kernels leave cores free.

use super::check::{Expected, Progress, Trial};
use super::comparison::Comparison;
use super::generate::{generate, generate_as};
use super::results::{check_results, compared};
use super::variant::naive;
use super::work::work_of;
use super::{TrialError, Variant, Work};
use crate::codegen::Kernel;
use crate::runtime::{
    self, Budget, Compiled, Compiler, Control, Outputs, Runs, Screen, Timing, Workload,
};
use rayon::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Receives prepared variants, with their numbers.
pub type Ready<'a> = dyn Fn(usize, Result<Prepared, TrialError>) + Sync + 'a;

/// Tries variants of one computation.
pub trait Evaluator: Sync {
    /// Generates code and compiles it. Several threads may do that at the same time.
    ///
    /// # Errors
    /// There is no code, or it does not compile.
    fn prepare(&self, variant: &Variant) -> Result<Prepared, TrialError>;

    /// Prepares variants on the threads of the current pool. `ready` receives each with its number,
    /// in any order.
    fn prepare_all(&self, variants: &[&Variant], ready: &Ready<'_>) {
        let numbered = variants.par_iter().enumerate();
        numbered.for_each(|(number, variant)| ready(number, self.prepare(variant)));
    }

    /// Runs a variant, compares its results with the reference, and times it, longer if it is
    /// closer to the time `best`. A clearly slower one runs only once.
    ///
    /// # Errors
    /// It fails, or its results are wrong.
    fn screen(&self, prepared: &Prepared, best: Option<Duration>) -> Result<Screened, TrialError>;

    /// Times variants that were screened against each other, interleaved. It stops when the
    /// shortest time of each was reached several times, or at a time limit.
    ///
    /// # Errors
    /// One of them fails.
    fn finals(&self, prepared: &[Prepared]) -> Result<Vec<Timing>, TrialError>;

    /// The least work of the computation.
    fn work(&self) -> Work;

    /// Announces the variants that are screened next, and the best time so far, before any of them
    /// is prepared.
    ///
    /// # Errors
    /// The other processes cannot be reached.
    fn announce(&self, _variants: &[&Variant], _best: Option<Duration>) -> Result<(), TrialError> {
        Ok(())
    }

    /// How many variants are screened at the same time.
    fn width(&self) -> usize {
        1
    }

    /// How many variants can be prepared while one is screened, on cores that it leaves free.
    fn free_cores(&self) -> usize {
        0
    }
}

/// A variant that was compiled.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub variant: Variant,
    /// Its code; `None` in evaluators that run no code.
    compiled: Option<Compiled>,
}

impl From<Variant> for Prepared {
    /// A variant without code, for evaluators that run none.
    fn from(variant: Variant) -> Prepared {
        Prepared {
            variant,
            compiled: None,
        }
    }
}

/// The first times of a variant whose results are right.
#[derive(Clone, Debug, PartialEq)]
pub struct Screened {
    /// At least one. If there is only one, code and memory were cold.
    pub runs: Vec<Duration>,
    /// Its estimated time on an otherwise idle machine.
    pub at_best: Duration,
    /// The largest relative error against the reference.
    pub error: f64,
}

/// If a run takes so many times the best time, it is the last one. The first run finds code and
/// memory cold, which matters for kernels below [`WARM`]: those run once more. Other programs can
/// make a run twice as long.
const CLEARLY_SLOWER: f64 = 3.0;

/// After [`RUNS`] runs, a variant is dropped if its estimated time on an idle machine is this many
/// times the best.
const SLOWER: f64 = 1.25;

const WARM: Duration = Duration::from_millis(15);

/// The least number of further runs of a variant, unless they take [`LONG`].
const RUNS: usize = 3;

const LONG: Duration = Duration::from_millis(150);

/// Runs go on until they took this long together. Disturbances last some milliseconds, and a few
/// runs of a short kernel may all fall into one. This is short compared with compiling the kernel.
const ENOUGH: Duration = Duration::from_millis(10);

/// The budget of a round of the finals, for each variant. It ends earlier once the shortest time is
/// reached.
const ROUND: Budget = Budget {
    min_runs: RUNS,
    max_runs: 60,
    time: Duration::from_millis(15),
    patience: Duration::from_secs(20),
    enough: None,
    reached: Some(ENOUGH),
    repeats: false,
};

/// Compiles and runs variants in a worker process.
pub struct LocalEvaluator<'a> {
    trial: Trial<'a>,
    reference: &'a Variant,
    results: Vec<String>,
    expected: Expected,
    work: Work,
    screen: Mutex<Screen<'a>>,
}

impl<'a> LocalEvaluator<'a> {
    /// An evaluator that compares variants with the first one of `comparison`. It runs the first
    /// one's untransformed nests right away.
    pub(super) fn open(
        comparison: &'a Comparison,
        control: &'a Control,
        progress: &'a (dyn Fn(Progress) + Sync),
    ) -> Result<LocalEvaluator<'a>, TrialError> {
        let reference = comparison.variants.first().ok_or(TrialError::Nothing)?;
        let plain = naive(reference);
        let work = work_of(&comparison.variants, &plain);
        let kernel = generate(&plain, &comparison.settings)?;
        let (inputs, settings) = (&comparison.inputs, &comparison.settings);
        let trial = Trial::new(&[&kernel], inputs, settings, control, (progress, 1));
        trial.begin("running the untransformed nests");
        let outputs = trial.run(&trial.compile_reference(&kernel)?)?;
        let expected = trial.expected(reference, outputs)?;
        Ok(LocalEvaluator {
            trial,
            reference,
            results: compared(reference),
            expected,
            work,
            screen: Mutex::new(Screen::new(control)),
        })
    }

    /// The code of a variant. Its name is derived from the nests, so that the compile cache finds
    /// it in every trial.
    fn generate(&self, variant: &Variant) -> Result<Kernel, TrialError> {
        check_results(self.reference, variant)?;
        let mut hasher = DefaultHasher::new();
        for nest in &variant.nests {
            nest.to_string().hash(&mut hasher);
        }
        let symbol = format!("trial_{:016x}", hasher.finish());
        generate_as(&symbol, variant, self.trial.settings)
    }

    fn compile(&self, variant: &Variant, kernel: &Kernel) -> Result<Prepared, TrialError> {
        Ok(Prepared {
            compiled: Some(self.trial.compile(kernel)?),
            variant: variant.clone(),
        })
    }

    fn workload(&self, prepared: &Prepared) -> Result<Workload, TrialError> {
        let compiled = prepared.compiled.clone().ok_or(TrialError::Nothing)?;
        let (label, outputs) = (&prepared.variant.label, self.expected.outputs.clone());
        Ok(self.trial.workload(label, compiled, outputs, false))
    }

    fn check(&self, workload: &Workload, own: &Outputs) -> Result<f64, TrialError> {
        let of_kernel = (workload.kernel.kernel(), own);
        self.trial
            .check(&workload.label, &self.results, of_kernel, &self.expected)
    }
}

impl Evaluator for LocalEvaluator<'_> {
    fn prepare(&self, variant: &Variant) -> Result<Prepared, TrialError> {
        self.compile(variant, &self.generate(variant)?)
    }

    /// Short kernels share translation units.
    fn prepare_all(&self, variants: &[&Variant], ready: &Ready<'_>) {
        let numbered = variants.par_iter().enumerate();
        let generate = |(number, variant): (usize, &&Variant)| match self.generate(variant) {
            Ok(kernel) => Some((number, kernel)),
            Err(error) => {
                ready(number, Err(error));
                None
            }
        };
        let kernels: Vec<(usize, Kernel)> = numbered.filter_map(generate).collect();
        let units = units(kernels, rayon::current_num_threads());
        units.into_par_iter().for_each(|unit| {
            let (numbers, kernels): (Vec<usize>, Vec<Kernel>) = unit.into_iter().unzip();
            let (options, control) = (&self.trial.settings.options, self.trial.control);
            // Errors appear again when each kernel is compiled alone.
            let _ = Compiler::find(control)
                .and_then(|compiler| compiler.compile_batch(&kernels, options, control));
            for (number, kernel) in numbers.into_iter().zip(&kernels) {
                ready(number, self.compile(variants[number], kernel));
            }
        });
    }

    fn screen(&self, prepared: &Prepared, best: Option<Duration>) -> Result<Screened, TrialError> {
        let workload = self.workload(prepared)?;
        let mut screen = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut loaded = screen.load(&workload)?;
        let check =
            |outputs: Option<&Outputs>| self.check(&workload, outputs.ok_or(TrialError::Nothing)?);
        let error = check(loaded.outputs())?;
        let slower = |time: Duration, factor: f64| {
            best.is_some_and(|best| time.as_secs_f64() > factor * best.as_secs_f64())
        };
        if loaded.time > WARM && slower(loaded.time, CLEARLY_SLOWER) {
            return Ok(Screened {
                runs: vec![loaded.time],
                at_best: loaded.time,
                error,
            });
        }
        let goes_on = |runs: &Runs| {
            let spent = runs.lasted();
            let (is_out, enough) = if runs.all.len() < RUNS {
                (
                    runs.least().is_some_and(|t| slower(t, CLEARLY_SLOWER)),
                    LONG,
                )
            } else {
                (runs.at_best().is_some_and(|t| slower(t, SLOWER)), ENOUGH)
            };
            spent < enough && !is_out
        };
        let runs = loaded.run(&goes_on)?;
        check(loaded.outputs())?;
        Ok(Screened {
            at_best: runs.at_best().unwrap_or(loaded.time),
            runs: runs.all,
            error,
        })
    }

    fn finals(&self, prepared: &[Prepared]) -> Result<Vec<Timing>, TrialError> {
        let workloads = prepared.iter().map(|p| self.workload(p));
        let workloads: Vec<Workload> = workloads.collect::<Result<_, _>>()?;
        Ok(runtime::measure(&workloads, &ROUND, self.trial.control)?)
    }

    fn work(&self) -> Work {
        self.work.clone()
    }

    fn free_cores(&self) -> usize {
        let control = self.trial.control;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if control.compiles_beside {
            cores.saturating_sub(control.threads)
        } else {
            0
        }
    }
}

/// Up to so many bytes of C share a translation unit. For short kernels, that saves one start of
/// the compiler each.
const UNIT: usize = 16 << 10;

/// Splits kernels into translation units of about equal size, at least one for each of `threads`.
/// The kernels keep their numbers.
fn units(mut kernels: Vec<(usize, Kernel)>, threads: usize) -> Vec<Vec<(usize, Kernel)>> {
    let bytes = |kernel: &Kernel| kernel.function.len();
    let total: usize = kernels.iter().map(|(_, kernel)| bytes(kernel)).sum();
    let count = total.div_ceil(UNIT).max(threads).min(kernels.len());
    let mut units: Vec<(usize, Vec<(usize, Kernel)>)> = vec![(0, Vec::new()); count];
    kernels.sort_by_key(|(number, kernel)| (usize::MAX - bytes(kernel), *number));
    for (number, kernel) in kernels {
        if let Some((filled, unit)) = units.iter_mut().min_by_key(|(filled, _)| *filled) {
            *filled += bytes(&kernel);
            unit.push((number, kernel));
        }
    }
    units.into_iter().map(|(_, unit)| unit).collect()
}
