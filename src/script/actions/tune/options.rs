//! The options of `tune`. The command line overrides those of the call.

use crate::actions::writing;
use crate::binding::call::Call;
use crate::messages::fail::Failure;
use crate::tune::{Budget, Launch, Plan, Strategy};
use crate::values;
use crate::verbs::Size;
use rhai::{Array, Dynamic, FnPtr, Map};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The options of a call, overridden by those of the command line.
pub(super) struct Options {
    /// How to search.
    pub(super) plan: Plan,
    /// The constraints on the points of the space.
    pub(super) constraints: Vec<FnPtr>,
    /// Where trials are recorded.
    pub(super) records: Option<PathBuf>,
    /// Whether recorded trials are not repeated.
    pub(super) resume: bool,
    /// Whether the recorded winner is taken, and nothing is tried.
    pub(super) applies: bool,
    /// Where the page goes.
    pub(super) page: Option<PathBuf>,
    /// Whether the winner is printed as a script.
    pub(super) shows_script: bool,
    /// Who starts workers that try variants.
    pub(super) launch: Option<Launch>,
}

/// How many trials there are where nothing is said, and at mini sizes.
const TRIALS: usize = 100;
const FEW: usize = 6;

impl Options {
    /// The options of a call in its session.
    ///
    /// # Errors
    /// An option that does not exist, or that cannot have its value.
    pub(super) fn of(call: &Call) -> Result<Options, Failure> {
        let (given, is_mini) = {
            let bench = call.workbench();
            (bench.tuning.clone(), bench.size == Size::Mini)
        };
        let mut options = Options {
            plan: Plan {
                strategy: Strategy::Model,
                seed: 1,
                budget: Budget {
                    trials: TRIALS,
                    time: None,
                    begun: Some(Instant::now()),
                    patience: None,
                },
            },
            constraints: Vec::new(),
            records: None,
            resume: given.resume,
            applies: given.applies,
            page: given.page,
            shows_script: given.shows_script,
            launch: given.launch,
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
        if given.time.is_some() {
            (plan.budget.time, plan.budget.begun) = (given.time, given.begun);
        }
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
