//! Tuning: a search proposes points, points become nests, and a gauge says how fast they are.

use super::finals::{Decided, finals};
use super::record::{Journal, Key, Kind, Record, median};
use super::search::{History, Outlook, Strategy};
use super::space::{Digits, Halt, Space};
use super::value::Point;
use crate::ir::Nest;
use crate::runtime::Control;
use crate::transform::trace;
use crate::trial::{Gauge, Prepared, Screened, TrialError, Variant, Work};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// When to stop.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// After so many trials; refused points do not count.
    pub trials: usize,
    /// After this time. The finals come after it.
    pub time: Option<Duration>,
    /// After so many trials without improvement.
    pub patience: Option<usize>,
}

/// How to search.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Which points are proposed.
    pub strategy: Strategy,
    /// What random choices follow from.
    pub seed: u64,
    /// When to stop.
    pub budget: Budget,
}

/// What becomes of a point.
#[derive(Clone, Debug)]
pub enum Made {
    /// Nests that run in order.
    Nests(Vec<Nest>),
    /// An operation refuses it.
    Refused(String),
}

/// Makes nests of points, and says what a model expects of them.
pub trait Maker {
    /// The nests of a point.
    ///
    /// # Errors
    /// The script fails.
    fn make(&mut self, point: &Point) -> Result<Made, Halt>;

    /// How many seconds nests should take.
    fn predict(&mut self, nests: &[Nest]) -> Option<f64>;
}

/// Who gets to know how far it is.
pub trait Audience {
    /// A trial has ended.
    fn tried(&mut self, progress: &Standing<'_>);
}

/// How far it is.
#[derive(Clone, Debug)]
pub struct Standing<'a> {
    /// Trials so far.
    pub done: usize,
    /// Trials at most.
    pub total: usize,
    /// The best point so far, and its time in seconds.
    pub best: Option<(&'a Point, f64)>,
    /// Since it began.
    pub elapsed: Duration,
    /// What is left by the clock, if there is a limit.
    pub left: Option<Duration>,
}

/// A point that was tried.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The point.
    pub point: Point,
    /// Its nests.
    pub nests: Vec<Nest>,
    /// Its times, or what is wrong with it and why.
    pub outcome: Result<Screened, (String, String)>,
    /// What the model expected, in seconds.
    pub expected: Option<f64>,
    /// Seconds from the beginning to the end of this trial.
    pub at: f64,
}

impl Trial {
    /// Its median time in seconds, if it has one.
    pub fn seconds(&self) -> Option<f64> {
        let runs = &self.outcome.as_ref().ok()?.runs;
        median(&runs.iter().map(Duration::as_secs_f64).collect::<Vec<_>>())
    }
}

/// What tuning found.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// What was tried, in order.
    pub trials: Vec<Trial>,
    /// How many points were refused, by reason.
    pub refused: BTreeMap<String, usize>,
    /// The finals; their numbers are those of trials. The winner comes first.
    pub decided: Decided,
    /// How long the search took, without the finals.
    pub elapsed: Duration,
    /// How long the screen waited for the compiler in that time.
    pub compiling: Duration,
    /// How many trials were known from records.
    pub known: usize,
    /// What the computation asks of a machine.
    pub work: Option<Work>,
    /// Whether someone stopped it.
    pub interrupted: bool,
}

/// Why there is no result.
#[derive(Debug)]
pub enum Ended {
    /// The script failed.
    Halt,
    /// No variant can be tried.
    Trial(TrialError),
    /// No point has a nest: how many were refused, by reason.
    Refused(BTreeMap<String, usize>),
    /// All that were tried failed: the last reason.
    Failed(String),
}

impl From<Halt> for Ended {
    fn from(_: Halt) -> Ended {
        Ended::Halt
    }
}

impl From<TrialError> for Ended {
    fn from(error: TrialError) -> Ended {
        Ended::Trial(error)
    }
}

