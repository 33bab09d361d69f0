//! The end of a search: the fastest trials meet in the finals.

use super::finals::{Decided, Finalist, finals};
use super::outcome::{Ended, Tuned};
use crate::runtime::Control;
use crate::trial::{Gauge, Prepared, Variant};

/// Slower by less than this than the best one, a variant is in the finals: others may have used the
/// machine when it was timed first.
const CLOSE: f64 = 1.20;

/// Slower by less than this, it may be as fast: first times are from few runs, some time ago.
const ALIKE: f64 = 1.03;

/// The trial that came first is in the finals, too, unless it is slower by more than this: it is what
/// the space begins with, such as a schedule that is known to be good, and may have been disturbed.
const FIRST: f64 = 2.0;

/// How many others are in the finals at most, and at least.
const MOST: usize = 24;
const FEWEST: usize = 3;

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
    let mut timed: Vec<(usize, f64)> = timed.filter_map(|(k, t)| Some((k, t.seconds()?))).collect();
    timed.sort_by(|a, b| a.1.total_cmp(&b.1));
    let Some((_, best)) = timed.first().copied() else {
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
    let within = |factor: f64| timed.partition_point(|(_, s)| *s <= factor * best);
    let (close, alike) = (within(CLOSE), within(ALIKE));
    let most = ((ROUND / best.max(1e-9)) as usize).clamp(FEWEST, MOST);
    // The fastest are in the finals. Of those that may be as fast, the ones that would win a tie come
    // first, so that searches that know the same points have the same finals.
    let sure = FEWEST.min(timed.len());
    if alike > most {
        timed[sure..alike].sort_by_key(|(number, _)| rank(*number));
    }
    let first = timed.iter().copied().find(|(number, _)| *number == 0);
    timed.truncate(close.clamp(FEWEST, most));
    let first = first.filter(|first| first.1 <= FIRST * best && !timed.contains(first));
    timed.extend(first);
    if control.interrupted() {
        // What is known has to do.
        timed.truncate(1);
    }
    let mut decided = match &timed[..] {
        [only] => Decided {
            finalists: vec![Finalist {
                number: 0,
                runs: vec![only.1],
                rounds: vec![only.1],
            }],
            tied: 1,
        },
        _ => {
            let variant = |(k, _): &(usize, f64)| Variant {
                label: format!("trial_{}", k + 1),
                nests: trials[*k].nests.clone(),
            };
            let prepared = timed.iter().map(|t| gauge.prepare(&variant(t)));
            let prepared: Vec<Prepared> = prepared.collect::<Result<_, _>>()?;
            finals(gauge, &prepared, best)?
        }
    };
    for finalist in &mut decided.finalists {
        finalist.number = timed[finalist.number].0;
    }
    let tied = &mut decided.finalists[..decided.tied];
    let usual = tied.iter().map(Finalist::usual);
    let fastest = usual.fold(f64::INFINITY, f64::min);
    tied.sort_by_key(|f| (f.usual() > SAME * fastest, rank(f.number)));
    Ok(decided)
}
