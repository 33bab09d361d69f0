//! A worker: takes tasks from a shared directory until it is told to exit.

use super::exchange::Exchange;
use super::heartbeat::{Heartbeat, Liveness};
use super::job::Job;
use super::task::{Answer, Task, Written, durations, nanoseconds};
use crate::machine::Machine;
use crate::runtime::{Control, Timing};
use crate::trial::{Evaluator, Prepared, Runner, Screened, TrialError};
use crate::tune::record::Key;
use std::path::Path;
use std::time::Duration;

/// The name of the searching side.
pub(super) const SEARCH: &str = "search";

/// The file with the key of the machine on which the times are valid.
pub(super) const KEY: &str = "key";

/// How often a worker polls for tasks.
const GLANCE: Duration = Duration::from_millis(20);

/// A worker waits this many times longer than the search before it gives up, since it cannot come
/// back.
const LONGER: u32 = 6;

/// Tries the tasks of a shared directory, with the evaluator of `runner`.
///
/// # Errors
/// The reason why this worker exits early. Its task goes to another worker.
pub fn work(directory: &Path, runner: &dyn Runner, control: &Control) -> Result<(), String> {
    let who = name();
    let exchange = Exchange::open(directory, &who);
    let job = Job::get(&exchange)?;
    let _heartbeat = Heartbeat::start(&exchange, job.patience);
    let comparison = job.comparison(&exchange)?;
    let control = job.control(control);
    let text = |error: TrialError| format!("{who}: {error}");
    let evaluator = runner
        .evaluator(&comparison, &control, &|_| {})
        .map_err(text)?;
    let evaluator = evaluator.ok_or("nothing is timed here")?;
    let machine = Machine::known(&control);
    let reference = comparison.variants.first().map_or(&[][..], |v| &v.nests);
    let settings = &comparison.settings;
    let compiler = runner.compiler(settings, &control).map_err(text)?;
    let (threads, reductions) = (control.threads, settings.reductions);
    let key = Key::new(&machine, threads, compiler, reductions, reference);
    exchange.be_ready(&key).map_err(|error| error.to_string())?;
    let mut search = Liveness::new(LONGER * job.patience);
    let mut is_accepted = false;
    while !exchange.has_ended() {
        if control.interrupted() {
            return Err(format!("{who}: interrupted"));
        }
        if !search.lives(&exchange, SEARCH) {
            return Err(format!("{who}: the search is gone"));
        }
        if !is_accepted {
            match exchange.get::<Key>(KEY) {
                Some(wanted) if wanted == key => is_accepted = true,
                Some(wanted) => {
                    return Err(format!(
                        "{who} left: the times of another machine or compiler cannot be compared: \
                         {} is not {}",
                        place(&key),
                        place(&wanted)
                    ));
                }
                None => {}
            }
        }
        let taken = is_accepted.then(|| exchange.take::<Task>()).flatten();
        let Some((number, task)) = taken else {
            std::thread::sleep(GLANCE);
            continue;
        };
        let given_up = |why: String| {
            exchange.give_back(number, &who);
            format!("{who} left: {why}")
        };
        let answer = tried(&task, &*evaluator).map_err(given_up)?;
        let written = exchange.answer(number, &answer);
        written.map_err(|error| given_up(error.to_string()))?;
    }
    Ok(())
}

/// A unique name for the worker.
fn name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host: String = host
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .collect();
    format!("{host}-{}", std::process::id())
}

/// The parts of a key that concern the machine, as text.
fn place(key: &Key) -> String {
    format!(
        "{}, {} threads, {} {}",
        key.cpu, key.threads, key.compiler, key.flags
    )
}

/// Executes a task.
///
/// # Errors
/// An error of this worker rather than of a variant.
fn tried(task: &Task, evaluator: &dyn Evaluator) -> Result<Answer, String> {
    let done = match task {
        Task::Screen(written, best) => screened(written, *best, evaluator).map(|screened| {
            let runs = screened.runs.iter().map(nanoseconds);
            let at_best = nanoseconds(&screened.at_best);
            Answer::Screened(runs.collect(), at_best, screened.error.to_bits())
        }),
        Task::Finals(written) => timed(written, evaluator).map(|timings| {
            let runs = |t: &Timing| t.runs.iter().map(nanoseconds).collect();
            let times = timings.iter().map(|t| (runs(t), nanoseconds(&t.at_best)));
            Answer::Finals(times.collect())
        }),
    };
    match done {
        Ok(answer) => Ok(answer),
        Err(error) => match error.defect() {
            Some(defect) => Ok(Answer::Defect(defect.word().to_owned(), error.to_string())),
            None => Err(error.to_string()),
        },
    }
}

fn prepared(written: &Written, evaluator: &dyn Evaluator) -> Result<Prepared, TrialError> {
    let variant = written.variant();
    let variant = variant.map_err(|error| TrialError::Elsewhere {
        defect: None,
        why: format!("a path does not replay: {error}"),
    })?;
    evaluator.prepare(&variant)
}

fn screened(
    written: &Written,
    best: Option<u64>,
    evaluator: &dyn Evaluator,
) -> Result<Screened, TrialError> {
    let best = best.map(Duration::from_nanos);
    evaluator.screen(&prepared(written, evaluator)?, best)
}

fn timed(written: &[Written], evaluator: &dyn Evaluator) -> Result<Vec<Timing>, TrialError> {
    let prepared = written.iter().map(|written| prepared(written, evaluator));
    evaluator.finals(&prepared.collect::<Result<Vec<_>, _>>()?)
}

/// The result of a screening from its serialized form.
pub(super) fn screened_of(runs: &[u64], at_best: u64, error: u64) -> Screened {
    Screened {
        runs: durations(runs),
        at_best: Duration::from_nanos(at_best),
        error: f64::from_bits(error),
    }
}
