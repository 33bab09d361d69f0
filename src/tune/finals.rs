//! Finals: the fastest variants are timed again, interleaved, until their intervals separate or a
//! tie is declared.

use super::record::median;
use crate::runtime::RUN;
use crate::trial::{Gauge, Prepared, SETTLED, TrialError};

/// A variant in the finals.
#[derive(Clone, Debug, PartialEq)]
pub struct Finalist {
    /// Its place in the list of what was given.
    pub number: usize,
    /// All of its times, in seconds.
    pub runs: Vec<f64>,
}

impl Finalist {
    /// The median of its times.
    pub fn median(&self) -> f64 {
        median(&self.runs).unwrap_or(f64::INFINITY)
    }

    /// The shortest of its times: whatever else a machine does makes others longer, never shorter.
    pub fn least(&self) -> f64 {
        self.runs.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Where the median is, with a confidence of about 95 %: order statistics, since times have no
    /// known distribution.
    ///
    /// Source: Hoefler, Belli: Scientific Benchmarking of Parallel Computing Systems, SC 2015, §3.1.3.
    pub fn interval(&self) -> (f64, f64) {
        let mut sorted = self.runs.clone();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len() as f64;
        let half = 1.96 * n.sqrt() / 2.0;
        let at = |place: f64| {
            let place = place.clamp(0.0, (n - 1.0).max(0.0)) as usize;
            sorted.get(place).copied().unwrap_or(f64::INFINITY)
        };
        (at((n / 2.0 - half).floor()), at((n / 2.0 + half).ceil()))
    }
}

/// How the finals ended, the fastest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// All finalists.
    pub finalists: Vec<Finalist>,
    /// How many of them are as fast as the first one, that one included.
    pub tied: usize,
}

/// How often each variant runs in each round, if that takes [`SETTLED`]. After a short round, those
/// that are far behind are out.
const ROUNDS: [usize; 5] = [3, 5, 7, 7, 7];

/// Shortest times closer than this are a tie even if the intervals of the medians separate: another
/// run of the program would see other pages of memory, which matters as much.
const ALIKE: f64 = 0.03;

/// Shortest times farther apart than this separate two variants even if their intervals overlap, as
/// intervals do where others use the machine.
const APART: f64 = 0.05;

/// Holds the finals, where the fastest is expected to take `best` seconds.
///
/// # Errors
/// A variant fails, or the system does.
pub fn finals(gauge: &dyn Gauge, prepared: &[Prepared], best: f64) -> Result<Decided, TrialError> {
    let fewest = (SETTLED.as_secs_f64() / best.max(RUN.as_secs_f64())).ceil() as usize;
    let mut all: Vec<Finalist> = (0..prepared.len())
        .map(|number| Finalist {
            number,
            runs: Vec::new(),
        })
        .collect();
    let mut open: Vec<usize> = (0..prepared.len()).collect();
    for runs in ROUNDS {
        let playing: Vec<Prepared> = open.iter().map(|k| prepared[*k].clone()).collect();
        let timings = gauge.finals(&playing, runs.max(fewest))?;
        for (k, timing) in open.iter().zip(timings) {
            let runs = timing.runs.iter().map(|run| run.as_secs_f64());
            all[*k].runs.extend(runs);
        }
        let first = open.iter().copied();
        let first = first.min_by(|a, b| all[*a].least().total_cmp(&all[*b].least()));
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
    })
}

/// Whether one that is not faster may be as fast.
fn is_tied(one: &Finalist, first: &Finalist) -> bool {
    let within = |part: f64| one.least() <= (1.0 + part) * first.least();
    let overlaps = one.interval().0 <= first.interval().1;
    within(ALIKE) || overlaps && within(APART)
}
