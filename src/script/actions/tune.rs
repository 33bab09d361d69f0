//! `tune` and `best`: the fastest of many variants, and the one that was recorded.

use super::compare::{failed_trial, staged};
use super::space::{self, Failed, halt, to_map};
use super::strategy::refusal;
use super::writing;
use crate::ir::{Name, Nest};
use crate::machine::{self, Machine};
use crate::runtime::Control;
use crate::script::call::{Call, Function, Parameter};
use crate::script::fail::Failure;
use crate::script::values;
use crate::script::workbench::Size;
use crate::transform::trace;
use crate::trial::{Contest, Progress, Runner, Stage, Variant};
use crate::tune::{
    self, Audience, Budget, Ended, Halt, Journal, Key, Made, Maker, Model, Plan, Point, Record,
    Space, Standing, Strategy, Tuned,
};
use rhai::{Array, Dynamic, FnPtr, Map};
use std::path::PathBuf;
use std::time::Duration;

pub(super) static TUNE: Function = Function {
    name: "tune",
    params: &[
        Parameter::new("space"),
        Parameter::new("variant"),
        Parameter::optional("options"),
    ],
    returns: "tuned",
    doc: "\
Searches a space of parameters for the fastest variant: `tune(#{rows: [2, 4, 8]}, |p|
naive.tile([\"i\"], [p.rows]))`.

A space is a map of named parameters. A parameter is a list of values, a range such as `1..9`, or a
function of the parameters before it, such as `|p| divisors(p.block)`. `powers_of_two`, `divisors`
and `permutations` make lists. `variant` is a function from a point, a map with a value for each
parameter, to a nest or a list of nests.

A point that an operation refuses is left out, and counted by its reason; a mistake ends the script.
Every variant is proved, compiled, and compared with the reference before it is timed. Clearly slow
ones run once. At the end, the fastest are timed again, interleaved, until they separate. Variants
that do not separate are a tie, and the one with the shortest path wins.

Options are:

- `search`: `\"model\"` (the default: a cost model, corrected by what was measured), `\"exhaustive\"`,
  `\"random\"`, `\"hill\"` or `\"evolution\"`
- `trials` (100), `seconds`, and `patience`: stop after so many trials, seconds, or trials without
  improvement
- `constraint`: a function, or a list of functions, that are true for points of the space
- `seed` (1): the same seed proposes the same points
- `records`: a file of JSON lines to which each trial is added; `resume: true` does not try again
  what it holds

The result is a map: `nest` (what `variant` returned for the winner), `parameters`, `median` in
seconds, `ties` (the points that are as fast), `trials`, `refused` (counts by reason), and `ok`. If
nothing runs, `ok` is false, and `nest` is the recorded winner or the first legal point. `teml check`
proves a sample of the space. `--size mini` tries a few points.

`tune(space, f, #{search: \"exhaustive\"})` sweeps the whole space. (`sweep(t)` assigns the elements of
`t` in order.)

Source: Ansel et al., OpenTuner, PACT 2014; Zheng et al., Ansor, OSDI 2020.",
    call: |call| {
        let failed = Failed::default();
        let options = Options::of(call)?;
        let closure: FnPtr = call.get(1, "a function from a point to a nest")?;
        let space = space::space(call, 0, options.constraints.clone(), &failed)?;
        call.state().workbench.tuning.calls += 1;
        let control = call.state().workbench.control.clone();
        let mut maker = Closure {
            call,
            closure,
            failed: &failed,
            model: model(&control),
        };
        let outcome = search(call, &space, &mut maker, &options);
        match outcome {
            Ok(result) => Ok(result),
            Err(ended) => Err(explain(call, ended, &failed)),
        }
    },
};

/// The model of this machine, with the rates that are known.
pub(super) fn model(control: &Control) -> Model {
    let speed = |threads| machine::known_speed(threads, control).map(|speed| speed.rates);
    let rates = speed(1).zip(speed(control.threads));
    let rates = rates.map(|(one, all)| [one, all]);
    Model::new(&Machine::known(control), control.threads, rates)
}

/// Why there is no result, as a failure of the call.
fn explain(call: &Call, ended: Ended, failed: &Failed) -> Failure {
    match ended {
        Ended::Halt => {
            let failure = failed.borrow_mut().take();
            failure.unwrap_or_else(|| call.refuse("the function failed"))
        }
        Ended::Trial(error) => failed_trial(call, error),
        Ended::Refused(reasons) if reasons.is_empty() => {
            call.refuse("no point of the space meets the constraints")
        }
        Ended::Refused(reasons) => {
            let failure = call.refuse("every point of the space is refused");
            let reasons = tune::reasons(&reasons);
            reasons.into_iter().fold(failure, Failure::note)
        }
        Ended::Failed(why) => call.refuse(&format!("no variant is right; the last one: {why}")),
    }
}

pub(super) static BEST: Function = Function {
    name: "best",
    params: &[Parameter::new("nest"), Parameter::new("records")],
    returns: "nest",
    doc: "\
The fastest variant that a file of records holds for what `nest` computes, on this machine:
`best(build(C), \"records.jsonl\")`.

It is replayed from its path, without tuning. Records of other machines and other definitions are
passed over. The result is a list if the variant is one, and `()` if nothing is recorded.",
    call: |call| {
        let nests = call.nests(0)?;
        let path = PathBuf::from(call.text(1)?);
        let records = tune::read(&path);
        let records = records.map_err(|error| {
            call.fail(1, &format!("cannot be read: {}: {error}", path.display()))
        })?;
        let machine = Machine::known(&call.state().workbench.control);
        match tune::best(&records, &machine, &tune::definition(&nests)) {
            Some(record) => Ok(as_given(recorded(call, record)?)),
            None => Ok(Dynamic::UNIT),
        }
    },
};

/// The nests of a record, replayed.
fn recorded(call: &Call, record: &Record) -> Result<Vec<Nest>, Failure> {
    let nests = record.nests.iter().map(|text| trace::from_json(text));
    let nests = nests.collect::<Result<Vec<Nest>, _>>();
    let nests = nests.map_err(|error| call.refuse(&format!("a record does not replay: {error}")));
    Ok(named(nests?))
}

/// Nests as a variant of a script: a nest, or a list of several.
fn as_given(mut nests: Vec<Nest>) -> Dynamic {
    match (nests.len(), nests.pop()) {
        (1, Some(nest)) => Dynamic::from(nest),
        (_, last) => nests
            .into_iter()
            .chain(last)
            .map(Dynamic::from)
            .collect::<Array>()
            .into(),
    }
}

/// The nests under the name that tables show.
fn named(mut nests: Vec<Nest>) -> Vec<Nest> {
    if let (Some(last), Ok(name)) = (nests.pop(), Name::new("tuned")) {
        nests.push(last.labelled(name));
    }
    nests
}

/// What a call and the command line say.
struct Options {
    plan: Plan,
    constraints: Vec<FnPtr>,
    records: Option<PathBuf>,
    resume: bool,
    applies: bool,
    page: Option<PathBuf>,
    shows_script: bool,
}

/// How many trials there are where nothing is said, and at mini sizes.
const TRIALS: usize = 100;
const FEW: usize = 6;

impl Options {
    fn of(call: &Call) -> Result<Options, Failure> {
        let (given, is_mini) = {
            let state = call.state();
            let bench = &state.workbench;
            (bench.tuning.clone(), bench.size == Size::Mini)
        };
        let mut options = Options {
            plan: Plan {
                strategy: Strategy::Model,
                seed: 1,
                budget: Budget {
                    trials: TRIALS,
                    time: None,
                    patience: None,
                },
            },
            constraints: Vec::new(),
            records: None,
            resume: given.resume,
            applies: given.applies,
            page: given.page,
            shows_script: given.shows_script,
        };
        if call.count() > 2 {
            let map: Map = call.get(2, "options such as `#{trials: 50}`")?;
            for (name, value) in &map {
                options.set(call, name, value)?;
            }
        }
        let plan = &mut options.plan;
        plan.strategy = given.strategy.unwrap_or(plan.strategy);
        plan.seed = given.seed.unwrap_or(plan.seed);
        plan.budget.trials = given.trials.unwrap_or(plan.budget.trials);
        plan.budget.time = given.time.or(plan.budget.time);
        options.records = given.records.or(options.records);
        if is_mini {
            options.plan.budget.trials = options.plan.budget.trials.min(FEW);
        }
        Ok(options)
    }

    fn set(&mut self, call: &Call, name: &str, value: &Dynamic) -> Result<(), Failure> {
        let wrong = |expected: &str| {
            let given = values::describe(value);
            call.fail(
                2,
                &format!("has `{name}`, which must be {expected}, not {given}"),
            )
        };
        let count = || {
            let number = value.as_int().ok().and_then(|n| usize::try_from(n).ok());
            number
                .filter(|n| *n > 0)
                .ok_or_else(|| wrong("a positive integer"))
        };
        let budget = &mut self.plan.budget;
        match name {
            "search" => {
                let names: Vec<String> = Strategy::NAMES
                    .iter()
                    .map(|(name, _)| format!("{name:?}"))
                    .collect();
                let word = value.clone().into_string().ok();
                let found = word.and_then(|word| Strategy::from_name(&word));
                self.plan.strategy = found.ok_or_else(|| wrong(&names.join(", ")))?;
            }
            "trials" => budget.trials = count()?,
            "patience" => budget.patience = Some(count()?),
            "seconds" => {
                let seconds = value
                    .as_float()
                    .or_else(|_| value.as_int().map(|n| n as f64));
                let time = seconds
                    .ok()
                    .and_then(|s| Duration::try_from_secs_f64(s).ok());
                budget.time = Some(time.ok_or_else(|| wrong("a number of seconds"))?);
            }
            "seed" => {
                let seed = value.as_int().map_err(|_| wrong("an integer"))?;
                self.plan.seed = seed.cast_unsigned();
            }
            "records" => {
                let path = value.clone().into_string().map_err(|_| wrong("a path"))?;
                self.records = Some(writing::allowed(call, 2, PathBuf::from(path))?);
            }
            "resume" => self.resume |= value.as_bool().map_err(|_| wrong("true or false"))?,
            "constraint" => {
                let one = value.read_lock::<FnPtr>().map(|f| vec![f.clone()]);
                let several = || {
                    let list = value.read_lock::<Array>()?;
                    let functions = list
                        .iter()
                        .map(|f| f.read_lock::<FnPtr>().map(|f| f.clone()));
                    functions.collect::<Option<Vec<FnPtr>>>()
                };
                let functions = one.or_else(several);
                self.constraints = functions.ok_or_else(|| wrong("a function of a point"))?;
            }
            _ => {
                let known = "search, trials, seconds, patience, constraint, seed, records, resume";
                let what = format!("has no option `{name}`: there are {known}");
                return Err(call.fail(2, &what).misspelt(name));
            }
        }
        Ok(())
    }
}

/// The function that makes nests of points.
struct Closure<'a> {
    call: &'a Call<'a>,
    closure: FnPtr,
    failed: &'a Failed,
    model: Model,
}

impl Maker for Closure<'_> {
    fn make(&mut self, point: &Point) -> Result<Made, Halt> {
        let point = Dynamic::from(to_map(point));
        let made = self.closure.call_raw(self.call.context(), None, [point]);
        let made: Dynamic = match made {
            Ok(made) => made,
            Err(error) => match refusal(&error) {
                Some(why) => return Ok(Made::Refused(tune::reason(&why))),
                None => return Err(halt(self.failed, Failure::inside(error))),
            },
        };
        if made.is_unit() {
            return Ok(Made::Refused("the function returns `()`".to_owned()));
        }
        let nest = |value: &Dynamic| value.read_lock::<Nest>().map(|nest| nest.clone());
        let list = || {
            let list = made.read_lock::<Array>()?;
            list.iter().map(nest).collect::<Option<Vec<Nest>>>()
        };
        let nests = nest(&made).map(|nest| vec![nest]).or_else(list);
        match nests.filter(|nests| !nests.is_empty()) {
            Some(nests) => Ok(Made::Nests(nests)),
            None => {
                let given = values::describe(&made);
                let what = format!("must return a nest or a list of nests, not {given}");
                Err(halt(self.failed, self.call.fail(1, &what)))
            }
        }
    }

    fn predict(&mut self, nests: &[Nest]) -> Option<f64> {
        self.model
            .predict(nests)
            .map(|prediction| prediction.seconds)
    }
}

