//! The end of a search: the fastest trials are timed again in the finals, and the winner is chosen.

use super::finals::{Decided, Finalist, finals};
use super::outcome::{Ended, Tuned};
use super::tolerances::{
    ALIKE_AT_FIRST_RATIO, DEFAULT_QUALIFYING_RATIO, FEWEST_FINALISTS, FINALS_SHARE, FINALS_TIME,
    LONGEST_ROUND, MOST_FINALISTS, QUALIFYING_RATIO, SURE_FINALISTS, WINNER_RATIO,
};
use crate::runtime::Control;
use crate::trial::{Evaluator, Prepared, Variant};
use std::time::Instant;

/// Holds the finals among the fastest trials. Among ties within 2 % of the fastest, the shortest
/// path wins, counted as scripts see it: a call of the library is one step. Of several such
/// variants, the first of the space wins, independently of the order of trials. The winner comes
/// first in the result. No round begins after `end`.
///
/// # Errors
/// No trial has a time, or a finalist fails.
pub(super) fn decide(
    tuned: &Tuned,
    evaluator: &dyn Evaluator,
    control: &Control,
    end: Option<Instant>,
) -> Result<Decided, Ended> {
    let trials = &tuned.trials;
    let timed = trials.iter().enumerate();
    let timed = timed.filter_map(|(number, trial)| {
        Some(Timed {
            number,
            least: trial.seconds()?,
            at_best: trial.at_best()?,
        })
    });
    let timed: Vec<Timed> = timed.collect();
    if timed.is_empty() {
        let last = trials.iter().rev().find_map(|t| t.outcome.as_ref().err());
        return Err(match last {
            Some((_, why)) => Ended::Failed(why.clone()),
            None => Ended::Refused(tuned.refused.clone()),
        });
    }
    let steps = |number: usize| -> usize {
        let nests = trials[number].nests.iter();
        nests.map(|nest| nest.path().entries().len()).sum()
    };
    let rank = |number: usize| (steps(number), &trials[number].digits);
    let (mut timed, mut left_out) = finalists(timed, &rank);
    if control.interrupted() || end.is_some_and(|end| Instant::now() >= end) {
        // Without finals, the first times decide.
        timed.truncate(1);
        left_out.clear();
    }
    let mut decided = match &timed[..] {
        [only] => Decided {
            finalists: vec![Finalist {
                number: 0,
                runs: vec![only.least],
                rounds: Vec::new(),
            }],
            tied: 1,
            left_out: Vec::new(),
        },
        _ => {
            let variant = |timed: &Timed| Variant {
                label: format!("trial_{}", timed.number + 1),
                nests: trials[timed.number].nests.clone(),
            };
            let prepared = timed.iter().map(|t| evaluator.prepare(&variant(t)));
            let prepared: Vec<Prepared> = prepared.collect::<Result<_, _>>()?;
            let limit = FINALS_TIME.max(tuned.elapsed.mul_f64(FINALS_SHARE));
            finals(evaluator, &prepared, limit, end)?
        }
    };
    for finalist in &mut decided.finalists {
        finalist.number = timed[finalist.number].number;
    }
    winner_first(&mut decided.finalists[..decided.tied], &rank);
    decided.left_out = left_out.iter().map(|timed| timed.number).collect();
    Ok(decided)
}

/// Sorts ties: variants as good as the fastest come first, led by the one with the lowest `rank`.
fn winner_first<R: Ord>(tied: &mut [Finalist], rank: &impl Fn(usize) -> R) {
    let usual = tied.iter().map(Finalist::usual);
    let fastest = usual.fold(f64::INFINITY, f64::min);
    tied.sort_by_key(|f| (f.usual() > WINNER_RATIO * fastest, rank(f.number)));
}

/// A trial that has a time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Timed {
    number: usize,
    /// The shortest time, and the estimated time on an otherwise idle machine, in seconds.
    least: f64,
    at_best: f64,
}

impl Timed {
    /// The estimated time: the geometric mean of both times.
    fn expected(&self) -> f64 {
        (self.least * self.at_best).sqrt()
    }
}

/// The finalists, fastest first, and the variants that may be as fast but do not fit in. A lower
/// `rank` wins a tie.
fn finalists<R: Ord>(
    mut timed: Vec<Timed>,
    rank: &impl Fn(usize) -> R,
) -> (Vec<Timed>, Vec<Timed>) {
    timed.sort_by(|a, b| a.expected().total_cmp(&b.expected()));
    let best = timed
        .iter()
        .map(|one| one.least)
        .fold(f64::INFINITY, f64::min);
    let most = (LONGEST_ROUND.as_secs_f64() / best.max(1e-9)) as usize;
    let most = most.clamp(FEWEST_FINALISTS, MOST_FINALISTS);
    let first = timed.iter().copied().find(|one| one.number == 0);
    let within = |ratio: f64| move |one: &Timed| one.at_best <= ratio * best;
    let (close, far): (Vec<Timed>, Vec<Timed>) =
        timed.into_iter().partition(within(QUALIFYING_RATIO));
    let (mut alike, other): (Vec<Timed>, Vec<Timed>) =
        close.into_iter().partition(within(ALIKE_AT_FIRST_RATIO));
    // The fastest always qualify. Variants that may be as fast follow by rank, so that searches
    // that know the same points have the same finals.
    if alike.len() > most {
        alike[SURE_FINALISTS.min(most)..].sort_by_key(|one| rank(one.number));
    }
    let mut left_out = alike.clone();
    let mut meet = [alike, other].concat();
    let missing = FEWEST_FINALISTS.saturating_sub(meet.len());
    meet.extend(far.into_iter().take(missing));
    meet.truncate(most);
    let first = first.filter(within(DEFAULT_QUALIFYING_RATIO));
    meet.extend(first.filter(|first| !meet.contains(first)));
    left_out.retain(|one| !meet.contains(one));
    (meet, left_out)
}

