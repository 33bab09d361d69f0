//! The end of a search: the fastest trials meet in the finals.

use super::finals::{Decided, Finalist, finals};
use super::outcome::{Ended, Trial, Tuned};
use crate::runtime::Control;
use crate::trial::{Gauge, Prepared, Variant};

/// Slower by less than this than the best one, at best, a variant is in the finals: others may have used
/// the machine when it was timed first.
const CLOSE: f64 = 1.20;

/// Slower by less than this, it may be as fast: first times are from few runs, some time ago.
const ALIKE: f64 = 1.06;

/// The trial that came first is in the finals, too, unless it is slower by more than this: it is what
/// the space begins with, such as a schedule that is known to be good, and may have been disturbed.
const FIRST: f64 = 2.0;

/// How many others are in the finals at most, and at least.
const MOST: usize = 24;
const FEWEST: usize = 3;

/// The fastest of all are there, whatever the others are.
const SURE: usize = 8;

/// So long takes one run of all of them at most, unless only the fewest are there.
const ROUND: f64 = 0.5;

/// Of those that tie, only ones that are slower than the fastest by no more than this may win: a
/// shorter path is worth no more.
const SAME: f64 = 1.01;

/// Holds the finals among the fastest trials. Of those that tie and are within a percent of the
/// fastest, the one with the shortest path wins, and of these the first one of the space, whatever was
/// tried first. The winner comes first.
///
/// # Errors
/// No trial has a time, or a finalist fails.
pub(super) fn decide(
    tuned: &Tuned,
    gauge: &dyn Gauge,
    control: &Control,
) -> Result<Decided, Ended> {
    let trials = &tuned.trials;
    let timed = trials.iter().enumerate();
    let mut timed: Vec<Timed> = timed.filter_map(|(k, t)| Some((k, t.at_best()?))).collect();
    timed.sort_by(|a, b| a.1.total_cmp(&b.1));
    let Some(best) = trials
        .iter()
        .filter_map(Trial::seconds)
        .min_by(f64::total_cmp)
    else {
        let last = trials.iter().rev().find_map(|t| t.outcome.as_ref().err());
        return Err(match last {
            Some((_, why)) => Ended::Failed(why.clone()),
            None => Ended::Refused(tuned.refused.clone()),
        });
    };
    let steps = |number: usize| -> usize {
        let nests = trials[number].nests.iter();
        nests.map(|nest| nest.path().len()).sum()
    };
    let rank = |number: usize| (steps(number), &trials[number].digits);
    let (mut timed, mut left_out) = finalists(timed, best, &rank);
    if control.interrupted() {
        // What is known has to do.
        timed.truncate(1);
        left_out.clear();
    }
    let mut decided = match &timed[..] {
        [only] => Decided {
            finalists: vec![Finalist {
                number: 0,
                runs: trials[only.0].seconds().into_iter().collect(),
                rounds: trials[only.0].seconds().into_iter().collect(),
                at_best: trials[only.0].at_best().into_iter().collect(),
            }],
            tied: 1,
            left_out: Vec::new(),
        },
        _ => {
            let variant = |(k, _): &Timed| Variant {
                label: format!("trial_{}", k + 1),
                nests: trials[*k].nests.clone(),
            };
            let prepared = timed.iter().map(|t| gauge.prepare(&variant(t)));
            let prepared: Vec<Prepared> = prepared.collect::<Result<_, _>>()?;
            finals(gauge, &prepared)?
        }
    };
    for finalist in &mut decided.finalists {
        finalist.number = timed[finalist.number].0;
    }
    let tied = &mut decided.finalists[..decided.tied];
    let usual = tied.iter().map(Finalist::usual);
    let fastest = usual.fold(f64::INFINITY, f64::min);
    tied.sort_by_key(|f| (f.usual() > SAME * fastest, rank(f.number)));
    decided.left_out = left_out.into_iter().map(|(number, _)| number).collect();
    Ok(decided)
}

/// The number of a trial and the seconds that it may take.
type Timed = (usize, f64);

