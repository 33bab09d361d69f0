//! Tuning: a search proposes points, points become nests, and an evaluator times them.

use super::decide::decide;
use super::entry::{entry, recorded};
use super::finals::Decided;
use super::maker::{Made, Maker, PROPOSALS};
use super::outcome::{Ended, Trial, Tuned};
use super::plan::{Plan, batch};
use super::record::{Journal, Key, Kind, Record, variant};
use super::search::{History, Outlook};
use super::space::{ConfigIndex, Halt, Space};
use super::standing::{Observer, Standing};
use super::tolerances::PROPOSING_SHARE;
use super::value::Point;
use crate::ir::Nest;
use crate::runtime::Control;
use crate::trial::{Evaluator, Prepared, TrialError, Variant};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Searches a space for the fastest nests.
///
/// # Errors
/// [`Ended`]; recorded trials remain.
pub fn tune(
    space: &Space<'_>,
    maker: &mut dyn Maker,
    evaluator: &dyn Evaluator,
    plan: &Plan,
    (journal, key): (&mut Journal, &Key),
    control: &Control,
    observer: &mut dyn Observer,
) -> Result<Tuned, Ended> {
    let mut run = Run {
        space,
        evaluator,
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
                left_out: Vec::new(),
            },
            elapsed: Duration::ZERO,
            compiling: Duration::ZERO,
            known: 0,
            same: 0,
            recorded: None,
            work: Some(evaluator.work()),
            interrupted: false,
        },
        variants: HashMap::new(),
        improved: 0,
    };
    match run.search(maker, journal, control, observer) {
        // An interrupted search returns its best result so far.
        Err(_) if control.interrupted() && run.best().is_some() => {}
        searched => searched?,
    }
    observer.tried(&run.standing("timing the finalists"));
    run.tuned.elapsed = run.begun.elapsed();
    run.tuned.interrupted |= control.interrupted();
    let end = plan.budget.ends(run.begun).map(|[_, end]| end);
    run.tuned.decided = decide(&run.tuned, evaluator, control, end)?;
    run.tuned.recorded = run.winner();
    if let Some(record) = &run.tuned.recorded {
        journal.add(record);
    }
    Ok(run.tuned)
}

struct Candidate {
    digits: ConfigIndex,
    point: Point,
    nests: Vec<Nest>,
    expected: Option<f64>,
}

struct Run<'a, 's> {
    space: &'a Space<'s>,
    evaluator: &'a dyn Evaluator,
    plan: &'a Plan,
    key: &'a Key,
    begun: Instant,
    history: History,
    /// Nests that were made for the model, with the predicted seconds.
    made: HashMap<ConfigIndex, Option<(Vec<Nest>, f64)>>,
    tuned: Tuned,
    /// Trial numbers by the hash of their nests.
    variants: HashMap<String, usize>,
    /// The number of trials at the last improvement.
    improved: usize,
}