#[cfg(test)]
mod tests {
    use super::{Finalist, MOST_FINALISTS, SURE_FINALISTS, Timed, finalists, winner_first};
    use crate::tune::finals::Round;

    /// Trials with undisturbed times.
    fn quiet(times: &[(usize, f64)]) -> Vec<Timed> {
        let timed = |(number, seconds): &(usize, f64)| Timed {
            number: *number,
            least: *seconds,
            at_best: *seconds,
        };
        times.iter().map(timed).collect()
    }

    fn numbers(timed: &[Timed]) -> Vec<usize> {
        timed.iter().map(|one| one.number).collect()
    }

    /// The numbers of the finalists; the lower of two numbers wins a tie.
    fn meet(times: &[(usize, f64)]) -> Vec<usize> {
        numbers(&finalists(quiet(times), &|number| number).0)
    }

    #[test]
    fn of_those_within_two_percent_the_lowest_rank_wins() {
        let finalist = |(number, least): (usize, f64)| Finalist {
            number,
            rounds: vec![Round {
                least,
                at_best: least,
            }],
            ..Finalist::default()
        };
        let mut tied = [(8, 1.0), (1, 1.025), (5, 1.018), (9, 1.01)].map(finalist);
        winner_first(&mut tied, &|number| number);
        assert_eq!(tied.map(|f| f.number), [5, 8, 9, 1]);
    }

    #[test]
    fn the_close_ones_meet_but_at_least_three() {
        let timed = [
            (5, 1.0e-3),
            (2, 1.1e-3),
            (7, 1.15e-3),
            (3, 1.3e-3),
            (1, 1.4e-3),
        ];
        assert_eq!(meet(&timed), [5, 2, 7, 3]);
        assert_eq!(
            meet(&[timed[4], timed[0], (4, 2.0e-3), (6, 2.5e-3)]),
            [5, 1, 4]
        );
        assert_eq!(meet(&timed[..1]), [5]);
    }

    #[test]
    fn the_first_trial_meets_them_unless_it_is_far_slower() {
        let others = [(5, 1.0e-3), (2, 1.1e-3), (7, 1.15e-3)];
        let with = |seconds: f64| meet(&[&others[..], &[(0, seconds)]].concat());
        assert_eq!(with(1.5e-3), [5, 2, 7, 0]);
        assert_eq!(with(2.5e-3), [5, 2, 7]);
    }

    #[test]
    fn of_many_alike_those_that_would_win_a_tie_meet() {
        let many: Vec<(usize, f64)> = (0..80).map(|k| (80 - k, 1e-3 + 1e-7 * k as f64)).collect();
        let (found, left_out) = finalists(quiet(&many), &|number| number);
        let found = numbers(&found);
        assert_eq!(found.len(), MOST_FINALISTS);
        // The fastest, and the lowest numbers.
        assert_eq!(
            found[SURE_FINALISTS - 2..SURE_FINALISTS + 2],
            [74, 73, 1, 2]
        );
        // The rest may be as fast.
        assert_eq!(
            numbers(&left_out),
            (MOST_FINALISTS - SURE_FINALISTS + 1..=80 - SURE_FINALISTS).collect::<Vec<_>>()
        );
    }

    #[test]
    fn slow_ones_are_few_and_only_those_that_may_be_as_fast_are_left_out() {
        let timed = [(1, 0.4), (2, 0.41), (3, 0.411), (4, 0.412), (5, 0.46)];
        let (meet, left_out) = finalists(quiet(&timed), &|number| number);
        assert_eq!(
            (numbers(&meet), numbers(&left_out)),
            (vec![1, 2, 3], vec![4])
        );
    }

    #[test]
    fn disturbed_ones_meet_if_they_may_be_as_fast() {
        let disturbed = |number, least, at_best| Timed {
            number,
            least,
            at_best,
        };
        let mut timed = quiet(&[(1, 1e-3), (2, 1.01e-3), (3, 1.02e-3)]);
        timed.extend([disturbed(4, 1.6e-3, 0.9e-3), disturbed(5, 2.4e-3, 1.4e-3)]);
        let (meet, left_out) = finalists(timed, &|number| number);
        assert_eq!((numbers(&meet), left_out), (vec![1, 2, 3, 4], vec![]));
    }
}
