//! Finals: times the fastest variants again, interleaved, in several rounds with different memory
//! pages. They end with one winner or a tie. Disturbed runs are not repeated: a variant is
//! eliminated only if its estimated undisturbed time is slower.
//!
//! Source: Hoefler, Belli: Scientific Benchmarking of Parallel Computing Systems, SC 2015 (repeated
//! runs of the program beside repeated measurements).

use super::record::median;
use super::tolerances::{ALIKE_RATIO, FAR_SLOWER_RATIO, FEWEST_ROUNDS, MOST_ROUNDS, SLOWER_RATIO};
use crate::runtime::RUN;
use crate::trial::{Evaluator, Prepared, TrialError};
use std::time::{Duration, Instant};

/// A variant in the finals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finalist {
    /// Its index in the input.
    pub number: usize,
    /// All its times, in seconds.
    pub runs: Vec<f64>,
    pub rounds: Vec<Round>,
}

/// The times of a variant in one round, relative to the round's shortest time, so that load on the
/// machine cancels out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    pub least: f64,
    /// The estimated time on otherwise idle cores.
    pub at_best: f64,
}

impl Round {
    /// Whether the shortest run was undisturbed.
    fn is_known(&self) -> bool {
        self.least <= self.at_best * ALIKE_RATIO
    }
}

impl Finalist {
    pub fn median(&self) -> f64 {
        median(&self.runs).unwrap_or(f64::INFINITY)
    }

    /// The shortest time: interference makes runs longer, never shorter.
    pub fn least(&self) -> f64 {
        least(&self.runs)
    }

    /// The median of its relative times, over several placements in memory: each round has its own.
    pub fn usual(&self) -> f64 {
        let all = || self.rounds.iter().map(|round| round.least).collect();
        let known = Some(self.known()).filter(|known| !known.is_empty());
        median(&known.unwrap_or_else(all)).unwrap_or(f64::INFINITY)
    }

    /// Its relative times in the undisturbed rounds.
    fn known(&self) -> Vec<f64> {
        let known = self.rounds.iter().filter(|round| round.is_known());
        known.map(|round| round.least).collect()
    }

    /// The spread of the undisturbed rounds: the ratio of the median to the shortest.
    fn unsteadiness(&self) -> f64 {
        let known = self.known();
        median(&known).map_or(1.0, |usual| usual / least(&known))
    }
}

fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// How the finals ended, the fastest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    pub finalists: Vec<Finalist>,
    /// Number of finalists that tie for the first place, the first one included.
    pub tied: usize,
    /// Variants that may be as fast by their first times, but did not fit into the finals.
    pub left_out: Vec<usize>,
}

impl Decided {
    /// The numbers of all other variants that may be as fast as the first one.
    pub fn ties(&self) -> impl Iterator<Item = usize> {
        let tied = self.finalists[..self.tied].iter().skip(1);
        tied.map(|finalist| finalist.number)
            .chain(self.left_out.iter().copied())
    }
}

