//! `tune`: the fastest of many variants.

mod closure;
mod options;
mod records;
mod result;
mod search;

use super::space::{self, Failed};
use crate::binding::call::Call;
use crate::binding::function::{Effect, Function};
use crate::binding::param::Param;
use crate::messages::fail::Failure;
use crate::tune::{self, Ended, Model};
use crate::verbs::Refusal;
use closure::Closure;
use options::Options;
use rhai::{FnPtr, Map};

const SPACE: Param<Map> = Param::new("space");
const VARIANT: Param<FnPtr> = Param::new("variant").being("a function from a point to a nest");

pub static TUNE: Function = Function {
    name: "tune",
    topic: "results",
    effect: Effect::Writes,
    params: &[SPACE.any(), VARIANT.any(), options::OPTIONS.any()],
    returns: "tuned",
    doc: "\
Searches a space of parameters for the fastest variant: `tune(#{rows: [2, 4, 8]}, |p|
naive.tile([\"i\"], [p.rows]))`.

A space is a map of named parameters. A parameter is a list of values, a range such as `1..9`, or a
function of the parameters before it, such as `|p| divisors(p.block)`. `powers_of_two`, `divisors`
and `permutations` make lists. `variant` is a function from a point, a map with a value for each
parameter, to a nest or a list of nests.

A point that an operation refuses is left out, and counted by its reason; a mistake ends the script.
There is no need to `catch` refusals, and `()` also leaves out a point. So does an empty list of
values: `unrolled: |p| [4, 8].filter(|n| p.terms % n == 0)`. Points whose nests are those of another
point are not tried again.
Every variant is proved, compiled, and compared with the reference before it is timed. Clearly slow
ones run once, others a few times. At the end, the fastest are timed again, interleaved, in rounds. A
variant that is slower in all of its rounds is out; the others are a tie. Of those within 2 % of the
fastest, the one with the shortest path wins, a call of the library being one step, and of several the
first of the space. If other programs slow the cores down, a variant is out only if it would also be
slower without them, so there are more ties. The first point of the space is always tried, and first,
and is in the finals unless it is twice as slow.

Options are:

- `search`: `\"model\"` (the default: a cost model, corrected by what was measured), `\"exhaustive\"`,
  `\"random\"`, `\"hill\"` or `\"evolution\"`
- `trials` (100), `seconds`, and `patience`: stop after so many trials, seconds, or trials without
  improvement
- `constraint`: a function, or a list of functions, that are true for points of the space
- `seed` (1): the same seed proposes the same points
- `records`: a file of JSON lines to which each trial is added; `resume: true` does not try again
  what it holds, if machine, compiler, flags, definition and nests are the same

For a sweep over tiles, `tile` and `stripmine` take sizes that do not divide an extent; `divisors(n)`
lists the sizes that divide it. Steps rename loops, so give the names of loops to `vectorize` and
`parallelize` before `unroll`, or keep handles: `let lanes = nest.made().inner`.

The result is a map: `nest` (what `variant` returned for the winner), `parameters`, `median` in
seconds, `ties` (the points that are as fast, or may be), `trials`, `refused` (counts by reason), and `ok`. If
nothing runs, `ok` is false, and `nest` is the recorded winner or the first legal point. `teml check`
proves a sample of the space. `--size mini` tries a few points. `teml tune` prints the winner as a
script that replays without tuning, and `teml tune --launcher mpi` tries points on several machines.

`tune(space, f, #{search: \"exhaustive\"})` sweeps the whole space. (`sweep(t)` assigns the elements of
`t` in order.)

Source: Ansel et al., OpenTuner, PACT 2014; Zheng et al., Ansor, OSDI 2020.",
    call: |call| {
        let failed = Failed::default();
        let options = Options::of(call)?;
        let closure = call.arg(&VARIANT)?;
        let space = space::space(call, 0, options.constraints.clone(), &failed)?;
        call.workbench().tuning.calls += 1;
        let control = call.workbench().control.clone();
        let mut maker = Closure {
            call,
            closure,
            failed: &failed,
            model: Model::known(&control),
        };
        let outcome = search::search(call, &space, &mut maker, &options);
        outcome.map_err(|ended| explain(call, ended, &failed))
    },
};

/// Why there is no result, as a failure of the call.
fn explain(call: &Call, ended: Ended, failed: &Failed) -> Failure {
    match ended {
        Ended::Halt => {
            let failure = failed.borrow_mut().take();
            failure.unwrap_or_else(|| call.refuse("the function failed"))
        }
        Ended::Trial(error) => {
            let reductions = call.workbench().reductions();
            call.refused(Refusal::of_trial(error, reductions))
        }
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