/// How many points are proposed at a time. The same everywhere, since what is proposed next
/// depends on it.
const BATCH: usize = 8;

/// So many points for each trial are proposed at most: most may be refused.
const PROPOSALS: usize = 40;

/// Slower by less than this than the best one, a variant is in the finals.
const CLOSE: f64 = 1.10;

/// How many are in the finals at most, and at least.
const MOST: usize = 8;
const FEWEST: usize = 3;

/// The first point in the order of the search that has nests, and those that were refused before.
///
/// # Errors
/// The script fails, or no point has nests.
pub fn first(
    space: &Space<'_>,
    maker: &mut dyn Maker,
    count: usize,
) -> Result<Vec<(Point, Vec<Nest>)>, Ended> {
    let mut found = Vec::new();
    let mut refused = BTreeMap::new();
    let mut digits = Some(space.first());
    while let Some(current) = digits {
        if let Some((_, point)) = space.point(&current)? {
            match maker.make(&point)? {
                Made::Nests(nests) => found.push((point, nests)),
                Made::Refused(why) => *refused.entry(why).or_default() += 1,
            }
        }
        if found.len() == count {
            break;
        }
        digits = space.after(&current)?;
    }
    match found.is_empty() {
        true => Err(Ended::Refused(refused)),
        false => Ok(found),
    }
}

/// Random points that have nests, `count` of them if there are so many.
///
/// # Errors
/// As [`first`].
pub fn sample(
    space: &Space<'_>,
    maker: &mut dyn Maker,
    count: usize,
) -> Result<Vec<(Point, Vec<Nest>)>, Ended> {
    let mut found = Vec::new();
    let mut refused = BTreeMap::new();
    let mut history = History::default();
    let mut search = Strategy::Random.search(0);
    for _ in 0..PROPOSALS {
        let mut outlook = Outlook {
            space,
            history: &history,
            predict: &mut |_, _| Ok(None),
        };
        let batch = search.propose(&mut outlook, count)?;
        if batch.is_empty() || found.len() >= count {
            break;
        }
        for digits in batch {
            if let Some((_, point)) = space.point(&digits)? {
                match maker.make(&point)? {
                    Made::Nests(nests) => found.push((point, nests)),
                    Made::Refused(why) => *refused.entry(why).or_default() += 1,
                }
            }
            history.add(digits, None);
        }
    }
    found.truncate(count);
    match found.is_empty() {
        true => Err(Ended::Refused(refused)),
        false => Ok(found),
    }
}

/// Searches a space for the fastest nests.
///
/// # Errors
/// [`Ended`]; what was recorded remains.
pub fn tune(
    space: &Space<'_>,
    maker: &mut dyn Maker,
    gauge: &dyn Gauge,
    plan: &Plan,
    (journal, key): (&mut Journal, &Key),
    control: &Control,
    audience: &mut dyn Audience,
) -> Result<Tuned, Ended> {
    let mut run = Run {
        space,
        gauge,
        plan,
        key,
        begun: Instant::now(),
        history: History::default(),
        made: HashMap::new(),
        tuned: Tuned {
            trials: Vec::new(),
            refused: BTreeMap::new(),
            decided: Decided {
                finalists: Vec::new(),
                tied: 0,
            },
            elapsed: Duration::ZERO,
            compiling: Duration::ZERO,
            known: 0,
            work: Some(gauge.work()),
            interrupted: false,
        },
        improved: 0,
    };
    let mut search = plan.strategy.search(plan.seed);
    let mut proposals = 0;
    while !run.is_over(control) {
        let left = plan.budget.trials - run.tuned.trials.len();
        let batch = {
            let made = &mut run.made;
            let mut predict = |digits: &Digits, point: &Point| {
                let known = match made.get(digits) {
                    Some(known) => known,
                    None => {
                        let expected = match maker.make(point)? {
                            Made::Nests(nests) => maker.predict(&nests).map(|s| (nests, s)),
                            Made::Refused(_) => None,
                        };
                        made.entry(digits.clone()).or_insert(expected)
                    }
                };
                Ok(known.as_ref().map(|(_, seconds)| *seconds))
            };
            let mut outlook = Outlook {
                space,
                history: &run.history,
                predict: &mut predict,
            };
            search.propose(&mut outlook, BATCH)?
        };
        if batch.is_empty() || proposals > PROPOSALS * plan.budget.trials {
            break;
        }
        proposals += batch.len();
        let candidates = run.candidates(batch, maker, left)?;
        run.try_all(candidates, journal, control, audience)?;
        run.tuned.interrupted = control.interrupted();
    }
    run.tuned.elapsed = run.begun.elapsed();
    run.decide(journal, control)?;
    Ok(run.tuned)
}

