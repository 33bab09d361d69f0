//! Detects whether other programs use the cores of a worker.
//!
//! The units of a core often serve a second hardware thread. That one may belong to another
//! program, or to another virtual machine that this one cannot see. Kernels then take a fifth to a
//! half longer, or twice as long, for milliseconds or for minutes. A loop of known length on the
//! same core also takes longer, and shows it. The worker's own threads run it, all at the same
//! time: another process would wait for threads that spin while they wait for work.
//!
//! Disturbed runs are repeated, within limits. Tuners, which time many variants briefly, repeat
//! nothing: the loop bounds the time of a variant on an idle machine, and a variant is slower only
//! if that bound is.

use super::compiled::Compiled;
use super::compiler::Compiler;
use super::control::Control;
use super::error::RuntimeError;
use super::options::Options;
use super::tolerances::{
    AS_SHORT_RATIO, DISTURBED_RATIO, HOPELESS_PROBES, QUIET_RUNS, REACHED_RUNS,
    WARMING_SHARE_PER_SECOND,
};
use crate::codegen::{Kernel, Param, Role};
use crate::ir::{Elem, Shape, Tensor};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The kernel with the loop, for all `threads` of a worker, or for the first one if they are not
/// those of OpenMP (`apart`). `None` if it does not compile.
///
/// # Errors
/// [`RuntimeError::Interrupted`] when someone asked to stop.
pub(super) fn probe(
    threads: usize,
    apart: bool,
    control: &Control,
) -> Result<Option<Compiled>, RuntimeError> {
    let threads = threads.max(1);
    let tensor = Tensor::new(Shape::of_extents([2 * threads as u64]), Elem::F64);
    let function = format!("#define THREADS {threads}\n") + include_str!("pace.c");
    let role = Role::Out;
    let kernel = Kernel::in_c("teml_pace", function, vec![Param { tensor, role }]);
    let options = Options {
        openmp: !apart,
        ..Options::default()
    };
    // Without reordering, so that the loop keeps all units busy.
    let options = options.plain();
    let compiled = Compiler::find(control).and_then(|c| c.compile(&kernel, &options, control));
    match compiled {
        Err(error @ RuntimeError::Interrupted { .. }) => Err(error),
        compiled => Ok(compiled.ok()),
    }
}

/// The best time of the loop by core, in nanoseconds, and when it was measured. The cores of a
/// processor may differ.
static BEST: Mutex<BTreeMap<u64, (f64, Instant)>> = Mutex::new(BTreeMap::new());

/// The best time, adjusted for its age.
fn faded(best: f64, since: Duration) -> f64 {
    best * (WARMING_SHARE_PER_SECOND * since.as_secs_f64()).exp()
}

/// How much slower the slowest of the cores is than its best since this program started; 1 if no
/// other program uses them. `told` is the kernel's output: for each thread, the time of the loop
/// and its core.
pub(super) fn slowdown(told: &[f64]) -> f64 {
    let mut known = BEST.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Instant::now();
    let pairs = told.chunks_exact(2).filter(|pair| pair[0] > 0.0);
    pairs.fold(1.0, |most, pair| {
        let known = known.entry(pair[1] as u64).or_insert((pair[0], now));
        let best = faded(known.0, now - known.1);
        if pair[0] <= best {
            *known = (pair[0], now);
        }
        (pair[0] / best).max(most)
    })
}

/// Whether other programs use a core that is this much slower than at best.
pub(super) fn is_disturbed(slowdown: f64) -> bool {
    slowdown > DISTURBED_RATIO
}

/// The time of a run this long is known to a fraction of a percent. Shorter kernels are called
/// several times in a run, unless they read what they wrote.
pub const RUN: Duration = Duration::from_millis(1);

/// The times of a kernel's runs, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runs {
    /// The time of each run.
    pub all: Vec<Duration>,
    /// How much slower than at best the cores were before and after each run: 1 if undisturbed.
    pub slowdowns: Vec<[f64; 2]>,
}

