//! The tolerances of checking results and of measuring.
//!
//! A ratio compares two times, rates or slowdowns: 1 means equal. A share is a part of a whole, from
//! 0 to 1.

use std::time::Duration;

/// The relative error that counts as rounding in f64. Sums of millions of terms in another order
/// stay far below it, and a wrong term does not.
pub(super) const F64_ERROR: f64 = 1e-9;

/// The same in f32, whose numbers have about 7 digits; long sums lose two or three of them.
pub(super) const F32_ERROR: f64 = 1e-4;

/// The relative error of a sum of n terms that counts as rounding, in roundings of one term times the
/// root of n: they add up like steps in random directions. Sums of a million like terms in f32 reach one
/// of them.
pub(super) const SUM_ROUNDINGS: f64 = 2.0;

/// Times agree if their spread, the interquartile range over the median, is at most this share.
/// Undisturbed runs vary by about a percent, runs on new memory pages by a few.
pub(super) const SETTLED_SPREAD: f64 = 0.03;

/// A warm-up of this length can count as a run. Memory is mapped before it, and cold caches cost
/// milliseconds, less than a percent of this.
pub(super) const LONG_WARM_UP: Duration = Duration::from_millis(500);

/// Kernels below this get a second warm-up: the first call of all is slower than later ones, which
/// a longer kernel does not notice.
pub(super) const SHORT_WARM_UP: Duration = Duration::from_millis(1);

/// How long a measurement waits for quiet cores at first, before its runs earn further time. Many
/// disturbances last some milliseconds, and a wait of a quarter of a second is hardly noticed.
pub(super) const QUIET_WAIT: Duration = Duration::from_millis(250);

/// A core is disturbed if its loop takes longer than at best by this ratio. Undisturbed, it varies by
/// about a percent; beside another thread that computes, by much more.
pub(super) const DISTURBED_RATIO: f64 = 1.08;

/// The best time of that loop grows by this share per second: the clock of a processor slows down as
/// it gets warm.
pub(super) const WARMING_SHARE_PER_SECOND: f64 = 0.005;

/// Times within this ratio of the shortest one count as equal to it: undisturbed runs of one process
/// vary by about a percent.
pub(super) const AS_SHORT_RATIO: f64 = 1.015;

/// How many runs have to reach the shortest time, so that it is not an accident.
pub(super) const REACHED_RUNS: usize = 3;

/// How many undisturbed runs make the shortest time count as it is. Other programs may come and go
/// within one run, but hardly within several.
pub(super) const QUIET_RUNS: usize = 2;

/// Waiting ends after this many disturbed probes without a quiet one. They take a tenth of a second,
/// so the other program hardly pauses.
pub(super) const HOPELESS_PROBES: usize = 50;

/// The pause between two probes: disturbances often last some milliseconds.
pub(super) const PROBE_PAUSE: Duration = Duration::from_millis(2);

/// Longer runs are not repeated: cores rarely stay quiet much longer, so it does not help.
pub(super) const LONGEST_REPEATED: Duration = Duration::from_millis(100);

/// How often a disturbed measurement of the machine is tried. Each takes seconds.
pub(crate) const MACHINE_TRIES: usize = 3;

/// A measurement of the machine is disturbed if a larger share of its runs was: the median of the
/// others then says little.
pub(crate) const MACHINE_DISTURBED_SHARE: f64 = 0.5;

/// If the median run of such a measurement takes longer than the shortest one by more than this
/// ratio, other programs use the cores: they halve the speed of each core that they share.
/// [`Timing::disturbed`](super::Timing::disturbed) sees only the core of the first thread.
pub(crate) const MACHINE_UNEVEN_RATIO: f64 = 2.0;

/// More threads have at least the rate of fewer, times this ratio. They may lose some percent to
/// each other; a larger loss is a disturbance.
pub(crate) const MORE_THREADS_RATIO: f64 = 0.9;

/// If the rate of reading falls by less than this ratio from the smallest array to the largest, no
/// array exceeds the cache: memory is slower than any cache by more.
pub(crate) const CACHE_CLIFF_RATIO: f64 = 1.5;
