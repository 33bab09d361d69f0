//! Measures variants, one measurement at a time in a process (`process_lock.rs`) and among processes
//! (`machine_lock.rs`). The variants take turns, so that other activity of the machine affects all
//! of them alike.
//!
//! Runs that other programs disturb are repeated, within limits (`pace.rs`). Peers run in a worker
//! apart from the others, since libraries have threads of their own.

use super::compare::{compare, default_tolerance};
use super::compiled::Compiled;
use super::control::Control;
use super::data::Data;
use super::error::RuntimeError;
use super::machine_lock::lock_machine;
use super::pace::{RetryBudget, Runs};
use super::process_lock;
use super::run::{Bench, Outputs, Placed};
use super::tolerances::{LONG_WARM_UP, QUIET_WAIT, SETTLED_SPREAD, SHORT_WARM_UP};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

/// A kernel to be measured.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its name in results.
    pub label: String,
    pub kernel: Compiled,
    /// The contents of each argument before every run, in the order of the kernel's arguments.
    /// Variants that read the same data share its memory.
    pub data: Vec<Data>,
    /// The number of OpenMP threads.
    pub threads: usize,
    /// Whether it runs in a worker apart from the others, with threads that are not bound to cores.
    /// Libraries need that: their code changes its process or starts threads of its own.
    pub apart: bool,
    /// The outputs that were checked. If given, the output of the last timed run must agree with
    /// them, within [`default_tolerance`].
    pub checked: Option<Arc<Outputs>>,
}

/// How often a variant runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The least number of timed runs.
    pub min_runs: usize,
    /// The largest number of timed runs.
    pub max_runs: usize,
    /// Stops after `min_runs` once their times sum up to this.
    pub time: Duration,
    /// Stops after any run, even before `min_runs`, once their times sum up to this. A warm-up that
    /// takes as long counts as the first run.
    pub patience: Duration,
    /// Early stop after two or more runs: their times sum up to this with a spread of 3 % at most,
    /// or sum up to three times `time` with any spread. A warm-up of half a second or more then
    /// counts as the first run.
    pub enough: Option<Duration>,
    /// Early stop after `min_runs` that lasted this long together, if the shortest time was
    /// [`reached`](Runs::reached) several times.
    pub reached: Option<Duration>,
    /// Whether disturbed runs are repeated, as long as that takes no longer than the runs that
    /// count.
    pub repeats: bool,
}

impl Default for Budget {
    /// 5 to 30 runs in 3 s, without a limit for slow ones; only 2 if they take a second together
    /// and agree.
    fn default() -> Budget {
        Budget {
            min_runs: 5,
            max_runs: 30,
            time: Duration::from_secs(3),
            patience: Duration::MAX,
            enough: Some(Duration::from_secs(1)),
            reached: None,
            repeats: true,
        }
    }
}

impl Budget {
    /// So many runs, until their times sum up to `time`, or to twice as much before there are enough.
    pub fn of(runs: RangeInclusive<usize>, time: Duration) -> Budget {
        Budget {
            min_runs: *runs.start(),
            max_runs: *runs.end(),
            time,
            patience: 2 * time,
            enough: None,
            reached: None,
            repeats: true,
        }
    }

    /// Whether a variant runs again after these runs.
    fn goes_on(&self, of: &Runs) -> bool {
        let runs = &of.all;
        let spent: Duration = runs.iter().sum();
        let settled = |enough: Duration| {
            let agree = || Timing::new("", runs.clone()).spread <= SETTLED_SPREAD;
            runs.len() >= 2 && (spent >= 3 * self.time || spent >= enough && agree())
        };
        let reached = |enough: Duration| of.lasted() >= enough && of.reached();
        let most = self.max_runs.max(self.min_runs).max(1);
        match runs.len() {
            0 => true,
            count if count >= most || spent >= self.patience => false,
            _ if self.enough.is_some_and(settled) => false,
            count if count >= self.min_runs && self.reached.is_some_and(reached) => false,
            count => count < self.min_runs || spent < self.time,
        }
    }