/// A point with its nests.
struct Candidate {
    digits: Digits,
    point: Point,
    nests: Vec<Nest>,
    expected: Option<f64>,
}

struct Run<'a, 's> {
    space: &'a Space<'s>,
    gauge: &'a dyn Gauge,
    plan: &'a Plan,
    key: &'a Key,
    begun: Instant,
    history: History,
    /// Nests that were made for the model, and the seconds it expects.
    made: HashMap<Digits, Option<(Vec<Nest>, f64)>>,
    tuned: Tuned,
    /// The number of trials at the last improvement.
    improved: usize,
}

impl Run<'_, '_> {
    fn is_over(&self, control: &Control) -> bool {
        let budget = &self.plan.budget;
        let trials = self.tuned.trials.len();
        let is_late = budget.time.is_some_and(|time| self.begun.elapsed() >= time);
        let is_tired = budget
            .patience
            .is_some_and(|most| trials - self.improved >= most);
        trials >= budget.trials || is_late || is_tired || control.interrupted()
    }

    fn best(&self) -> Option<(&Trial, f64)> {
        let timed = self
            .tuned
            .trials
            .iter()
            .filter_map(|t| Some((t, t.seconds()?)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The points of a batch that have nests, `most` of them.
    fn candidates(
        &mut self,
        batch: Vec<Digits>,
        maker: &mut dyn Maker,
        most: usize,
    ) -> Result<Vec<Candidate>, Halt> {
        let mut candidates: Vec<Candidate> = Vec::new();
        for digits in batch {
            if candidates.len() == most {
                break;
            }
            let Some((digits, point)) = self.space.point(&digits)? else {
                continue;
            };
            let known = self.made.remove(&digits).flatten();
            let (nests, expected) = match known {
                Some((nests, expected)) => (nests, Some(expected)),
                None => match maker.make(&point)? {
                    Made::Nests(nests) => {
                        let expected = maker.predict(&nests);
                        (nests, expected)
                    }
                    Made::Refused(why) => {
                        *self.tuned.refused.entry(why).or_default() += 1;
                        self.history.add(digits, None);
                        continue;
                    }
                },
            };
            candidates.push(Candidate {
                digits,
                point,
                nests,
                expected,
            });
        }
        Ok(candidates)
    }

    /// Compiles candidates on all cores, then screens one after the other; or screens one while
    /// others compile, where cores are free.
    fn try_all(
        &mut self,
        candidates: Vec<Candidate>,
        journal: &mut Journal,
        control: &Control,
        audience: &mut dyn Audience,
    ) -> Result<(), Ended> {
        let first = self.tuned.trials.len() + 1;
        let gauge = self.gauge;
        let variants: Vec<Option<Variant>> = candidates
            .iter()
            .enumerate()
            .map(|(k, candidate)| {
                let known = journal.get(self.key, &candidate.point.by_name()).is_some();
                let label = format!("trial_{}", first + k);
                let nests = candidate.nests.clone();
                (!known).then_some(Variant { label, nests })
            })
            .collect();
        let slots: Vec<Mutex<Option<Result<Prepared, TrialError>>>> =
            variants.iter().map(|_| Mutex::new(None)).collect();
        let prepare_all = || {
            let each = variants.par_iter().zip(&slots);
            each.for_each(|(variant, slot)| {
                let prepared = variant.as_ref().map(|variant| gauge.prepare(variant));
                *slot
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner) = prepared;
            });
        };
        let free = rayon::ThreadPoolBuilder::new().num_threads(gauge.free_cores());
        let free = free.build().ok().filter(|_| gauge.free_cores() > 0);
        std::thread::scope(|scope| {
            let background = match free {
                Some(free) => Some(scope.spawn(move || free.install(prepare_all))),
                None => {
                    let waiting = Instant::now();
                    prepare_all();
                    self.tuned.compiling += waiting.elapsed();
                    None
                }
            };
            for (k, candidate) in candidates.into_iter().enumerate() {
                let take = || {
                    let mut slot = slots[k]
                        .lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner);
                    slot.take()
                };
                let mut prepared = take();
                if variants[k].is_some() && prepared.is_none() {
                    let waiting = Instant::now();
                    while prepared.is_none()
                        && background.as_ref().is_some_and(|b| !b.is_finished())
                    {
                        std::thread::sleep(Duration::from_millis(1));
                        prepared = take();
                    }
                    prepared = prepared.or_else(take);
                    self.tuned.compiling += waiting.elapsed();
                }
                self.try_one(candidate, prepared, journal)?;
                if control.interrupted() {
                    break;
                }
                audience.tried(&self.standing());
            }
            Ok(())
        })
    }

    fn standing(&self) -> Standing<'_> {
        let elapsed = self.begun.elapsed();
        Standing {
            done: self.tuned.trials.len(),
            total: self.plan.budget.trials,
            best: self.best().map(|(trial, seconds)| (&trial.point, seconds)),
            elapsed,
            left: self
                .plan
                .budget
                .time
                .map(|time| time.saturating_sub(elapsed)),
        }
    }

