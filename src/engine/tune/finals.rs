//! Finals: the fastest variants are timed again, interleaved, in rounds with other memory each, until
//! one is the fastest or a tie is declared.
//!
//! Source: Hoefler, Belli: Scientific Benchmarking of Parallel Computing Systems, SC 2015 (repeated
//! runs of the program beside repeated measurements).

use super::record::median;
use crate::runtime::RUN;
use crate::trial::{Evaluator, Prepared, TrialError};
use std::time::{Duration, Instant};

/// A variant in the finals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finalist {
    /// Its place in the list of what was given.
    pub number: usize,
    /// All of its times, in seconds.
    pub runs: Vec<f64>,
    /// Its rounds.
    pub rounds: Vec<Round>,
}

/// What a variant takes in one round, in which all take turns, over the shortest time of the round: what
/// others do to the machine in that time concerns all variants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// The shortest time.
    pub least: f64,
    /// What it may take where nobody else uses the cores.
    pub at_best: f64,
}

impl Round {
    /// Whether others left the shortest run alone.
    fn is_known(&self) -> bool {
        self.least <= self.at_best * (1.0 + ALIKE)
    }
}

impl Finalist {
    /// The median of its times.
    pub fn median(&self) -> f64 {
        median(&self.runs).unwrap_or(f64::INFINITY)
    }

    /// The shortest of its times: whatever else a machine does makes others longer, never shorter.
    pub fn least(&self) -> f64 {
        least(&self.runs)
    }

    /// How much longer than the fastest one it takes, whatever pages of memory it has: each round has
    /// others.
    pub fn usual(&self) -> f64 {
        let all = || self.rounds.iter().map(|round| round.least).collect();
        let known = Some(self.known()).filter(|known| !known.is_empty());
        median(&known.unwrap_or_else(all)).unwrap_or(f64::INFINITY)
    }

    /// What it took in the rounds that others left alone.
    fn known(&self) -> Vec<f64> {
        let known = self.rounds.iter().filter(|round| round.is_known());
        known.map(|round| round.least).collect()
    }

    /// By how much known rounds are usually slower than the fastest one.
    fn unsteadiness(&self) -> f64 {
        let known = self.known();
        median(&known).map_or(0.0, |usual| usual / least(&known) - 1.0)
    }
}

fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// How the finals ended, the fastest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// All finalists.
    pub finalists: Vec<Finalist>,
    /// How many of them are as fast as the first one, that one included.
    pub tied: usize,
    /// The numbers of those that may be as fast by their first times, but found no place in the finals.
    pub left_out: Vec<usize>,
}

impl Decided {
    /// The numbers of all that may be as fast as the first one.
    pub fn ties(&self) -> impl Iterator<Item = usize> {
        let tied = self.finalists[..self.tied].iter().skip(1);
        tied.map(|finalist| finalist.number)
            .chain(self.left_out.iter().copied())
    }
}

/// The variants play until each has so many rounds that others left alone, or this many in all: what others
/// do to a machine can last for a whole round.
const FEWEST: usize = 3;
const ROUNDS: usize = 7;

/// A variant that is slower by this in all its rounds is slower, unless rounds differ by more: others then
/// use the machine in a way that its cores do not show. What is closer depends on the pages of memory that a
/// run of the program happens to have, as much as on the variant.
const ALIKE: f64 = 0.03;

/// A variant that is slower by this is out after two rounds that others left alone.
const SLOWER: f64 = 0.10;

/// And by this at once: what others do in one round may not show, and how much it matters depends on the
/// variant.
const FAR: f64 = 0.25;

/// Holds the finals. No round begins once the runs took as long as `limit` together, nor after `end`
/// or so late that it would last longer.
///
/// # Errors
/// A variant fails, or the system does.
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
    for _ in 0..ROUNDS {
        let is_known = |k: &usize| all[*k].known().len() >= FEWEST;
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

/// Whether one that is not faster may be as fast.
fn is_tied(one: &Finalist, first: &Finalist) -> bool {
    let known = one.known();
    let (times, within) = match known.len() {
        0 => (one.rounds.iter().map(|round| round.at_best).collect(), FAR),
        1 => (known, FAR),
        2..FEWEST => (known, SLOWER),
        _ => {
            let unsteadiness = one.unsteadiness().max(first.unsteadiness());
            (known, unsteadiness.max(ALIKE))
        }
    };
    least(&times) <= first.usual() * (1.0 + within)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Timing;
    use crate::trial::{Screened, Variant, Work};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Tells what each variant takes in each round, in milliseconds, and what it may take at best.
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

    /// The numbers of those that tie, of the others, and how many rounds it took.
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

    /// The same, where nobody else uses the machine.
    fn decided(rounds: &[&[u64]]) -> (Vec<usize>, Vec<usize>, usize) {
        let quiet = |round: &&[u64]| round.iter().map(|time| (*time, *time)).collect();
        let rounds: Vec<Vec<(u64, u64)>> = rounds.iter().map(quiet).collect();
        disturbed(&rounds.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn out_is_what_is_slower_in_all_rounds() {
        let slower: [&[u64]; 3] = [&[105, 100], &[110, 102], &[104, 100]];
        assert_eq!(decided(&slower), (vec![1], vec![0], 3));
        // As fast in one of them, it ties.
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
        // Nearer ones after two rounds.
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
        // A variant that was disturbed may be as fast; far slower, it is not.
        let always: &[(u64, u64)] = &[(120, 90), (100, 100), (180, 130)];
        let (tied, rest, rounds) = disturbed(&[always; ROUNDS]);
        assert_eq!((tied, rest, rounds), (vec![1, 0], vec![2], ROUNDS));
        // It plays on until it was left alone three times.
        let quiet: &[(u64, u64)] = &[(108, 108), (100, 100)];
        let noisy: &[(u64, u64)] = &[(140, 100), (100, 100)];
        let rounds = [quiet, noisy, quiet, noisy, quiet];
        assert_eq!(disturbed(&rounds), (vec![1], vec![0], 5));
    }
}