    /// Whether a warm-up of this length counts as the first run.
    fn counts(&self, warm_up: Duration) -> bool {
        warm_up >= self.patience || self.enough.is_some() && warm_up >= LONG_WARM_UP
    }
}

/// The times of one variant's kernel calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    pub label: String,
    /// The shortest run.
    pub min: Duration,
    /// The median of all runs.
    pub median: Duration,
    /// The interquartile range over the median: at 0.02, the middle half of all runs spans 2 % of
    /// the median.
    pub spread: f64,
    /// All timed runs, in order.
    pub runs: Vec<Duration>,
    /// The estimated time on an otherwise idle machine: the shortest run or, if other programs
    /// slowed the cores down, less.
    pub at_best: Duration,
    /// The share of the runs that other programs on the same cores disturbed, from 0 to 1, as far
    /// as that is known.
    pub disturbed: f64,
}

/// The progress of a measurement.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A variant, by its number, begins its `run`th run; 0 is a warm-up.
    Runs { variant: usize, run: usize },
    /// A variant has finished its last run, and its output is still right.
    Known { variant: usize, timing: &'a Timing },
}

/// Measures variants against each other: a warm-up of each, then run 1 of each, run 2 of each, and
/// so on.
///
/// - Before every run, the outputs are restored, and the kernel is called once untimed unless that
///   takes long. So it does not matter which data the previous variant left in the caches.
/// - After every run, the variants exchange the memory of their outputs.
/// - A disturbed run is repeated, as long as that takes no longer than the runs that count.
/// - A run of a very short kernel is the mean of several calls. Kernels that read what they write
///   are timed for one call per run, before which their inputs are restored.
/// - The time that reading the clock takes is subtracted.
///
/// One measurement runs at a time, also among processes. This process compiles nothing during it.
///
/// # Errors
/// [`RuntimeError`] for all failures of a kernel or the system, and [`RuntimeError::Unstable`] when
/// the last output differs from the checked one.
pub fn measure(
    variants: &[Workload],
    budget: &Budget,
    control: &Control,
) -> Result<Vec<Timing>, RuntimeError> {
    measure_and_tell(variants, budget, control, &mut |_| {})
}

/// As [`measure`]; `tell` receives every run, and each variant's times as soon as they are known.
///
/// # Errors
/// As [`measure`].
pub fn measure_and_tell(
    variants: &[Workload],
    budget: &Budget,
    control: &Control,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Vec<Timing>, RuntimeError> {
    process_lock::wait();
    let mut bench = Bench::patient(control);
    let mut entrants = Vec::with_capacity(variants.len());
    for variant in variants {
        let Workload { kernel, data, .. } = variant;
        entrants.push(Entrant {
            variant,
            placed: bench.place(kernel, data, variant.threads, variant.apart)?,
            runs: Runs::default(),
            known: None,
        });
    }
    take_turns(&mut bench, &mut entrants, budget, control, tell)?;
    let mut timings = Vec::with_capacity(entrants.len());
    for (number, entrant) in entrants.into_iter().enumerate() {
        timings.push(match entrant.known {
            Some(timing) => timing,
            None => {
                check(entrant.variant, &entrant.placed)?;
                let timing = Timing::of(&entrant.variant.label, &entrant.runs);
                tell(Event::Known {
                    variant: number,
                    timing: &timing,
                });
                timing
            }
        });
    }
    Ok(timings)
}

/// A variant in a measurement.
struct Entrant<'a> {
    variant: &'a Workload,
    placed: Placed,
    runs: Runs,
    /// Its times, once it has finished its last run and its output was checked.
    known: Option<Timing>,
}