    /// Screens a candidate, or takes what is recorded of it.
    fn try_one(
        &mut self,
        candidate: Candidate,
        prepared: Option<Result<Prepared, TrialError>>,
        journal: &mut Journal,
    ) -> Result<(), Ended> {
        let Candidate {
            digits,
            point,
            nests,
            expected,
        } = candidate;
        let outcome = match prepared {
            None => {
                self.tuned.known += 1;
                let record = journal.get(self.key, &point.by_name());
                record.map_or(Err((String::new(), String::new())), recorded)
            }
            Some(prepared) => {
                let best = self
                    .best()
                    .map(|(_, seconds)| Duration::from_secs_f64(seconds));
                let tried = prepared.and_then(|prepared| self.gauge.screen(&prepared, best));
                match tried {
                    Ok(screened) => Ok(screened),
                    Err(error) => match error.defect() {
                        Some(defect) => Err((defect.word().to_owned(), error.to_string())),
                        None => return Err(Ended::Trial(error)),
                    },
                }
            }
        };
        let is_new = journal.get(self.key, &point.by_name()).is_none();
        let best = self.best().map(|(_, seconds)| seconds);
        let trial = Trial {
            point,
            nests,
            outcome,
            expected,
            at: self.begun.elapsed().as_secs_f64(),
        };
        self.history.add(digits, trial.seconds());
        let improves = trial
            .seconds()
            .is_some_and(|s| best.is_none_or(|best| s < best));
        self.tuned.trials.push(trial);
        let number = self.tuned.trials.len();
        if improves {
            self.improved = number;
        }
        if is_new {
            let record = self.record(number - 1, Kind::Trial, None);
            journal.add(&record);
        }
        Ok(())
    }