impl Runs {
    /// The duration of all runs together. One run of a short kernel is several calls, and its time
    /// their mean.
    pub fn lasted(&self) -> Duration {
        self.all.iter().map(|time| *time.max(&RUN)).sum()
    }

    /// Adds a run.
    pub(super) fn push(&mut self, time: Duration, slowdowns: [f64; 2]) {
        self.all.push(time);
        self.slowdowns.push(slowdowns);
    }

    /// The shortest time; `None` before the first run.
    pub fn least(&self) -> Option<Duration> {
        self.all.iter().min().copied()
    }

    /// Whether several undisturbed runs reached the shortest time, to about a percent. Other
    /// programs make runs longer, never shorter, so it then is the kernel's time.
    pub fn reached(&self) -> bool {
        let most = self.least().unwrap_or_default().mul_f64(AS_SHORT_RATIO);
        self.quiet().filter(|time| *time <= most).count() >= REACHED_RUNS
    }

    /// The estimated time of the kernel on otherwise idle cores; `None` before the first run. It is
    /// the shortest time if several runs were undisturbed. Otherwise times are divided by the
    /// slowdown of the cores.
    pub fn at_best(&self) -> Option<Duration> {
        if self.quiet().count() >= QUIET_RUNS {
            return self.least();
        }
        let runs = self.all.iter().zip(&self.slowdowns);
        let counts = |slowdown: f64| {
            if is_disturbed(slowdown) {
                slowdown
            } else {
                1.0
            }
        };
        let undisturbed = |(time, [before, after]): (&Duration, &[f64; 2])| {
            time.div_f64((counts(*before) + counts(*after)) / 2.0)
        };
        runs.map(undisturbed).min()
    }

    /// The share of disturbed runs, from 0 to 1.
    pub fn disturbed(&self) -> f64 {
        let count = self.all.len();
        (count - self.quiet().count()) as f64 / count.max(1) as f64
    }

    /// The undisturbed runs: no other program used the cores before and after.
    fn quiet(&self) -> impl Iterator<Item = Duration> {
        let runs = self.all.iter().zip(&self.slowdowns);
        let quiet = runs.filter(|(_, slowdowns)| !slowdowns.iter().any(|s| is_disturbed(*s)));
        quiet.map(|(time, _)| *time)
    }
}

/// The time budget for waiting for quiet cores and for repeating disturbed runs: the time of the
/// measurement itself and a bit more, or none.
pub(super) struct RetryBudget {
    left: Duration,
    earns: bool,
    asked: usize,
    quiet: usize,
}

impl RetryBudget {
    /// A budget that starts with this time, and grows with the runs.
    pub(super) fn new(left: Duration) -> RetryBudget {
        RetryBudget {
            left,
            earns: true,
            asked: 0,
            quiet: 0,
        }
    }

    /// An empty budget.
    pub(super) fn none() -> RetryBudget {
        RetryBudget {
            earns: false,
            ..RetryBudget::new(Duration::ZERO)
        }
    }

    /// Whether to repeat or to wait for `time`, because the cores were `disturbed`; takes the time
    /// from the budget.
    pub(super) fn bears(&mut self, disturbed: bool, time: Duration) -> bool {
        self.asked += 1;
        self.quiet += usize::from(!disturbed);
        let is_hopeless = self.quiet == 0 && self.asked >= HOPELESS_PROBES;
        if !disturbed || is_hopeless || time > self.left {
            return false;
        }
        self.left -= time;
        true
    }

