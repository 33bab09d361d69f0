//! The workers as an evaluator, which try announced variants at the same time.

use super::engine::{Launch, Started};
use super::exchange::Exchange;
use super::heartbeat::{Heartbeat, Liveness};
use super::job::Job;
use super::task::{Answer, Task, Written, durations, nanoseconds};
use super::worker::{KEY, SEARCH, screened_of};
use crate::runtime::{Control, RuntimeError, Timing};
use crate::trial::{
    Comparison, Defect, Evaluator, Prepared, Progress, Screened, TrialError, Variant, Work,
};
use crate::tune::record::Key;
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How often the pool polls for answers.
const GLANCE: Duration = Duration::from_millis(10);

/// A task is not reassigned after this many workers were lost with it.
const LOSSES: usize = 3;

/// How often workers are started again after all ended: with MPICH, a killed worker can take the
/// others with it.
const STARTS: usize = 3;

/// Workers that try variants of a computation.
pub struct WorkerPool<'a> {
    exchange: Exchange,
    state: Mutex<State>,
    key: Key,
    work: Work,
    launch: Launch,
    control: &'a Control,
    _heartbeat: Heartbeat,
    _directory: TempDir,
}

struct State {
    started: Started,
    starts: usize,
    liveness: Liveness,
    /// Task numbers by the labels of variants.
    numbers: HashMap<String, usize>,
    next: usize,
    /// How often each task was lost.
    losses: HashMap<usize, usize>,
    lost: BTreeSet<String>,
    looked: Instant,
    patience: Duration,
}

impl<'a> WorkerPool<'a> {
    /// Starts workers for a comparison and waits until the first one is ready. Its machine is the
    /// one of the records; workers on different machines exit.
    ///
    /// # Errors
    /// There is no shared directory, the engine cannot start workers, or no worker gets ready.
    pub fn open(
        comparison: &Comparison,
        launch: &Launch,
        control: &'a Control,
        progress: &'a (dyn Fn(Progress) + Sync),
    ) -> Result<WorkerPool<'a>, TrialError> {
        let refused = |error: io::Error| RuntimeError::NotLaunched {
            program: launch.engine.program().to_owned(),
            reason: format!("no directory is shared with workers: {error}"),
        };
        let place = std::path::absolute(&launch.place).map_err(refused)?;
        let directory = tempfile::Builder::new()
            .prefix(".teml-tune-")
            .tempdir_in(place);
        let directory = directory.map_err(refused)?;
        let exchange = Exchange::create(directory.path(), SEARCH).map_err(refused)?;
        Job::put(comparison, control, launch.patience, &exchange).map_err(refused)?;
        let heartbeat = Heartbeat::start(&exchange, launch.patience);
        let mut started = Started::start(launch, directory.path(), control)?;
        let waiting = format!("waiting for workers of {}", launch.engine.program());
        progress(Progress {
            what: waiting.clone(),
            done: 0,
            total: 1,
        });
        let key = loop {
            let mut ready = exchange.ready::<Key>().into_iter();
            if let Some((_, key)) = ready.next() {
                break key;
            }
            if control.interrupted() {
                return Err(RuntimeError::Interrupted { during: waiting }.into());
            }
            if started.is_over(control) && exchange.ready::<Key>().is_empty() {
                return Err(ended(launch.engine.program(), &started));
            }
            std::thread::sleep(GLANCE);
        };
        exchange.put(KEY, &key).map_err(refused)?;
        Ok(WorkerPool {
            state: Mutex::new(State {
                started,
                starts: 1,
                liveness: Liveness::new(launch.patience),
                numbers: HashMap::new(),
                next: 0,
                losses: HashMap::new(),
                lost: BTreeSet::new(),
                looked: Instant::now(),
                patience: launch.patience,
            }),
            exchange,
            key,
            work: comparison.work()?,
            launch: launch.clone(),
            control,
            _heartbeat: heartbeat,
            _directory: directory,
        })
    }

    /// The machine and settings that times depend on.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Number of workers that were lost with a task.
    pub fn lost(&self) -> usize {
        self.state().lost.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, state: &mut State, task: &Task) -> Result<usize, TrialError> {
        let number = state.next;
        state.next += 1;
        let added = self.exchange.add_task(number, task);
        added.map_err(|error| RuntimeError::NoStorage {
            tried: vec![format!("{}: {error}", self.exchange.root().display())],
        })?;
        Ok(number)
    }

    /// The number of the task that screens a variant; adds the task if there is none.
    fn number(&self, variant: &Variant, best: Option<Duration>) -> Result<usize, TrialError> {
        let mut state = self.state();
        if let Some(number) = state.numbers.get(&variant.label) {
            return Ok(*number);
        }
        let task = Task::Screen(written(variant)?, best.as_ref().map(nanoseconds));
        let number = self.add(&mut state, &task)?;
        state.numbers.insert(variant.label.clone(), number);
        Ok(number)
    }

    /// Waits for the answer to a task.
    fn wait(&self, number: usize) -> Result<Answer, TrialError> {
        loop {
            if let Some(answer) = self.exchange.answered(number) {
                self.exchange.drop_task(number);
                return Ok(answer);
            }
            if self.control.interrupted() {
                let during = "workers try variants".to_owned();
                return Err(RuntimeError::Interrupted { during }.into());
            }
            self.rescue()?;
            if self.state().losses.get(&number) >= Some(&LOSSES) {
                let why = format!("{LOSSES} workers were lost while they tried it");
                let defect = Some(Defect::Crashed);
                return Err(TrialError::Elsewhere { defect, why });
            }
            std::thread::sleep(GLANCE);
        }
    }

    /// Reopens the tasks of lost workers.
    fn rescue(&self) -> Result<(), TrialError> {
        let mut state = self.state();
        if state.looked.elapsed() < state.patience / 20 {
            return Ok(());
        }
        state.looked = Instant::now();
        let is_over = state.started.is_over(self.control);
        for (number, who) in self.exchange.all_taken() {
            let is_lost = is_over || !state.liveness.lives(&self.exchange, &who);
            if is_lost && self.exchange.give_back(number, &who) {
                *state.losses.entry(number).or_default() += 1;
                state.lost.insert(who);
            }
        }
        if is_over {
            if state.starts == STARTS {
                return Err(ended(self.launch.engine.program(), &state.started));
            }
            state.starts += 1;
            state.started = Started::start(&self.launch, self.exchange.root(), self.control)?;
        }
        Ok(())
    }
}

