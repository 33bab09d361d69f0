//! Finals: the fastest variants are timed again, interleaved, in rounds with other memory each, until
//! one is the fastest in all of them or a tie is declared.
//!
//! Source: Hoefler, Belli: Scientific Benchmarking of Parallel Computing Systems, SC 2015 (repeated
//! runs of the program beside repeated measurements).

use super::record::median;
use crate::runtime::RUN;
use crate::trial::{Gauge, Prepared, TrialError};
use std::time::Duration;

/// A variant in the finals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finalist {
    /// Its place in the list of what was given.
    pub number: usize,
    /// All of its times, in seconds.
    pub runs: Vec<f64>,
    /// The shortest time of each round.
    pub rounds: Vec<f64>,
    /// What it may take in each round where nobody else uses the machine.
    pub at_best: Vec<f64>,
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

    /// What it takes, whatever pages of memory it has: each round has others.
    pub fn usual(&self) -> f64 {
        median(&self.rounds).unwrap_or(f64::INFINITY)
    }

    /// By how much rounds are usually slower than the fastest one.
    fn unsteadiness(&self) -> f64 {
        self.usual() / least(&self.rounds) - 1.0
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

/// How many rounds there are at most, and at least: what others do to a machine can last for a whole
/// round.
const ROUNDS: usize = 4;
const FEWEST: usize = 3;

/// A variant that is slower by this in all rounds is slower, unless rounds differ by more: others then use
/// the machine all the time. What is closer depends on the pages of memory that a run of the program
/// happens to have, as much as on the variant.
const ALIKE: f64 = 0.03;

/// A variant that is slower by this is out before the fewest rounds.
const FAR: f64 = 0.25;

/// No more rounds begin after so many seconds of runs: others use the machine all the time.
const LONG: f64 = 4.0;

/// Holds the finals.
///
/// # Errors
/// A variant fails, or the system does.
pub fn finals(gauge: &dyn Gauge, prepared: &[Prepared]) -> Result<Decided, TrialError> {
    let numbers = 0..prepared.len();
    let mut all: Vec<Finalist> = numbers
        .clone()
        .map(|number| Finalist {
            number,
            ..Finalist::default()
        })
        .collect();
    let mut open: Vec<usize> = numbers.collect();
    let mut spent = 0.0;
    for _ in 0..ROUNDS {
        if spent > LONG {
            break;
        }
        let playing: Vec<Prepared> = open.iter().map(|k| prepared[*k].clone()).collect();
        let timings = gauge.finals(&playing)?;
        for (k, timing) in open.iter().zip(timings) {
            let runs: Vec<f64> = timing.runs.iter().map(Duration::as_secs_f64).collect();
            all[*k].rounds.push(least(&runs));
            all[*k].at_best.push(timing.at_best.as_secs_f64());
            spent += runs
                .iter()
                .map(|run| run.max(RUN.as_secs_f64()))
                .sum::<f64>();
            all[*k].runs.extend(runs);
        }
        let first = open.iter().copied();
        let first = first.min_by(|a, b| all[*a].usual().total_cmp(&all[*b].usual()));
        let Some(first) = first else { break };
        open.retain(|k| is_tied(&all[*k], &all[first]));
        if open.len() == 1 {
            break;
        }
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
    let mut both = one.at_best.iter().zip(&first.rounds);
    let within = match one.rounds.len() < FEWEST {
        true => FAR,
        false => ALIKE.max(one.unsteadiness()).max(first.unsteadiness()),
    };
    both.any(|(own, least)| own / least <= 1.0 + within)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Timing;
    use crate::trial::{Screened, Variant, Work};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Tells what each variant takes in each round, in milliseconds.
    struct Told<'a> {
        rounds: &'a [&'a [u64]],
        next: AtomicUsize,
    }

    impl Gauge for Told<'_> {
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
                let time = Duration::from_millis(round[label.parse::<usize>().unwrap()]);
                Timing::new(label, vec![2 * time, time, time])
            };
            Ok(prepared.iter().map(timing).collect())
        }

        fn work(&self) -> Work {
            unreachable!("finals do not ask for it")
        }
    }

    /// The numbers of those that tie, of the others, and how many rounds it took.
    fn decided(rounds: &[&[u64]]) -> (Vec<usize>, Vec<usize>, usize) {
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
        let decided = finals(&told, &prepared).unwrap();
        let numbers = |part: &[Finalist]| part.iter().map(|f| f.number).collect();
        let (tied, rest) = decided.finalists.split_at(decided.tied);
        (numbers(tied), numbers(rest), told.next.into_inner())
    }

    #[test]
    fn out_is_what_is_slower_in_all_rounds() {
        let slower: [&[u64]; 3] = [&[105, 100], &[110, 102], &[104, 100]];
        assert_eq!(decided(&slower), (vec![1], vec![0], 3));
        // As fast in one of them, it ties.
        let tied: [&[u64]; 4] = [&[105, 100], &[102, 100], &[104, 100], &[108, 100]];
        assert_eq!(decided(&tied), (vec![1, 0], vec![], 4));
    }

    #[test]
    fn rounds_that_differ_tell_less() {
        let differ: [&[u64]; 4] = [&[108, 100], &[121, 110], &[124, 112], &[123, 111]];
        assert_eq!(decided(&differ), (vec![1, 0], vec![], 4));
    }

    #[test]
    fn far_slower_ones_are_out_at_once() {
        let rounds: [&[u64]; 4] = [
            &[130, 100, 101],
            &[1, 100, 101],
            &[1, 100, 101],
            &[1, 101, 100],
        ];
        assert_eq!(decided(&rounds), (vec![1, 2], vec![0], 4));
        assert_eq!(decided(&[&[130, 100]]), (vec![1], vec![0], 1));
    }

    #[test]
    fn rounds_that_take_long_are_few() {
        assert_eq!(decided(&[&[1000, 1010]]), (vec![0, 1], vec![], 1));
    }
}
