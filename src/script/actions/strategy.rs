//! Building blocks of the library's strategies.

use crate::binding::function::{Effect, Function};
use crate::binding::param::{NEST, Param, Words};
use crate::ir::{Name, Tree};
use crate::messages::fail::Failure;
use rhai::{Array, Dynamic, EvalAltResult, FnPtr};

const WHICH: Param<Option<Which>> = Param::new("which");
const TEXT: Param<Option<String>> = Param::new("text");
const STEP: Param<FnPtr> =
    Param::new("step").being("a step, which is a function from nest to nest");
const OF: Param<Dynamic> = Param::new("nest");

#[derive(Clone, Copy)]
enum Which {
    All,
    Innermost,
    Outermost,
    Suffixed,
}

impl Words for Which {
    const WORDS: &'static [(&'static str, Which)] = &[
        ("all", Which::All),
        ("innermost", Which::Innermost),
        ("outermost", Which::Outermost),
        ("suffixed", Which::Suffixed),
    ];
}

pub(super) static FIND_LOOPS: Function = Function {
    name: "find_loops",
    topic: "queries",
    effect: Effect::None,
    params: &[NEST.any(), WHICH.any()],
    returns: "list",
    doc: "\
The names of the loops of a nest, in the order in which they are printed: all loops, only the
`\"innermost\"` ones, which contain no loop, only the `\"outermost\"` ones, which are inside
none, or only the `\"suffixed\"` ones, whose names steps may derive from those of other loops.",
    call: |call| {
        let (nest, which) = (call.arg(&NEST)?, call.arg(&WHICH)?.unwrap_or(Which::All));
        let loops = nest.loops();
        let is_suffixed = |name: &Name| {
            let mut others = loops.iter().map(|(_, l)| l.name.as_str());
            others.any(|other| {
                let suffix = name.as_str().strip_prefix(other);
                let suffix = suffix.and_then(|suffix| suffix.strip_prefix('_'));
                suffix.is_some_and(|suffix| suffix.starts_with(|c: char| c.is_ascii_alphabetic()))
            })
        };
        let found = loops.iter().filter(|(outer, l)| match which {
            Which::All => true,
            Which::Innermost => !l.body.iter().any(|t| matches!(t, Tree::Loop(_))),
            Which::Outermost => outer.is_empty(),
            Which::Suffixed => is_suffixed(&l.name),
        });
        let names: Array = found
            .map(|(_, l)| Dynamic::from(l.name.to_string()))
            .collect();
        Ok(Dynamic::from_array(names))
    },
};

pub(super) static REMARK: Function = Function {
    name: "remark",
    topic: "queries",
    effect: Effect::None,
    params: &[NEST.any(), TEXT.any()],
    returns: "text",
    doc: "\
The words of the schedule that made a nest, or `()`. With a text, the nest with these words.

`schedules::optimize` says so what it takes nests for, and prints it. The next step drops the words.

    let A = tensor([20, 30]);
    let plan = schedules::optimize(build(stored(2 * A)));
    print(remark(plan));
    print(remark(remark(plan, \"mine\")));

    schedules::optimize: elements (schedules::pointwise)
    elements (schedules::pointwise)
    mine",
    call: |call| {
        let nest = call.arg(&NEST)?;
        Ok(match call.arg(&TEXT)? {
            Some(text) => Dynamic::from(nest.remarked(&text)),
            None => nest
                .remark()
                .map_or(Dynamic::UNIT, |text| text.to_owned().into()),
        })
    },
};

pub(super) static UNLESS_REFUSED: Function = Function {
    name: "unless_refused",
    topic: "queries",
    effect: Effect::None,
    params: &[STEP.any(), OF.any()],
    returns: "nest",
    doc: "\
The result of a step on a nest or a list of nests, or `()` if an operation in it refuses it.

A refusal means that the operation is possible on another nest. Mistakes in calls and
limitations of the tool are not refusals: they end the script.",
    call: |call| {
        let step = call.arg(&STEP)?;
        call.nests(1)?;
        let nest = call.arg(&OF)?;
        match step.call_raw(call.context(), None, [nest]) {
            Ok(result) => Ok(result),
            Err(error) if is_refusal(&error) => Ok(Dynamic::UNIT),
            Err(error) => Err(Failure::inside(error)),
        }
    },
};

fn is_refusal(error: &EvalAltResult) -> bool {
    refusal(error).is_some()
}

/// The message of an operation that refuses a nest; `None` if the error is a mistake or a
/// limitation.
pub(super) fn refusal(error: &EvalAltResult) -> Option<String> {
    match error {
        EvalAltResult::ErrorInFunctionCall(_, _, inner, _) => refusal(inner),
        EvalAltResult::ErrorInModule(_, inner, _) => refusal(inner),
        EvalAltResult::ErrorRuntime(value, _) => {
            let failure = value.read_lock::<Failure>()?;
            failure.is_refusal().then(|| failure.message())
        }
        _ => None,
    }
}
