//! What `tune` does: a search, or whatever the session is for.

use super::closure::Closure;
use super::options::Options;
use super::records::{recorded, replayed};
use super::result::{as_given, named, report, result};
use crate::ir::Nest;
use crate::machine::Machine;
use crate::script::actions::compare::{contest, staged};
use crate::script::actions::space::halt;
use crate::script::call::Call;
use crate::trial::{Contest, Progress, Runner, Stage, Variant};
use crate::tune::{self, Audience, Ended, Journal, Key, Point, Space, Standing};
use rhai::Dynamic;

/// Searches, or does what the session is for.
pub(super) fn search(
    call: &Call,
    space: &Space<'_>,
    maker: &mut Closure<'_>,
    options: &Options,
) -> Result<Dynamic, Ended> {
    let (point, reference) = first(space, maker)?;
    let control = call.state().workbench.control.clone();
    let machine = Machine::known(&control);
    let wants_record = options.applies || !call.state().workbench.runner.runs();
    if let (Some(path), true) = (&options.records, wants_record) {
        let records = tune::read(path).unwrap_or_default();
        if let Some(record) = tune::best(&records, &machine, &tune::definition(&reference)) {
            let nests = recorded(call, record).map_err(|f| halt(maker.failed, f))?;
            return replayed(call, record, nests);
        }
        if options.applies {
            let what = "no record is of this computation on this machine";
            return Err(halt(maker.failed, call.refuse(what)).into());
        }
    }
    let variants = vec![Variant {
        label: "reference".to_owned(),
        nests: reference.clone(),
    }];
    let contest = contest(call, variants);
    let tuned = staged(call, &mut |_| Vec::new(), |runner, stage| {
        let mut control = control.clone();
        control.compiles_beside = free_cores(&machine, control.threads) > 0;
        let progress = stage.progress;
        let gauge = runner.gauge(&contest, &control, progress)?;
        let Some(gauge) = gauge else {
            return sample(space, maker, runner, &contest, stage).map(|()| None);
        };
        let mut journal = match &options.records {
            Some(path) => Journal::open(path, options.resume).map_err(|error| {
                let what = format!("cannot open the records {}: {error}", path.display());
                halt(maker.failed, call.refuse(&what))
            })?,
            None => Journal::default(),
        };
        let key = Key::new(&machine, control.threads, gauge.compiler()?, &reference);
        let mut audience = Line { progress };
        let journal_of = (&mut journal, &key);
        let tuned = tune::tune(
            space,
            maker,
            &*gauge,
            &options.plan,
            journal_of,
            &control,
            &mut audience,
        );
        if let Some(why) = journal.broken() {
            (stage.say)(&format!("warning: {why}; what was recorded before is kept"));
        }
        tuned.map(Some)
    });
    match tuned? {
        Some(tuned) => report(call, &tuned, options, space),
        None => Ok(result(&point, as_given(named(reference)), None)),
    }
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
    contest: &Contest,
    stage: &mut Stage<'_>,
) -> Result<(), Ended> {
    let points = match runner.sample() {
        1 => tune::first(space, maker, 1)?,
        count => tune::sample(space, maker, count)?,
    };
    let is_one = points.len() == 1;
    let variants = points.into_iter().map(|(point, nests)| Variant {
        label: match is_one {
            true => "tuned".to_owned(),
            false => point.to_string(),
        },
        nests: named(nests),
    });
    let contest = Contest {
        variants: variants.collect(),
        ..contest.clone()
    };
    runner.measure(contest, stage)?;
    Ok(())
}

/// The line that shows how far a search is.
struct Line<'a> {
    progress: &'a (dyn Fn(Progress) + Sync),
}

impl Audience for Line<'_> {
    fn tried(&mut self, standing: &Standing<'_>) {
        (self.progress)(Progress {
            what: tune::line(standing),
            done: standing.done,
            total: standing.total,
        });
    }
}
