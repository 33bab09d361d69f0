//! The options of `tune`. The command line overrides those of the call.

use crate::actions::writing;
use crate::binding::call::Call;
use crate::binding::param::{self, Param, Words, arguments, held};
use crate::binding::takes::{Takes, Type};
use crate::messages::fail::Failure;
use crate::runtime::Scalar;
use crate::tune::{Budget, Launch, Plan, Strategy};
use crate::verbs::Size;
use rhai::FnPtr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub(super) const OPTIONS: Param<param::Options> = Param::new("options").with(&[
    SEARCH.any(),
    TRIALS.any(),
    SECONDS.any(),
    PATIENCE.any(),
    CONSTRAINT.any(),
    SEED.any(),
    RECORDS.any(),
    RESUME.any(),
]);
const SEARCH: Param<Option<Strategy>> = Param::new("search");
const TRIALS: Param<Option<usize>> = Param::new("trials");
const SECONDS: Param<Option<Seconds>> = Param::new("seconds");
const PATIENCE: Param<Option<usize>> = Param::new("patience");
const CONSTRAINT: Param<Option<Constraints>> = Param::new("constraint");
const SEED: Param<Option<i64>> = Param::new("seed");
const RECORDS: Param<Option<String>> = Param::new("records");
const RESUME: Param<Option<bool>> = Param::new("resume");

impl Words for Strategy {
    const WORDS: &'static [(&'static str, Strategy)] = &Strategy::NAMES;
}

struct Seconds(Duration);

struct Constraints(Vec<FnPtr>);

arguments! {
    Seconds, "a number of seconds", Takes::Value(Type::Other), |p| p.read(|v| {
        let seconds = crate::values::number(v).map(Scalar::as_f64);
        Duration::try_from_secs_f64(seconds?).ok().map(Seconds)
    });
    Constraints, "a function of a point", Takes::Value(Type::Function), |p| {
        let one = p.given.as_ref().and_then(held).map(|function| Ok(vec![function]));
        one.unwrap_or_else(|| p.list(held)).map(Constraints)
    };
}

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
const MANY: usize = 100;
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
        let map = call.options(&OPTIONS)?;
        let records = match (given.records, map.get(&RECORDS)?) {
            (Some(path), _) => Some(path),
            (None, Some(path)) => Some(writing::allowed(call, &OPTIONS, PathBuf::from(path))?),
            (None, None) => None,
        };
        let seconds = map.get(&SECONDS)?.map(|Seconds(time)| time);
        let trials = given.trials.or(map.get(&TRIALS)?).unwrap_or(MANY);
        Ok(Options {
            plan: Plan {
                strategy: given
                    .strategy
                    .or(map.get(&SEARCH)?)
                    .unwrap_or(Strategy::Model),
                seed: given
                    .seed
                    .or(map.get(&SEED)?.map(i64::cast_unsigned))
                    .unwrap_or(1),
                budget: Budget {
                    trials: if is_mini { trials.min(FEW) } else { trials },
                    time: given.time.or(seconds),
                    begun: given
                        .time
                        .map_or_else(|| Some(Instant::now()), |_| given.begun),
                    patience: map.get(&PATIENCE)?,
                },
            },
            constraints: map
                .get(&CONSTRAINT)?
                .map_or_else(Vec::new, |Constraints(all)| all),
            records,
            resume: given.resume || map.get(&RESUME)?.unwrap_or(false),
            applies: given.applies,
            page: given.page,
            shows_script: given.shows_script,
            launch: given.launch,
        })
    }
}