impl Run<'_, '_> {
    fn search(
        &mut self,
        maker: &mut dyn Maker,
        journal: &mut Journal,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<(), Ended> {
        let plan = self.plan;
        // The first point of a space is its default, and always tried.
        let first = self.candidates(vec![self.space.first()], maker, 1)?;
        self.try_all(first, journal, control, observer)?;
        let mut search = plan.strategy.search(plan.seed);
        let mut proposals = 0;
        let size = batch(plan.strategy);
        while !self.is_over(control) {
            observer.tried(&self.standing("choosing variants"));
            let left = plan.budget.trials - self.tuned.trials.len();
            // Points that take long to make must leave time to try them.
            let until = plan.budget.ends(self.begun).map(|[end, _]| {
                let now = Instant::now();
                now + end.saturating_duration_since(now).mul_f64(PROPOSING_SHARE)
            });
            let hurry = || until.is_some_and(|until| Instant::now() >= until);
            let stop = || hurry() || control.interrupted();
            let batch = {
                let made = &mut self.made;
                let mut predict = |digits: &ConfigIndex, point: &Point| {
                    let known = match made.get(digits) {
                        Some(known) => known,
                        None if stop() => return Ok(None),
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
                    space: self.space,
                    history: &self.history,
                    predict: &mut predict,
                    hurry: &stop,
                };
                search.propose(&mut outlook, size.max(self.evaluator.width()))?
            };
            if batch.is_empty() && !hurry() || proposals > PROPOSALS * plan.budget.trials {
                break;
            }
            proposals += batch.len();
            let candidates = self.candidates(batch, maker, left)?;
            self.try_all(candidates, journal, control, observer)?;
            self.tuned.interrupted = control.interrupted();
        }
        Ok(())
    }

    fn is_over(&self, control: &Control) -> bool {
        let budget = &self.plan.budget;
        let trials = self.tuned.trials.len();
        let is_tired = budget
            .patience
            .is_some_and(|most| trials - self.improved >= most);
        trials >= budget.trials || self.is_late() || is_tired || control.interrupted()
    }

    fn is_late(&self) -> bool {
        let ends = self.plan.budget.ends(self.begun);
        ends.is_some_and(|[end, _]| Instant::now() >= end)
    }

    fn best(&self) -> Option<(&Trial, f64)> {
        let timed = self
            .tuned
            .trials
            .iter()
            .filter_map(|t| Some((t, t.seconds()?)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The points of a batch that have nests, at most `most`.
    fn candidates(
        &mut self,
        batch: Vec<ConfigIndex>,
        maker: &mut dyn Maker,
        most: usize,
    ) -> Result<Vec<Candidate>, Halt> {
        let mut candidates: Vec<Candidate> = Vec::new();
        for digits in batch {
            // At least one candidate, since the first point is always tried.
            if candidates.len() == most || !candidates.is_empty() && self.is_late() {
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
            // Points with the same nests are one variant.
            let hash = variant(&nests);
            let new = self.tuned.trials.len() + candidates.len();
            match self.variants.get(&hash) {
                None => self.variants.insert(hash, new),
                Some(same) => {
                    self.tuned.same += 1;
                    let seconds = self.tuned.trials.get(*same).and_then(Trial::seconds);
                    self.history.add(digits, seconds);
                    continue;
                }
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

    /// Tries candidates. If time is limited, it tries as many at a time as there are cores, so that
    /// few variants are compiled in vain.
    fn try_all(
        &mut self,
        mut candidates: Vec<Candidate>,
        journal: &mut Journal,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<(), Ended> {
        let size = match self.plan.budget.time {
            Some(_) => rayon::current_num_threads().max(self.evaluator.width()),
            None => candidates.len(),
        };
        while !candidates.is_empty() {
            let rest = candidates.split_off(candidates.len().min(size));
            self.try_some(candidates, journal, control, observer)?;
            candidates = rest;
            if self.is_over(control) {
                break;
            }
        }
        Ok(())
    }

    /// Compiles candidates on all cores, then screens them one after the other. If kernels leave
    /// cores free, compilers run beside the screening.
    fn try_some(
        &mut self,
        candidates: Vec<Candidate>,
        journal: &mut Journal,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<(), Ended> {
        let first = self.tuned.trials.len() + 1;
        let evaluator = self.evaluator;
        let variants: Vec<Option<Variant>> = candidates
            .iter()
            .enumerate()
            .map(|(k, candidate)| {
                let by_name = candidate.point.by_name();
                let known = journal.get(self.key, &by_name, &candidate.nests).is_some();
                let label = format!("trial_{}", first + k);
                let nests = candidate.nests.clone();
                (!known).then_some(Variant { label, nests })
            })
            .collect();
        let numbered = variants.iter().enumerate();
        let (numbers, new): (Vec<usize>, Vec<&Variant>) =
            numbered.filter_map(|(k, v)| Some((k, v.as_ref()?))).unzip();
        evaluator.announce(&new, self.best().map(|(_, s)| Duration::from_secs_f64(s)))?;
        observer.tried(&self.standing(&match new.len() {
            1 => "compiling 1 variant".to_owned(),
            count => format!("compiling {count} variants"),
        }));
        let slots: Vec<Mutex<Option<Result<Prepared, TrialError>>>> =
            variants.iter().map(|_| Mutex::new(None)).collect();
        let slot = |k: usize| slots[k].lock().unwrap_or_else(PoisonError::into_inner);
        let prepare_all =
            || evaluator.prepare_all(&new, &|n, prepared| *slot(numbers[n]) = Some(prepared));
        let free = rayon::ThreadPoolBuilder::new().num_threads(evaluator.free_cores());
        let free = free.build().ok().filter(|_| evaluator.free_cores() > 0);
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
                let take = || slot(k).take();
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
                observer.tried(&self.standing("measuring"));
                if self.is_over(control) {
                    break;
                }
            }
            Ok(())
        })
    }

    fn standing<'a>(&'a self, doing: &'a str) -> Standing<'a> {
        let elapsed = self.begun.elapsed();
        let ends = self.plan.budget.ends(self.begun);
        Standing {
            doing,
            done: self.tuned.trials.len(),
            total: self.plan.budget.trials,
            best: self.best().map(|(trial, seconds)| (&trial.point, seconds)),
            elapsed,
            left: ends.map(|[_, end]| end.saturating_duration_since(Instant::now())),
        }
    }

    /// Screens a candidate, or takes its record.
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
                let record = journal.get(self.key, &point.by_name(), &nests);
                record.map_or(Err((String::new(), String::new())), recorded)
            }
            Some(prepared) => {
                let best = self
                    .best()
                    .map(|(_, seconds)| Duration::from_secs_f64(seconds));
                let tried = prepared.and_then(|prepared| self.evaluator.screen(&prepared, best));
                match tried {
                    Ok(screened) => Ok(screened),
                    Err(error) => match error.defect() {
                        Some(defect) => Err((defect.word().to_owned(), error.to_string())),
                        None => return Err(Ended::Trial(error)),
                    },
                }
            }
        };
        let is_new = journal.get(self.key, &point.by_name(), &nests).is_none();
        let best = self.best().map(|(_, seconds)| seconds);
        let trial = Trial {
            point,
            digits: digits.clone(),
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
            let trial = &self.tuned.trials[number - 1];
            journal.add(&entry(trial, number - 1, Kind::Trial, self.plan, self.key));
        }
        Ok(())
    }

    /// The record of the winner.
    fn winner(&self) -> Option<Record> {
        let (trials, decided) = (&self.tuned.trials, &self.tuned.decided);
        let winner = decided.finalists.first()?;
        let (trial, number) = (&trials[winner.number], winner.number);
        let mut record = entry(trial, number, Kind::Winner, self.plan, self.key);
        record.runs.clone_from(&winner.runs);
        let ties = decided.ties();
        record.ties = ties.map(|k| trials[k].point.by_name()).collect();
        Some(record)
    }
}