    fn record(&self, number: usize, kind: Kind, runs: Option<Vec<f64>>) -> Record {
        let trial = &self.tuned.trials[number];
        let (outcome, why, screened) = match &trial.outcome {
            Ok(screened) => ("ok".to_owned(), None, Some(screened)),
            Err((word, why)) => (word.clone(), Some(why.clone()), None),
        };
        let seconds = |s: &Screened| s.runs.iter().map(Duration::as_secs_f64).collect();
        let nests = trial.nests.iter().map(trace::to_json);
        let nests = match screened {
            Some(_) => nests.collect::<Result<Vec<_>, _>>().unwrap_or_default(),
            None => Vec::new(),
        };
        Record {
            teml: env!("CARGO_PKG_VERSION").to_owned(),
            kind,
            key: self.key.clone(),
            search: self.plan.strategy.name().to_owned(),
            seed: self.plan.seed,
            number: number + 1,
            parameters: trial.point.by_name(),
            outcome,
            why,
            runs: runs.or_else(|| screened.map(seconds)).unwrap_or_default(),
            error: screened.map_or(0.0, |s| s.error),
            nests,
            ties: Vec::new(),
        }
    }

    /// Holds the finals among the fastest trials, and records the winner: of those that tie, the
    /// one with the shortest path.
    fn decide(&mut self, journal: &mut Journal, control: &Control) -> Result<(), Ended> {
        let trials = &self.tuned.trials;
        let timed = trials.iter().enumerate();
        let mut timed: Vec<(usize, f64)> =
            timed.filter_map(|(k, t)| Some((k, t.seconds()?))).collect();
        timed.sort_by(|a, b| a.1.total_cmp(&b.1));
        let Some((_, best)) = timed.first().copied() else {
            let last = trials.iter().rev().find_map(|t| t.outcome.as_ref().err());
            return Err(match last {
                Some((_, why)) => Ended::Failed(why.clone()),
                None => Ended::Refused(self.tuned.refused.clone()),
            });
        };
        let close = timed.iter().take_while(|(_, s)| *s <= CLOSE * best).count();
        timed.truncate(close.clamp(FEWEST, MOST));
        if control.interrupted() {
            // What is known has to do.
            timed.truncate(1);
            self.tuned.interrupted = true;
        }
        let mut decided = match &timed[..] {
            [only] => Decided {
                finalists: vec![super::finals::Finalist {
                    number: 0,
                    runs: vec![only.1],
                }],
                tied: 1,
            },
            _ => {
                let variant = |(k, _): &(usize, f64)| Variant {
                    label: format!("trial_{}", k + 1),
                    nests: trials[*k].nests.clone(),
                };
                let prepared = timed.iter().map(|t| self.gauge.prepare(&variant(t)));
                let prepared: Vec<Prepared> = prepared.collect::<Result<_, _>>()?;
                finals(self.gauge, &prepared)?
            }
        };
        for finalist in &mut decided.finalists {
            finalist.number = timed[finalist.number].0;
        }
        let steps = |number: usize| -> usize {
            trials[number]
                .nests
                .iter()
                .map(|nest| nest.path().len())
                .sum()
        };
        let tied = &mut decided.finalists[..decided.tied];
        tied.sort_by_key(|finalist| (steps(finalist.number), finalist.number));
        if let Some(winner) = decided.finalists.first() {
            let mut record = self.record(winner.number, Kind::Winner, Some(winner.runs.clone()));
            let ties = decided.finalists[..decided.tied].iter().skip(1);
            record.ties = ties.map(|f| trials[f.number].point.by_name()).collect();
            journal.add(&record);
        }
        self.tuned.decided = decided;
        Ok(())
    }
}

/// What a record says of a point.
fn recorded(record: &Record) -> Result<Screened, (String, String)> {
    match record.outcome.as_str() {
        "ok" => Ok(Screened {
            runs: record
                .runs
                .iter()
                .map(|s| Duration::from_secs_f64(s.max(0.0)))
                .collect(),
            error: record.error,
        }),
        word => Err((word.to_owned(), record.why.clone().unwrap_or_default())),
    }
}