/// Runs every kernel as often as the budget says.
fn take_turns(
    bench: &mut Bench<'_>,
    entrants: &mut [Entrant<'_>],
    budget: &Budget,
    control: &Control,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<(), RuntimeError> {
    let _alone = process_lock::alone();
    let _lock = lock_machine(control)?;
    for (variant, entrant) in entrants.iter_mut().enumerate() {
        tell(Event::Runs { variant, run: 0 });
        // The first call of all is slower than later ones.
        let mut time = bench.run(&entrant.placed)?;
        if time < SHORT_WARM_UP {
            time = bench.run(&entrant.placed)?;
        }
        entrant.placed.lengthen(time);
        if budget.counts(time) {
            entrant.runs.push(time, [1.0; 2]);
        }
    }
    let mut patience = if budget.repeats {
        RetryBudget::new(QUIET_WAIT)
    } else {
        RetryBudget::none()
    };
    let mut left: Vec<usize> = (0..entrants.len()).collect();
    while !left.is_empty() {
        let mut again = Vec::new();
        for variant in left {
            let entrant = &mut entrants[variant];
            if budget.goes_on(&entrant.runs) {
                let run = entrant.runs.all.len() + 1;
                tell(Event::Runs { variant, run });
                bench.run_alone(&entrant.placed, &mut patience, &mut entrant.runs)?;
            }
            if budget.goes_on(&entrant.runs) {
                again.push(variant);
            } else if entrant.is_unchanged() {
                let timing = Timing::of(&entrant.variant.label, &entrant.runs);
                tell(Event::Known {
                    variant,
                    timing: &timing,
                });
                entrant.known = Some(timing);
            }
        }
        rotate_outputs(entrants, &again);
        left = again;
    }
    Ok(())
}

/// Gives each of these entrants the memory of the next one in its worker, so that all of them run
/// on the same pages.
fn rotate_outputs(entrants: &mut [Entrant<'_>], numbers: &[usize]) {
    for (k, one) in numbers.iter().enumerate() {
        let mut after = numbers[k + 1..].iter();
        after.find(|next| match entrants.get_disjoint_mut([*one, **next]) {
            Ok([one, next]) => one.placed.exchange_outputs(&mut next.placed),
            Err(_) => false,
        });
    }
}

impl Entrant<'_> {
    /// Whether the last output equals the checked one to the last bit. Comparing within the
    /// tolerance is distributed among threads, so it has to wait for the end of the measurement.
    fn is_unchanged(&self) -> bool {
        let Some(checked) = &self.variant.checked else {
            return true;
        };
        self.placed.outputs.iter().all(|output| {
            let expected = checked.get(output.tensor().label());
            expected.is_none_or(|expected| expected.view() == output.view())
        })
    }
}

fn check(variant: &Workload, placed: &Placed) -> Result<(), RuntimeError> {
    let Some(checked) = &variant.checked else {
        return Ok(());
    };
    for output in placed.outputs.iter() {
        let tensor = output.tensor();
        let Some(expected) = checked.get(tensor.label()) else {
            continue;
        };
        let tolerance = default_tolerance(tensor.elem());
        let comparison = compare(expected.view(), output.view(), tensor.shape(), tolerance)?;
        if !comparison.agrees() {
            return Err(RuntimeError::Unstable {
                label: variant.label.clone(),
                kernel: variant.kernel.kernel().symbol.clone(),
                tensor: tensor.label().to_owned(),
                comparison: Box::new(comparison),
            });
        }
    }
    Ok(())
}

impl Timing {
    /// The statistics of a variant's runs.
    pub fn new(label: &str, runs: Vec<Duration>) -> Timing {
        let mut sorted = runs.clone();
        sorted.sort_unstable();
        let median = quantile(&sorted, 0.5);
        let min = sorted.first().copied().unwrap_or_default();
        Timing {
            label: label.to_owned(),
            min,
            median,
            spread: spread(&sorted, median),
            runs,
            at_best: min,
            disturbed: 0.0,
        }
    }

    /// The same, with the slowdown by other programs.
    fn of(label: &str, runs: &Runs) -> Timing {
        let timing = Timing::new(label, runs.all.clone());
        Timing {
            at_best: runs.at_best().unwrap_or(timing.at_best),
            disturbed: runs.disturbed(),
            ..timing
        }
    }
}

/// The interquartile range of sorted times over their median.
fn spread(sorted: &[Duration], median: Duration) -> f64 {
    let range = quantile(sorted, 0.75).saturating_sub(quantile(sorted, 0.25));
    range.as_secs_f64() / median.as_secs_f64().max(1e-9)
}

/// The quantile `q` of sorted times, interpolated between neighbors.
fn quantile(sorted: &[Duration], q: f64) -> Duration {
    let place = q * sorted.len().saturating_sub(1) as f64;
    let at = |k: usize| sorted.get(k).or(sorted.last()).copied().unwrap_or_default();
    let (low, high) = (at(place as usize), at(place as usize + 1));
    low + (high - low).mul_f64(place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_statistics() {
        let ms = |times: &[u64]| times.iter().map(|t| Duration::from_millis(*t)).collect();
        let t = Timing::new("t", ms(&[50, 10, 20, 40, 30]));
        assert_eq!(
            (t.min, t.median),
            (Duration::from_millis(10), Duration::from_millis(30))
        );
        assert!((t.spread - 2.0 / 3.0).abs() < 1e-6);
        let t = Timing::new("t", ms(&[10, 20]));
        assert_eq!(t.median, Duration::from_millis(15));
        assert_eq!(Timing::new("t", Vec::new()).min, Duration::ZERO);
    }

    /// Runs of so many milliseconds, disturbed or not.
    fn runs(times: &[u64], is_quiet: impl Fn(usize) -> bool) -> Runs {
        let mut runs = Runs::default();
        for (k, time) in times.iter().enumerate() {
            let slowdown = if is_quiet(k) { 1.0 } else { 1.5 };
            runs.push(Duration::from_millis(*time), [1.0, slowdown]);
        }
        runs
    }

    #[test]
    fn a_time_that_is_reached_is_enough() {
        let budget = Budget {
            min_runs: 3,
            max_runs: usize::MAX,
            time: Duration::from_millis(60),
            patience: Duration::MAX,
            enough: None,
            reached: Some(Duration::from_millis(10)),
            ..Budget::default()
        };
        assert!(!budget.goes_on(&runs(&[5, 5, 5], |_| true)));
        // If they are disturbed or too short, runs go on, but not forever.
        assert!(budget.goes_on(&runs(&[5, 5, 5], |k| k < 2)));
        assert!(budget.goes_on(&runs(&[2, 2, 2], |_| true)));
        assert!(budget.goes_on(&runs(&[7, 5, 7, 8], |k| k == 1)));
        assert!(!budget.goes_on(&runs(&[20, 20, 20], |_| false)));
    }

    #[test]
    fn slow_variants_run_until_their_times_agree() {
        let budget = Budget::default();
        let goes_on = |times: &[u64]| budget.goes_on(&runs(times, |_| false));
        assert!(goes_on(&[]) && goes_on(&[4000]));
        // Two runs suffice if they agree; otherwise it takes five, or nine seconds.
        assert!(!goes_on(&[4000, 4200]));
        assert!(goes_on(&[4000, 4900]));
        assert!(!goes_on(&[4000, 4900, 4500]));
        assert!(goes_on(&[1500, 1900, 2500, 1700]));
        assert!(!goes_on(&[1000, 1500, 2000, 1200, 1700]));
        // Shorter ones run for a second.
        assert!(goes_on(&[400, 400]));
        assert!(!goes_on(&[400, 400, 400]));
        assert!(goes_on(&[100; 9]));
        assert!(!goes_on(&[100; 10]));
        assert!(goes_on(&[1; 29]) && !goes_on(&[1; 30]));
        assert!(budget.counts(Duration::from_millis(500)));
        assert!(!budget.counts(Duration::from_millis(499)));
        // Published figures need five runs, or one that takes all patience.
        let budget = Budget {
            patience: Duration::from_secs(8),
            enough: None,
            ..budget
        };
        let goes_on = |times: &[u64]| budget.goes_on(&runs(times, |_| false));
        assert!(goes_on(&[1000, 1000, 1000, 1000]));
        assert!(!goes_on(&[1000, 1000, 1000, 1000, 1000]));
        assert!(!goes_on(&[9000]));
        assert!(budget.counts(Duration::from_secs(8)) && !budget.counts(Duration::from_secs(7)));
    }
}