impl Drop for WorkerPool<'_> {
    fn drop(&mut self) {
        // Workers that do not see it miss the heartbeat.
        let _ = self.exchange.end();
        self.state().started.wait();
    }
}

impl Evaluator for WorkerPool<'_> {
    fn announce(&self, variants: &[&Variant], best: Option<Duration>) -> Result<(), TrialError> {
        variants
            .iter()
            .try_for_each(|variant| self.number(variant, best).map(|_| ()))
    }

    /// The workers compile, so there is nothing to prepare here.
    fn prepare(&self, variant: &Variant) -> Result<Prepared, TrialError> {
        Ok(Prepared::from(variant.clone()))
    }

    fn screen(&self, prepared: &Prepared, best: Option<Duration>) -> Result<Screened, TrialError> {
        match self.wait(self.number(&prepared.variant, best)?)? {
            Answer::Screened(runs, at_best, error) => Ok(screened_of(&runs, at_best, error)),
            other => Err(unexpected(other)),
        }
    }

    fn finals(&self, prepared: &[Prepared]) -> Result<Vec<Timing>, TrialError> {
        let variants = prepared.iter().map(|p| written(&p.variant));
        let task = Task::Finals(variants.collect::<Result<_, _>>()?);
        let number = self.add(&mut self.state(), &task)?;
        let all = match self.wait(number)? {
            Answer::Finals(all) if all.len() == prepared.len() => all,
            other => return Err(unexpected(other)),
        };
        let timing = |(p, (runs, at_best)): (&Prepared, (Vec<u64>, u64))| Timing {
            at_best: Duration::from_nanos(at_best),
            ..Timing::new(&p.variant.label, durations(&runs))
        };
        Ok(prepared.iter().zip(all).map(timing).collect())
    }

    fn work(&self) -> Work {
        self.work.clone()
    }

    fn width(&self) -> usize {
        self.launch.workers
    }
}

fn written(variant: &Variant) -> Result<Written, TrialError> {
    Written::new(variant).map_err(|error| TrialError::Elsewhere {
        defect: None,
        why: format!("`{}` cannot be handed to workers: {error}", variant.label),
    })
}

/// Converts a defect that a worker found in a variant to an error.
fn unexpected(answer: Answer) -> TrialError {
    match answer {
        Answer::Defect(word, why) => TrialError::Elsewhere {
            defect: Defect::from_word(&word),
            why,
        },
        Answer::Screened(..) | Answer::Finals(_) => TrialError::Elsewhere {
            defect: None,
            why: "a worker answered something else than was asked".to_owned(),
        },
    }
}

fn ended(program: &str, started: &Started) -> TrialError {
    let log = started.log();
    let reason = if log.is_empty() {
        "all workers ended".to_owned()
    } else {
        format!("all workers ended:\n{log}")
    };
    let program = program.to_owned();
    RuntimeError::NotLaunched { program, reason }.into()
}