/// The trials that meet in the finals, of all that have a time, fastest first; and those that may be as
/// fast, but find no place there. Of those that tie, one with a lower `rank` would win.
fn finalists<R: Ord>(
    mut timed: Vec<Timed>,
    best: f64,
    rank: &impl Fn(usize) -> R,
) -> (Vec<Timed>, Vec<Timed>) {
    let within = |factor: f64| timed.partition_point(|(_, s)| *s <= factor * best);
    let (close, alike) = (within(CLOSE), within(ALIKE));
    let most = ((ROUND / best.max(1e-9)) as usize).clamp(FEWEST, MOST);
    // The fastest are in the finals. Of those that may be as fast, the ones that would win a tie come
    // first, so that searches that know the same points have the same finals.
    if alike > most {
        timed[SURE.min(most)..alike].sort_by_key(|(number, _)| rank(*number));
    }
    let first = timed.iter().copied().find(|(number, _)| *number == 0);
    let mut left_out = timed[..alike].to_vec();
    timed.truncate(close.clamp(FEWEST, most));
    let first = first.filter(|first| first.1 <= FIRST * best && !timed.contains(first));
    timed.extend(first);
    left_out.retain(|one| !timed.contains(one));
    (timed, left_out)
}

#[cfg(test)]
mod tests {
    use super::{MOST, SURE, finalists};

    /// The numbers of those that meet, where the lower of two numbers would win a tie.
    fn numbers(timed: &[(usize, f64)]) -> Vec<usize> {
        let (finalists, _) = finalists(timed.to_vec(), timed[0].1, &|number| number);
        finalists.iter().map(|(number, _)| *number).collect()
    }

    #[test]
    fn the_close_ones_meet_but_at_least_three() {
        let timed = [
            (5, 1.0e-3),
            (2, 1.1e-3),
            (7, 1.19e-3),
            (3, 1.15e-3),
            (1, 1.3e-3),
        ];
        assert_eq!(numbers(&timed[..3]), [5, 2, 7]);
        assert_eq!(
            numbers(&[timed[0], timed[4], (4, 2.0e-3), (6, 2.5e-3)]),
            [5, 1, 4]
        );
        assert_eq!(numbers(&timed[..1]), [5]);
    }

    #[test]
    fn the_first_trial_meets_them_unless_it_is_far_slower() {
        let others = [(5, 1.0e-3), (2, 1.1e-3), (7, 1.15e-3)];
        let with = |seconds: f64| numbers(&[&others[..], &[(0, seconds)]].concat());
        assert_eq!(with(1.5e-3), [5, 2, 7, 0]);
        assert_eq!(with(2.5e-3), [5, 2, 7]);
    }

    #[test]
    fn of_many_alike_those_that_would_win_a_tie_meet() {
        let many: Vec<(usize, f64)> = (0..50).map(|k| (50 - k, 1e-3 + 1e-7 * k as f64)).collect();
        let found = numbers(&many);
        assert_eq!(found.len(), MOST);
        // The fastest, and the lowest numbers.
        assert_eq!(found[SURE - 2..SURE + 2], [44, 43, 1, 2]);
        // The others may be as fast.
        let (_, left_out) = finalists(many, 1e-3, &|number| number);
        let left_out: Vec<usize> = left_out.iter().map(|(number, _)| *number).collect();
        assert_eq!(left_out, (MOST - SURE + 1..=50 - SURE).collect::<Vec<_>>());
    }

    #[test]
    fn only_those_that_may_be_as_fast_are_left_out() {
        let timed = [(1, 0.4), (2, 0.41), (3, 0.411), (4, 0.412), (5, 0.46)];
        let (meet, left_out) = finalists(timed.to_vec(), 0.4, &|number| number);
        assert_eq!((meet.len(), left_out), (3, vec![(4, 0.412)]));
    }

    #[test]
    fn slow_ones_are_few() {
        let slow: Vec<(usize, f64)> = (1..20).map(|k| (k, 0.4)).collect();
        assert_eq!(numbers(&slow).len(), 3);
    }
}
