//! Whether others use the cores of a worker right now.
//!
//! The units of a core often serve a second hardware thread, which may belong to another program, or to
//! another virtual machine that this one cannot see. Kernels then take longer by a third or a half, for
//! milliseconds or for minutes. A loop of known length on the same core takes longer, too, and shows it.

use super::sys;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A loop that takes longer than at best by this is disturbed. Undisturbed, it varies by a percent; beside
/// another thread, it takes longer by a third at least.
const DISTURBED: f64 = 1.12;

/// The cores on which the threads of a worker ran last.
pub(super) struct Cores(Vec<usize>);

/// So many of them are asked: of a hundred cores, some are always used by others.
const ASKED: usize = 8;

impl Cores {
    /// Those of a process; none where the system does not tell.
    pub(super) fn of(process: u32) -> Cores {
        let mut cores = sys::last_cores(process);
        cores.sort_unstable();
        cores.dedup();
        let step = cores.len().div_ceil(ASKED).max(1);
        Cores(cores.into_iter().step_by(step).collect())
    }

    /// Whether one of them is slower now than it was at best since this program started. The calling
    /// thread visits them, and then leaves them to the worker, where there are others.
    pub(super) fn are_disturbed(&self) -> bool {
        let Some(visit) = Visit::begin() else {
            return false;
        };
        // All of them, so that what each does at best becomes known.
        let slower = self.0.iter().map(|core| visit.slowdown(*core));
        let most = slower.fold(1.0, f64::max);
        visit.leave(&self.0);
        most > DISTURBED
    }
}

/// A thread that goes from core to core; it may use all of its cores again afterwards.
struct Visit {
    allowed: Vec<usize>,
}

/// What the loop took at best, by core, in nanoseconds. Cores of a processor may differ.
static BEST: Mutex<BTreeMap<usize, u64>> = Mutex::new(BTreeMap::new());

impl Visit {
    fn begin() -> Option<Visit> {
        let allowed = sys::cores_of_thread();
        (!allowed.is_empty()).then_some(Visit { allowed })
    }

    /// How much longer the loop takes on a core than it took there at best.
    fn slowdown(&self, core: usize) -> f64 {
        if !sys::bind_thread(&[core]) {
            return 1.0;
        }
        let mut times = [0; 5];
        // The first finds its code cold.
        times.fill_with(time);
        times.fill_with(time);
        times.sort_unstable();
        let median = times[times.len() / 2];
        let mut best = BEST.lock().unwrap_or_else(PoisonError::into_inner);
        let best = best.entry(core).or_insert(median);
        *best = median.min(*best);
        median as f64 / (*best).max(1) as f64
    }

    /// Goes elsewhere, so that a thread of the worker that wakes finds its core free.
    fn leave(&self, cores: &[usize]) {
        let others = self.allowed.iter().filter(|core| !cores.contains(core));
        let others: Vec<usize> = others.copied().collect();
        if !others.is_empty() {
            sys::bind_thread(&others);
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
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
    /// Those before and after which nobody else used the same cores.
    pub quiet: Vec<Duration>,
}

/// How close to the shortest time others are as short.
const AS_SHORT: f64 = 1.015;

/// How many runs are as short as the shortest one where that is no accident.
const REACHED: usize = 3;

impl Runs {
    /// Whether the shortest time was reached several times, to a percent or so, while nobody else used the
    /// cores. Others make some runs longer, none shorter, so it then is what the kernel takes.
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
        let cores = Cores::of(std::process::id());
        assert!(!cores.0.is_empty() && cores.0.len() <= ASKED);
        cores.are_disturbed();
        assert_eq!(sys::cores_of_thread(), before);
        // A process that is none has no cores, which nothing disturbs.
        assert!(!Cores::of(u32::MAX).are_disturbed());
    }
}