/// Holds the finals. No round begins after the runs took `limit` in total, or if it would end after
/// `end`.
///
/// # Errors
/// A variant or the system fails.
pub fn finals(
    evaluator: &dyn Evaluator,
    prepared: &[Prepared],
    limit: Duration,
    end: Option<Instant>,
) -> Result<Decided, TrialError> {
    let finalist = |number| Finalist {
        number,
        ..Finalist::default()
    };
    let mut all: Vec<Finalist> = (0..prepared.len()).map(finalist).collect();
    let mut open: Vec<usize> = (0..prepared.len()).collect();
    let mut spent = Duration::ZERO;
    let mut last = Duration::ZERO;
    for _ in 0..MOST_ROUNDS {
        let is_known = |k: &usize| all[*k].known().len() >= FEWEST_ROUNDS;
        let begun = Instant::now();
        let is_late = end.is_some_and(|end| begun + last > end);
        if open.len() == 1 || open.iter().all(is_known) || spent > limit || is_late {
            break;
        }
        let playing: Vec<Prepared> = open.iter().map(|k| prepared[*k].clone()).collect();
        let timings = evaluator.finals(&playing)?;
        last = begun.elapsed();
        let fastest = timings.iter().map(|timing| timing.min).min();
        let fastest = fastest.unwrap_or_default().as_secs_f64().max(1e-9);
        for (k, timing) in open.iter().zip(timings) {
            let runs = timing.runs.iter();
            spent += runs.clone().map(|run| *run.max(&RUN)).sum::<Duration>();
            all[*k].runs.extend(runs.map(Duration::as_secs_f64));
            all[*k].rounds.push(Round {
                least: timing.min.as_secs_f64() / fastest,
                at_best: timing.at_best.as_secs_f64() / fastest,
            });
        }
        let first = open.iter().copied();
        let first = first.min_by(|a, b| all[*a].usual().total_cmp(&all[*b].usual()));
        let Some(first) = first else { break };
        open.retain(|k| *k == first || is_tied(&all[*k], &all[first]));
    }
    let is_open = |finalist: &Finalist| open.contains(&finalist.number);
    let (mut tied, mut rest): (Vec<_>, Vec<_>) = all.into_iter().partition(is_open);
    for part in [&mut tied, &mut rest] {
        part.sort_by(|a, b| a.least().total_cmp(&b.least()));
    }
    let count = tied.len();
    Ok(Decided {
        finalists: tied.into_iter().chain(rest).collect(),
        tied: count,
        left_out: Vec::new(),
    })
}

