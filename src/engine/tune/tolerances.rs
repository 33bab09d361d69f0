//! The tolerances of tuning.
//!
//! A ratio compares two times: 1 means equal. A share is a part of a whole, from 0 to 1.

use std::time::Duration;

/// Two variants may be equally fast if their times in the finals are within this ratio. Smaller
/// differences depend as much on the memory pages of a run as on the variant.
pub(super) const ALIKE_RATIO: f64 = 1.03;

/// The same for the first times of trials. The ratio is larger, since these times come from few
/// runs that were not interleaved.
pub(super) const ALIKE_AT_FIRST_RATIO: f64 = 1.06;

/// Among ties, only variants within this ratio of the fastest may win: the minimum of many times is
/// biased, and a shorter path is not worth a slower kernel.
pub(super) const WINNER_RATIO: f64 = 1.02;

/// A variant qualifies for the finals if its best-case time is within this ratio of the best time.
/// The margin covers interference during the first timing that was not detected.
pub(super) const QUALIFYING_RATIO: f64 = 1.35;

/// The first trial qualifies within this ratio. It is the space's default, such as a schedule known
/// to be good, and other programs may have made its time twice as long.
pub(super) const DEFAULT_QUALIFYING_RATIO: f64 = 2.0;

/// Finals eliminate variants that are slower by this ratio after two undisturbed rounds, fewer than
/// [`FEWEST_ROUNDS`].
pub(super) const SLOWER_RATIO: f64 = 1.10;

/// Finals eliminate variants that are slower by this ratio at once. The margin is large because one
/// round may hide interference, which affects variants differently.
pub(super) const FAR_SLOWER_RATIO: f64 = 1.25;

/// Finals end after this many undisturbed rounds of each variant. Each round has other memory pages;
/// the median of three survives one bad placement.
pub(super) const FEWEST_ROUNDS: usize = 3;

/// Finals end after this many rounds in all: interference can last for a whole round, and spoils
/// half of them on a busy machine.
pub(super) const MOST_ROUNDS: usize = 7;

/// Maximum number of finalists, without the first trial. They take seconds together.
pub(super) const MOST_FINALISTS: usize = 48;

/// Minimum number of finalists, without the first trial: the fastest trial may owe its rank to luck.
pub(super) const FEWEST_FINALISTS: usize = 3;

/// The number of fastest trials that always qualify, before others that may be as fast.
pub(super) const SURE_FINALISTS: usize = 8;

/// Maximum time of one run of all finalists, unless only the minimum number qualifies. A round has
/// tens of runs, so it takes some seconds.
pub(super) const LONGEST_ROUND: Duration = Duration::from_millis(250);

/// No round of the finals begins after their runs took this long, and [`FINALS_SHARE`] of the search
/// time. Two seconds are enough for all rounds of kernels that take milliseconds.
pub(super) const FINALS_TIME: Duration = Duration::from_secs(2);

/// The share of the search time that finals may take: the choice is worth less than the search.
pub(super) const FINALS_SHARE: f64 = 0.25;

/// The share of a limited time for the search; the rest is for the finals.
pub(super) const SEARCH_SHARE: f64 = 0.85;

/// The share of the remaining time for proposing points, if time is limited. Points whose every
/// step is proved take seconds.
pub(super) const PROPOSING_SHARE: f64 = 0.2;