/// Searches, or does what the session is for.
fn search(
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

/// Variants with the inputs and the settings of the session.
fn contest(call: &Call, variants: Vec<Variant>) -> Contest {
    let state = call.state();
    Contest {
        variants,
        inputs: state.workbench.inputs.clone(),
        settings: state.workbench.settings.clone(),
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

/// What a script gets of a winner that was recorded.
fn replayed(call: &Call, record: &Record, nests: Vec<Nest>) -> Result<Dynamic, Ended> {
    let variant = Variant {
        label: "tuned".to_owned(),
        nests: nests.clone(),
    };
    let contest = contest(call, vec![variant]);
    let point = record.parameters.iter();
    let point = point.fold(Point::default(), |p, (name, value)| {
        p.with(name, value.clone())
    });
    call.state().print(&format!("recorded: {point}"));
    staged(call, &mut |_| Vec::new(), |runner, stage| {
        match runner.runs() {
            true => Ok(()),
            false => runner.measure(contest, stage).map(|_| ()),
        }
    })?;
    Ok(result(&point, as_given(nests), record.median()))
}

/// Prints what a search found, and makes a value of it.
fn report(
    call: &Call,
    tuned: &Tuned,
    options: &Options,
    space: &Space<'_>,
) -> Result<Dynamic, Ended> {
    let (winner, seconds) = match tuned.winner() {
        Some(winner) => winner,
        None => return Err(Ended::Failed("nothing was timed".to_owned())),
    };
    let mut state = call.state();
    state.workbench.tuning.agreement = Some(tuned.agreement());
    for line in tune::summary(tuned) {
        state.print(&line);
    }
    let nests = named(winner.nests.clone());
    if options.shows_script {
        for nest in &nests {
            if let Ok(script) = trace::script(nest, trace::Calls::Unfolded) {
                state.print(script.trim_end());
            }
        }
    }
    if let Some(path) = &options.page {
        let names: Vec<&str> = space.names().collect();
        let limit = limit(&state.workbench.control, tuned);
        let written = std::fs::write(path, tune::page(tuned, &names, &options.plan, limit));
        if let Err(error) = written {
            state.print(&format!(
                "warning: cannot write {}: {error}",
                path.display()
            ));
        }
    }
    drop(state);
    let mut value = result(&winner.point, as_given(nests), Some(seconds));
    if let Some(mut map) = value.write_lock::<Map>() {
        let tied = tuned.decided.finalists[..tuned.decided.tied].iter().skip(1);
        let ties = tied.map(|f| Dynamic::from(to_map(&tuned.trials[f.number].point)));
        map.insert("ties".into(), ties.collect::<Array>().into());
        let trials = i64::try_from(tuned.trials.len()).unwrap_or(i64::MAX);
        map.insert("trials".into(), trials.into());
        let refused = tuned.refused.iter();
        let refused: Map = refused
            .map(|(why, count)| (why.as_str().into(), Dynamic::from_int(*count as i64)))
            .collect();
        map.insert("refused".into(), refused.into());
    }
    value.set_tag(values::SHOWN);
    Ok(value)
}

/// The least time that the machine allows, in seconds, if its rates are known: that of the
/// operations, or that of inputs and results where the caches cannot hold them.
fn limit(control: &Control, tuned: &Tuned) -> Option<f64> {
    let work = tuned.work.as_ref()?;
    let rates = machine::known_speed(control.threads, control)?.rates;
    let computing = work.flops / (1e9 * rates.gflops(work.elem)?);
    let caches = Machine::known(control).last_caches() as f64;
    let moving = match work.read + work.written > caches {
        true => rates.moving(work.read, work.written),
        false => 0.0,
    };
    Some(computing.max(moving))
}

fn result(point: &Point, nest: Dynamic, seconds: Option<f64>) -> Dynamic {
    let mut map = Map::new();
    map.insert("nest".into(), nest);
    map.insert("parameters".into(), to_map(point).into());
    map.insert(
        "median".into(),
        seconds.map_or(Dynamic::UNIT, Dynamic::from_float),
    );
    map.insert("ties".into(), Dynamic::from_array(Array::new()));
    map.insert("trials".into(), Dynamic::from_int(0));
    map.insert("refused".into(), Map::new().into());
    map.insert("ok".into(), seconds.is_some().into());
    map.into()
}