/// Whether a variant that is not the first may be as fast: in one of its rounds, it is slower by a
/// tolerated ratio at most. If the times of rounds vary by more than that, their spread is the
/// threshold, since not all interference shows on the cores.
fn is_tied(one: &Finalist, first: &Finalist) -> bool {
    let known = one.known();
    let (times, within) = match known.len() {
        0 => {
            let times = one.rounds.iter().map(|round| round.at_best);
            (times.collect(), FAR_SLOWER_RATIO)
        }
        1 => (known, FAR_SLOWER_RATIO),
        2..FEWEST_ROUNDS => (known, SLOWER_RATIO),
        _ => {
            let unsteadiness = one.unsteadiness().max(first.unsteadiness());
            (known, unsteadiness.max(ALIKE_RATIO))
        }
    };
    least(&times) <= first.usual() * within
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Timing;
    use crate::trial::{Screened, Variant, Work};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// An evaluator with the given times of each variant in each round, in milliseconds: measured,
    /// and expected on an idle machine.
    struct Told<'a> {
        rounds: &'a [&'a [(u64, u64)]],
        next: AtomicUsize,
    }

    impl Evaluator for Told<'_> {
        fn prepare(&self, variant: &Variant) -> Result<Prepared, TrialError> {
            Ok(Prepared::from(variant.clone()))
        }

        fn screen(&self, _: &Prepared, _: Option<Duration>) -> Result<Screened, TrialError> {
            Err(TrialError::Nothing)
        }

        fn finals(&self, prepared: &[Prepared]) -> Result<Vec<Timing>, TrialError> {
            let round = self.rounds[self.next.fetch_add(1, Ordering::Relaxed)];
            let timing = |prepared: &Prepared| {
                let label = &prepared.variant.label;
                let (time, at_best) = round[label.parse::<usize>().unwrap()];
                let time = Duration::from_millis(time);
                Timing {
                    at_best: Duration::from_millis(at_best),
                    ..Timing::new(label, vec![2 * time, time, time])
                }
            };
            Ok(prepared.iter().map(timing).collect())
        }

        fn work(&self) -> Work {
            unreachable!("finals do not ask for it")
        }
    }

    /// The numbers of the variants that tie, those of the others, and the number of rounds.
    fn disturbed(rounds: &[&[(u64, u64)]]) -> (Vec<usize>, Vec<usize>, usize) {
        let prepared = |number: usize| {
            Prepared::from(Variant {
                label: number.to_string(),
                nests: Vec::new(),
            })
        };
        let prepared: Vec<Prepared> = (0..rounds[0].len()).map(prepared).collect();
        let told = Told {
            rounds,
            next: AtomicUsize::new(0),
        };
        let decided = finals(&told, &prepared, Duration::from_secs(6), None).unwrap();
        let numbers = |part: &[Finalist]| part.iter().map(|f| f.number).collect();
        let (tied, rest) = decided.finalists.split_at(decided.tied);
        (numbers(tied), numbers(rest), told.next.into_inner())
    }

    /// The same, on an otherwise idle machine.
    fn decided(rounds: &[&[u64]]) -> (Vec<usize>, Vec<usize>, usize) {
        let quiet = |round: &&[u64]| round.iter().map(|time| (*time, *time)).collect();
        let rounds: Vec<Vec<(u64, u64)>> = rounds.iter().map(quiet).collect();
        disturbed(&rounds.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn out_is_what_is_slower_in_all_rounds() {
        let slower: [&[u64]; 3] = [&[105, 100], &[110, 102], &[104, 100]];
        assert_eq!(decided(&slower), (vec![1], vec![0], 3));
        // A variant that is as fast in one round ties.
        let tied: [&[u64]; 3] = [&[105, 100], &[102, 100], &[104, 100]];
        assert_eq!(decided(&tied), (vec![1, 0], vec![], 3));
    }

    #[test]
    fn what_concerns_all_variants_of_a_round_does_not_count() {
        let slow: [&[u64]; 3] = [&[105, 100], &[158, 150], &[84, 80]];
        assert_eq!(decided(&slow), (vec![1], vec![0], 3));
    }

    #[test]
    fn rounds_that_differ_tell_less() {
        let differ: [&[u64]; 3] = [&[106, 100], &[119, 109], &[100, 110]];
        let (tied, rest, rounds) = decided(&differ);
        assert_eq!((tied.len(), rest, rounds), (2, vec![], 3));
    }

    #[test]
    fn far_slower_ones_are_out_soon() {
        let rounds: [&[u64]; 3] = [&[130, 100, 101], &[1, 100, 101], &[1, 101, 100]];
        assert_eq!(decided(&rounds), (vec![1, 2], vec![0], 3));
        assert_eq!(decided(&[&[130, 100]]), (vec![1], vec![0], 1));
        // A smaller difference decides after two rounds.
        assert_eq!(decided(&[&[115, 100], &[114, 100]]), (vec![1], vec![0], 2));
    }

    #[test]
    fn those_without_a_place_are_among_the_ties() {
        let finalist = |number| Finalist {
            number,
            ..Finalist::default()
        };
        let decided = Decided {
            finalists: [4, 2, 7].map(finalist).to_vec(),
            tied: 2,
            left_out: vec![5, 9],
        };
        assert_eq!(decided.ties().collect::<Vec<_>>(), [2, 5, 9]);
    }

    #[test]
    fn rounds_that_take_long_are_few() {
        assert_eq!(decided(&[&[2000, 2010]]), (vec![0, 1], vec![], 1));
    }

    #[test]
    fn disturbed_rounds_tell_little() {
        // A disturbed variant may be as fast, but not if it is far slower.
        let always: &[(u64, u64)] = &[(120, 90), (100, 100), (180, 130)];
        let (tied, rest, rounds) = disturbed(&[always; MOST_ROUNDS]);
        assert_eq!((tied, rest, rounds), (vec![1, 0], vec![2], MOST_ROUNDS));
        // A variant stays in the finals until it has three undisturbed rounds.
        let quiet: &[(u64, u64)] = &[(108, 108), (100, 100)];
        let noisy: &[(u64, u64)] = &[(140, 100), (100, 100)];
        let rounds = [quiet, noisy, quiet, noisy, quiet];
        assert_eq!(disturbed(&rounds), (vec![1], vec![0], 5));
    }
}
