//! Whether others use the cores of a worker right now.
//!
//! The units of a core often serve a second hardware thread, which may belong to another program, or to
//! another virtual machine that this one cannot see. Kernels then take longer by a fifth to a half, for
//! milliseconds or for minutes. A loop of known length on the same core takes longer, too, and shows it.

use super::run::RUN;
use super::sys;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A loop that takes longer than at best by this is disturbed. Undisturbed, it varies by a percent or so;
/// beside another thread that computes, by much more.
const DISTURBED: f64 = 1.12;

/// Whether the core on which the first thread of a worker ran last is slower now than it was at best
/// since this program started. The calling thread visits it, and then leaves it to the worker, where the
/// worker's `threads` leave another one free.
///
/// The cores of other threads are not visited: these wait for work without sleeping, so that a visitor
/// would wait for them. A core is not disturbed where the system does not tell which it is.
pub(super) fn is_disturbed(worker: u32, threads: usize) -> bool {
    let slowdown = sys::last_core(worker).and_then(|core| slowdown(core, threads));
    slowdown.is_some_and(|slowdown| slowdown > DISTURBED)
}

/// What the loop took at best, by core, in nanoseconds. Cores of a processor may differ.
static BEST: Mutex<BTreeMap<usize, u64>> = Mutex::new(BTreeMap::new());

/// How much longer the loop takes on a core than it took there at best.
fn slowdown(core: usize, threads: usize) -> Option<f64> {
    let visit = Visit::to(core, threads)?;
    let mut times = [0; 5];
    // The first finds its code cold.
    times.fill_with(time);
    times.fill_with(time);
    drop(visit);
    times.sort_unstable();
    let median = times[times.len() / 2];
    let mut best = BEST.lock().unwrap_or_else(PoisonError::into_inner);
    let best = best.entry(core).or_insert(median);
    *best = median.min(*best);
    Some(median as f64 / (*best).max(1) as f64)
}

/// The calling thread is on a core; afterwards it is elsewhere, if the worker has `threads` that leave it a
/// place, so that a thread of the worker that wakes finds its core free.
struct Visit {
    core: usize,
    threads: usize,
    allowed: Vec<usize>,
}

impl Visit {
    fn to(core: usize, threads: usize) -> Option<Visit> {
        let allowed = sys::cores_of_thread();
        let visit = Visit {
            core,
            threads,
            allowed,
        };
        (!visit.allowed.is_empty() && sys::bind_thread(&[core])).then_some(visit)
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let others = self.allowed.iter().filter(|core| **core != self.core);
        let others: Vec<usize> = others.copied().collect();
        if self.threads < self.allowed.len() {
            sys::bind_thread(&others);
        }
        sys::bind_thread(&self.allowed);
    }
}

/// Sums that do not depend on each other, as many as it takes to keep all units busy on any processor:
/// what another thread does with them is noticed.
const SUMS: usize = 24;

/// Some microseconds.
const ROUNDS: u32 = 600;

fn time() -> u64 {
    let begun = Instant::now();
    let (factor, term) = (black_box(0.999_f64), black_box(0.001_f64));
    let mut sums = black_box([1.0; SUMS]);
    for _ in 0..black_box(ROUNDS) {
        for sum in &mut sums {
            *sum = *sum * factor + term;
        }
    }
    black_box(sums);
    u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// What the runs of a kernel took, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runs {
    /// All of them.
    pub all: Vec<Duration>,
    /// Those before and after which nobody else used the core of the first thread.
    pub quiet: Vec<Duration>,
}

/// How close to the shortest time others are as short.
const AS_SHORT: f64 = 1.015;

/// How many runs are as short as the shortest one where that is no accident.
const REACHED: usize = 3;

impl Runs {
    /// How long all of them lasted. One run of a short kernel is several calls, and its time their mean.
    pub fn lasted(&self) -> Duration {
        self.all.iter().map(|time| *time.max(&RUN)).sum()
    }

    /// Whether the shortest time was reached several times, to a percent or so, by quiet runs. Others make some runs longer, none shorter, so it then is what the kernel takes.
    pub fn reached(&self) -> bool {
        let least = self.all.iter().min().copied().unwrap_or_default();
        let short = |time: &&Duration| **time <= least.mul_f64(AS_SHORT);
        self.quiet.iter().filter(short).count() >= REACHED
    }
}

/// How long a measurement waits for others, and repeats what they have disturbed: as long as it takes
/// itself, and a bit more.
pub(super) struct Patience {
    left: Duration,
    asked: usize,
    quiet: usize,
}

/// What is never quiet when asked so often is not worth waiting for.
const TRIES: usize = 50;

/// How long to wait before asking again.
pub(super) const PAUSE: Duration = Duration::from_millis(2);

/// Others do not leave a core alone for much longer, so that repeating longer runs is no use.
pub(super) const LONGEST: Duration = Duration::from_millis(100);

impl Patience {
    /// Patience for so long, before anything has run.
    pub(super) fn new(left: Duration) -> Patience {
        Patience {
            left,
            asked: 0,
            quiet: 0,
        }
    }

    /// Whether something that takes `time` is done once more, since the cores were `disturbed`.
    pub(super) fn bears(&mut self, disturbed: bool, time: Duration) -> bool {
        self.asked += 1;
        self.quiet += usize::from(!disturbed);
        let is_hopeless = self.quiet == 0 && self.asked >= TRIES;
        if !disturbed || is_hopeless || time > self.left {
            return false;
        }
        self.left -= time;
        true
    }

    /// A run has taken so long that counts.
    pub(super) fn earn(&mut self, time: Duration) {
        self.left += time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn patience_lasts_as_long_as_what_counts() {
        let mut patience = Patience::new(5 * MS);
        assert!(!patience.bears(false, MS));
        assert!(patience.bears(true, 3 * MS));
        assert!(!patience.bears(true, 3 * MS));
        patience.earn(MS);
        assert!(patience.bears(true, 3 * MS));
        assert!(!patience.bears(true, MS));
    }

    #[test]
    fn what_is_never_quiet_is_given_up() {
        let mut patience = Patience::new(1000 * MS);
        let borne = (0..2 * TRIES).filter(|_| patience.bears(true, MS)).count();
        assert_eq!(borne, TRIES - 1);
        let mut patience = Patience::new(1000 * MS);
        patience.bears(false, MS);
        assert!((0..2 * TRIES).all(|_| patience.bears(true, MS)));
    }

    #[test]
    fn threads_may_use_all_their_cores_after_a_visit() {
        let before = sys::cores_of_thread();
        assert!(slowdown(before[0], 1).is_some_and(|slower| slower >= 1.0));
        assert_eq!(sys::cores_of_thread(), before);
        assert!(sys::last_core(std::process::id()).is_some());
        // A process that is none has no core, and a core that is none is not visited.
        assert!(!is_disturbed(u32::MAX, 1));
        assert_eq!(slowdown(usize::MAX, 1), None);
    }

    #[test]
    fn a_time_is_reached_by_several_quiet_runs() {
        let times = |times: &[u32]| -> Vec<Duration> { times.iter().map(|t| *t * MS).collect() };
        let runs = |all: &[u32], quiet: &[u32]| Runs {
            all: times(all),
            quiet: times(quiet),
        };
        assert!(!Runs::default().reached());
        assert!(!runs(&[100, 100, 100], &[100, 100]).reached());
        assert!(runs(&[100, 130, 101, 101], &[100, 101, 101]).reached());
        // Quiet runs that agree tell nothing if another one was shorter.
        assert!(!runs(&[90, 100, 100, 100], &[100, 100, 100]).reached());
    }
}
