//! The action of `tune`: a search, or the job of the session's runner.

use super::closure::Closure;
use super::options::Options;
use super::records::{replayed, taken};
use super::result::{report, result};
use crate::actions::recorded::as_given;
use crate::actions::space::halt;
use crate::binding::call::Call;
use crate::ir::Nest;
use crate::machine::Machine;
use crate::runtime::Control;
use crate::trial::{Comparison, Evaluator, Progress, RunContext, Runner, Variant};
use crate::tune::{
    self, Ended, Journal, Key, Observer, Point, Space, Standing, Trial, Tuned, Value, WorkerPool,
};
use crate::verbs::{examine, named};
use rhai::Dynamic;

/// Searches, or does what the session is for.
pub(super) fn search(
    call: &Call,
    space: &Space<'_>,
    maker: &mut Closure<'_>,
    options: &Options,
) -> Result<Dynamic, Ended> {
    let (point, reference) = first(space, maker)?;
    let control = call.workbench().control.clone();
    let machine = Machine::known(&control);
    let taken = taken(call, &reference, options).map_err(|f| halt(maker.failed, f))?;
    if let Some((record, nests)) = taken {
        return replayed(call, &record, nests);
    }
    let variants = vec![Variant {
        label: "reference".to_owned(),
        nests: reference.clone(),
    }];
    examine(call.bench(), &variants).map_err(|r| halt(maker.failed, call.refused(r)))?;
    let comparison = call.workbench().comparison(variants);
    let mut control = control.clone();
    control.compiles_beside = free_cores(&machine, control.threads) > 0;
    let tuned = call.bench().act(&mut |_| Vec::new(), |runner, context| {
        let progress = context.progress;
        if let (Some(launch), true) = (&options.launch, runner.runs()) {
            let pool = WorkerPool::open(&comparison, launch, &control, progress)?;
            let measured = (&pool as &dyn Evaluator, pool.key());
            let tuned = searched(space, maker, options, measured, context, &control);
            if pool.lost() > 0 {
                let lost = pool.lost();
                (context.say)(&format!("workers lost: {lost}; others tried what they had"));
            }
            return tuned.map(Some);
        }
        match runner.evaluator(&comparison, &control, progress)? {
            Some(evaluator) => {
                let compiler = runner.compiler(&comparison.settings, &control)?;
                let (threads, reductions) = (control.threads, comparison.settings.reductions);
                let key = Key::new(&machine, threads, compiler, reductions, &reference);
                searched(
                    space,
                    maker,
                    options,
                    (&*evaluator, &key),
                    context,
                    &control,
                )
                .map(Some)
            }
            None => sample(space, maker, runner, &comparison, context).map(|()| None),
        }
    });
    match tuned? {
        Some(tuned) => {
            keep(call, &tuned);
            report(call, &tuned, options, space)
        }
        None => Ok(result(&point, as_given(named(reference)), None)),
    }
}

/// Whether the search also timed the schedule of `schedules::optimize`, as `autotune` does.
fn beats_optimize(tuned: &Tuned) -> bool {
    let optimize = Value::Text("optimize".to_owned());
    let first = tuned.trials.first();
    let first = first.filter(|trial| trial.point.get("kind") == Some(&optimize));
    first.and_then(Trial::seconds).is_some()
}

/// Adds the winner to those of the user, if the session keeps them.
fn keep(call: &Call, tuned: &Tuned) {
    let path = {
        let bench = call.workbench();
        let keeps = bench.tuning.keeps && beats_optimize(tuned);
        bench.winners.clone().filter(|_| keeps)
    };
    let (Some(path), Some(record)) = (path, &tuned.recorded) else {
        return;
    };
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let why = match made.and_then(|()| Journal::open(&path, false)) {
        Ok(mut journal) => {
            journal.add(record);
            journal.broken()
        }
        Err(error) => Some(format!("cannot write records: {}: {error}", path.display())),
    };
    if let Some(why) = why {
        call.workbench().print(&format!("warning: {why}"));
    }
}

/// Searches with an evaluator and records the trials under the key of its times.
fn searched(
    space: &Space<'_>,
    maker: &mut Closure<'_>,
    options: &Options,
    (evaluator, key): (&dyn Evaluator, &Key),
    context: &mut RunContext<'_>,
    control: &Control,
) -> Result<Tuned, Ended> {
    let mut journal = match &options.records {
        Some(path) => Journal::open(path, options.resume).map_err(|error| {
            let what = format!("cannot open the records {}: {error}", path.display());
            halt(maker.failed, maker.call.refuse(&what))
        })?,
        None => Journal::default(),
    };
    let mut observer = Line {
        progress: context.progress,
    };
    let (plan, journal_of) = (&options.plan, (&mut journal, key));
    let tuned = tune::tune(
        space,
        maker,
        evaluator,
        plan,
        journal_of,
        control,
        &mut observer,
    );
    if let Some(why) = journal.broken() {
        (context.say)(&format!("warning: {why}; what was recorded before is kept"));
    }
    tuned
}

/// How many cores the kernels leave free.
fn free_cores(machine: &Machine, threads: usize) -> usize {
    machine.threads.saturating_sub(threads)
}

/// The first legal point in the order of the space.
fn first(space: &Space<'_>, maker: &mut Closure<'_>) -> Result<(Point, Vec<Nest>), Ended> {
    let mut found = tune::first(space, maker, 1)?;
    found.pop().ok_or(Ended::Halt)
}

/// Hands some points of a space to a runner that times nothing.
fn sample(
    space: &Space<'_>,
    maker: &mut Closure<'_>,
    runner: &dyn Runner,
    comparison: &Comparison,
    context: &mut RunContext<'_>,
) -> Result<(), Ended> {
    let points = match runner.sample() {
        1 => tune::first(space, maker, 1)?,
        count => tune::sample(space, maker, count)?,
    };
    let is_one = points.len() == 1;
    let variants = points.into_iter().map(|(point, nests)| Variant {
        label: if is_one {
            "tuned".to_owned()
        } else {
            point.to_string()
        },
        nests: named(nests),
    });
    let comparison = Comparison {
        variants: variants.collect(),
        ..comparison.clone()
    };
    runner.measure(comparison, context)?;
    Ok(())
}

/// The line that shows how far a search is.
struct Line<'a> {
    progress: &'a (dyn Fn(Progress) + Sync),
}

impl Observer for Line<'_> {
    fn tried(&mut self, standing: &Standing<'_>) {
        (self.progress)(Progress {
            what: tune::line(standing),
            done: standing.done,
            total: standing.total,
        });
    }
}