    /// Adds the time of a run that counts.
    pub(super) fn earn(&mut self, time: Duration) {
        if self.earns {
            self.left += time;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn patience_lasts_as_long_as_what_counts() {
        let mut patience = RetryBudget::new(5 * MS);
        assert!(!patience.bears(false, MS));
        assert!(patience.bears(true, 3 * MS));
        assert!(!patience.bears(true, 3 * MS));
        patience.earn(MS);
        assert!(patience.bears(true, 3 * MS));
        assert!(!patience.bears(true, MS));
        let mut none = RetryBudget::none();
        none.earn(10 * MS);
        assert!(!none.bears(true, MS));
    }

    #[test]
    fn what_is_never_quiet_is_given_up() {
        let mut patience = RetryBudget::new(1000 * MS);
        let borne = (0..2 * HOPELESS_PROBES)
            .filter(|_| patience.bears(true, MS))
            .count();
        assert_eq!(borne, HOPELESS_PROBES - 1);
        let mut patience = RetryBudget::new(1000 * MS);
        patience.bears(false, MS);
        assert!((0..2 * HOPELESS_PROBES).all(|_| patience.bears(true, MS)));
    }

    #[test]
    fn each_core_is_compared_with_its_best() {
        // No machine has cores with these numbers.
        let [one, two] = [1e6, 1e6 + 1.0];
        let percent = |told: &[f64]| (100.0 * slowdown(told)).round();
        assert_eq!(percent(&[100.0, one, 200.0, two]), 100.0);
        assert_eq!(percent(&[110.0, one, 210.0, two]), 110.0);
        assert_eq!(percent(&[100.0, one, 240.0, two]), 120.0);
        assert_eq!(percent(&[80.0, one]), 100.0);
        assert_eq!(percent(&[100.0, one]), 125.0);
        // Threads that did not run tell nothing.
        assert_eq!(percent(&[0.0, 0.0, f64::NAN, f64::NAN]), 100.0);
    }

    #[test]
    fn what_was_best_is_forgotten_slowly() {
        assert_eq!(faded(100.0, Duration::ZERO), 100.0);
        let later = |seconds| faded(100.0, Duration::from_secs(seconds));
        assert!(later(1) < 101.0 && later(60) > 130.0);
    }

    fn runs(of: &[(u32, [f64; 2])]) -> Runs {
        Runs {
            all: of.iter().map(|(time, _)| *time * MS).collect(),
            slowdowns: of.iter().map(|(_, slowdowns)| *slowdowns).collect(),
        }
    }

    #[test]
    fn a_time_is_reached_by_several_quiet_runs() {
        const QUIET: [f64; 2] = [1.0, 1.05];
        assert!(!Runs::default().reached());
        assert!(!runs(&[(100, QUIET), (100, QUIET), (100, [1.0, 1.3])]).reached());
        let four = [(100, QUIET), (130, [1.5, 1.5]), (101, QUIET), (101, QUIET)];
        assert!(runs(&four).reached());
        // Quiet runs that agree are not enough if a disturbed one was shorter.
        let shorter = [(90, [1.0, 1.3]), (100, QUIET), (100, QUIET), (100, QUIET)];
        assert!(!runs(&shorter).reached());
    }

    #[test]
    fn what_others_slow_down_may_be_faster() {
        assert_eq!(Runs::default().at_best(), None);
        assert_eq!(runs(&[(100, [1.0, 1.05])]).at_best(), Some(100 * MS));
        let quiet = (100, [1.0, 1.0]);
        let disturbed = runs(&[quiet, (120, [1.5, 1.5])]);
        assert_eq!(disturbed.at_best(), Some(80 * MS));
        let several = runs(&[quiet, (101, [1.0, 1.0]), (120, [1.5, 1.5])]);
        assert_eq!(several.at_best(), Some(100 * MS));
        assert_eq!(runs(&[(150, [1.0, 2.0])]).at_best(), Some(100 * MS));
    }

    #[test]
    fn a_run_is_disturbed_if_others_were_there_before_or_after_it() {
        assert_eq!(Runs::default().disturbed(), 0.0);
        let four = [[1.0, 1.05], [1.0, 1.3], [1.3, 1.0], [1.0, 1.0]];
        assert_eq!(
            runs(&four.map(|slowdowns| (100, slowdowns))).disturbed(),
            0.5
        );
    }
}
