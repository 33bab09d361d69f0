//! Measuring: the variants take turns, so that whatever else the machine does meets them all.

use super::compare::{compare, default_tolerance};
use super::compile::Compiled;
use super::control::Control;
use super::data::Data;
use super::error::RuntimeError;
use super::run::{Bench, Outputs, Placed};
use super::turn::turn;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

/// Held for writing while measuring, and for reading by what would disturb that. Never held
/// around work that is shared out among threads: a thread that waits for its part of such work
/// may meanwhile be given other work, and that may want this lock.
static MEASURING: RwLock<()> = RwLock::new(());

/// Waits until nothing is being measured, and lets nobody begin while the guard lives.
pub(super) fn keep_off() -> RwLockReadGuard<'static, ()> {
    MEASURING.read().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until nothing is being measured.
pub(super) fn wait() {
    drop(keep_off());
}

fn alone() -> RwLockWriteGuard<'static, ()> {
    MEASURING.write().unwrap_or_else(PoisonError::into_inner)
}

/// A kernel to be measured.
#[derive(Clone, Debug)]
pub struct Variant {
    /// What results call it.
    pub label: String,
    /// The kernel.
    pub kernel: Compiled,
    /// What each argument holds before every run, in the order of the kernel's arguments.
    /// Variants that read the same data read the same memory.
    pub data: Vec<Data>,
    /// The number of OpenMP threads.
    pub threads: usize,
    /// Whether it runs in a worker apart from the others, whose threads are not bound to cores:
    /// for code that changes its process or starts threads of its own, as libraries do.
    pub apart: bool,
    /// Outputs that were found right; if given, the output of the last timed run must agree with
    /// them, within [`default_tolerance`].
    pub checked: Option<Arc<Outputs>>,
}

/// How often a variant is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Timed runs at least.
    pub min_runs: usize,
    /// Timed runs at most.
    pub max_runs: usize,
    /// No more runs after `min_runs` once their times sum up to this.
    pub time: Duration,
    /// No more runs but the first, whatever `min_runs` is, once their times sum up to this; a
    /// warm-up that takes as long is the first run.
    pub patience: Duration,
}

impl Default for Budget {
    /// 5 to 30 runs, 3 s, with all patience.
    fn default() -> Budget {
        Budget {
            min_runs: 5,
            max_runs: 30,
            time: Duration::from_secs(3),
            patience: Duration::MAX,
        }
    }
}

/// The times of one variant: of the kernel's call alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// The variant's label.
    pub label: String,
    /// The shortest run.
    pub min: Duration,
    /// The median of all runs.
    pub median: Duration,
    /// The interquartile range over the median: 0.02 says that the middle half of all runs lies
    /// within 2 % of the median.
    pub spread: f64,
    /// All timed runs, in order.
    pub runs: Vec<Duration>,
}

/// Measures variants against each other: a warm-up of each, then run 1 of each, run 2 of each,
/// and so on. Before every run the outputs are restored, outside the time, and the kernel is called
/// once, unless that takes long, so that what the variant before it left in the caches matters to
/// none. A run of a very short kernel is the mean of several calls. Kernels that read what they write
/// are called once per run. One measurement at a time, also among processes; this one compiles
/// nothing meanwhile.
///
/// # Errors
/// [`RuntimeError`] for everything that a kernel or the system can do wrong, and
/// [`RuntimeError::Unstable`] when the last output is not the checked one.
pub fn measure(
    variants: &[Variant],
    budget: &Budget,
    control: &Control,
) -> Result<Vec<Timing>, RuntimeError> {
    wait();
    let mut bench = Bench::new(control);
    let place = |v: &Variant| bench.place(&v.kernel, &v.data, v.threads, v.apart);
    let mut placed = variants
        .iter()
        .map(place)
        .collect::<Result<Vec<Placed>, _>>()?;
    let runs = take_turns(&mut bench, &mut placed, budget, control)?;
    for (variant, placed) in variants.iter().zip(&placed) {
        check(variant, placed)?;
    }
    let labels = variants.iter().map(|variant| variant.label.clone());
    Ok(labels
        .zip(runs)
        .map(|(label, runs)| timing(label, runs))
        .collect())
}

/// Kernels below this get a second warm-up.
const SHORT: Duration = Duration::from_millis(1);

/// The times of every kernel's timed runs.
fn take_turns(
    bench: &mut Bench<'_>,
    placed: &mut [Placed],
    budget: &Budget,
    control: &Control,
) -> Result<Vec<Vec<Duration>>, RuntimeError> {
    let _alone = alone();
    let _turn = turn(control)?;
    let mut runs = vec![Vec::new(); placed.len()];
    for (placed, runs) in placed.iter_mut().zip(&mut runs) {
        // The first call of all is slower than those after it.
        let mut time = bench.run(placed)?;
        if time < SHORT {
            time = bench.run(placed)?;
        }
        placed.lengthen(time);
        if time >= budget.patience {
            runs.push(time);
        }
    }
    for _ in 0..budget.max_runs.max(budget.min_runs).max(1) {
        for (placed, runs) in placed.iter().zip(&mut runs) {
            let spent: Duration = runs.iter().sum();
            let wanted = runs.len() < budget.min_runs || spent < budget.time;
            if runs.is_empty() || wanted && spent < budget.patience {
                runs.push(bench.run(placed)?);
            }
        }
    }
    Ok(runs)
}

fn check(variant: &Variant, placed: &Placed) -> Result<(), RuntimeError> {
    let Some(checked) = &variant.checked else {
        return Ok(());
    };
    for output in &placed.outputs {
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

fn timing(label: String, runs: Vec<Duration>) -> Timing {
    let mut sorted = runs.clone();
    sorted.sort_unstable();
    let median = quantile(&sorted, 0.5);
    let range = quantile(&sorted, 0.75).saturating_sub(quantile(&sorted, 0.25));
    Timing {
        label,
        min: sorted.first().copied().unwrap_or_default(),
        median,
        spread: range.as_secs_f64() / median.as_secs_f64().max(1e-9),
        runs,
    }
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
        let t = timing("t".to_owned(), ms(&[50, 10, 20, 40, 30]));
        assert_eq!(
            (t.min, t.median),
            (Duration::from_millis(10), Duration::from_millis(30))
        );
        assert!((t.spread - 2.0 / 3.0).abs() < 1e-6);
        let t = timing("t".to_owned(), ms(&[10, 20]));
        assert_eq!(t.median, Duration::from_millis(15));
        assert_eq!(timing("t".to_owned(), Vec::new()).min, Duration::ZERO);
    }
}
