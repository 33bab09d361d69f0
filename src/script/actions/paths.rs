//! Paths as values of scripts.

use crate::binding::call::Call;
use crate::binding::function::{Effect, Function};
use crate::binding::param::{NEST, Options, Param, arguments, held};
use crate::binding::takes::{Takes, Type};
use crate::ir::Nest;
use crate::messages::fail::Failure;
use crate::transform::trace::{self, Calls};
use crate::values::Path;
use rhai::Dynamic;

fn no_trace(call: &Call, error: &trace::NoTrace) -> Failure {
    call.refuse(&error.to_string())
}

const PATH_OF: Param<Path> = Param::new("path");
const ANOTHER: Param<Option<Nest>> = Param::new("nest");
const TEXT: Param<Dynamic> = Param::new("path");
const STEPS: Param<Option<i64>> = Param::new("steps");
const FIRST: Param<Path> = Param::new("first");
const SECOND: Param<Path> = Param::new("second");
const OPTIONS: Param<Options> = Param::new("options").with(&[UNFOLD.any()]);
const UNFOLD: Param<Option<bool>> = Param::new("unfold");

arguments! {
    // A nest has a path.
    Path, "a path or a nest", Takes::Value(Type::Path), |p| p.read(|v| {
        let of = |nest| Path { nest, calls: Calls::Folded };
        held(v).or_else(|| held(v).map(of))
    });
}

pub(super) static PATH: Function = Function {
    name: "path",
    topic: "paths",
    effect: Effect::None,
    params: &[NEST.any(), OPTIONS.any()],
    returns: "path",
    doc: "\
The steps that made a nest. Printed, it is a script whose last expression is the nest.

`paper` writes it as the TeML paper does, `json` as JSON; `replay` applies it to another nest.

A call of the library, such as `tile` or `schedules::gemm`, counts as one step. `path(nest,
#{unfold: true})` shows the steps that it took instead, which can be changed. Calls that measured
what is fastest are always shown by their steps.",
    call: |call| {
        let nest = call.arg(&NEST)?;
        let calls = match call.options(&OPTIONS)?.get(&UNFOLD)? {
            Some(true) => Calls::Unfolded,
            _ => Calls::Folded,
        };
        Ok(Dynamic::from(Path { nest, calls }))
    },
};

pub(super) static PAPER: Function = Function {
    name: "paper",
    topic: "paths",
    effect: Effect::None,
    params: &[PATH_OF.any()],
    returns: "string",
    doc: "A path as TeML's Table 2 writes it, with levels for loops: `interchange(l, 2, 3)`.",
    call: |call| match trace::paper(&call.arg(&PATH_OF)?.nest) {
        Ok(text) => Ok(text.into()),
        Err(error) => Err(no_trace(call, &error)),
    },
};

pub(super) static JSON: Function = Function {
    name: "json",
    topic: "paths",
    effect: Effect::None,
    params: &[PATH_OF.any()],
    returns: "string",
    doc: "A path as JSON: a list of steps with operation, arguments and script line.",
    call: |call| match trace::to_json(&call.arg(&PATH_OF)?.nest) {
        Ok(text) => Ok(text.into()),
        Err(error) => Err(no_trace(call, &error)),
    },
};

pub(super) static REPLAY: Function = Function {
    name: "replay",
    topic: "paths",
    effect: Effect::None,
    params: &[PATH_OF.any(), ANOTHER.any()],
    returns: "nest",
    doc: "\
`replay(path, nest)` applies the steps of a path to another nest. `replay(text)` makes the nest
from the path that `json` wrote.",
    call: |call| {
        let result = match (call.arg(&ANOTHER)?, call.arg(&TEXT)?.into_string()) {
            (Some(nest), _) => trace::replay(call.arg(&PATH_OF)?.nest.path(), &nest),
            (None, Ok(text)) => trace::from_json(&text),
            (None, _) => {
                return Err(call.expected(&TEXT, "the JSON of a path, or a path and a nest"));
            }
        };
        match result {
            Ok(nest) => Ok(Dynamic::from(nest)),
            Err(error) => Err(no_trace(call, &error)),
        }
    },
};

pub(super) static UNDO: Function = Function {
    name: "undo",
    topic: "paths",
    effect: Effect::None,
    params: &[NEST.any(), STEPS.any()],
    returns: "nest",
    doc: "\
The nest before its last step, or before its last `steps` steps. A call of the library, such as
`tile`, counts as one step.",
    call: |call| {
        let count = call.arg(&STEPS)?.unwrap_or(1);
        let nest = call.arg(&NEST)?;
        let entries = nest.path().entries();
        let taken = entries.len().saturating_sub(1);
        let Some(kept) = usize::try_from(count)
            .ok()
            .and_then(|c| taken.checked_sub(c))
        else {
            let error = trace::NoTrace::TooFew {
                wanted: count,
                taken,
            };
            return Err(no_trace(call, &error));
        };
        let steps: usize = entries.iter().skip(kept + 1).map(|e| e.steps().len()).sum();
        match trace::undo(&nest, i64::try_from(steps).unwrap_or(i64::MAX)) {
            Ok(nest) => Ok(Dynamic::from(nest)),
            Err(error) => Err(no_trace(call, &error)),
        }
    },
};

pub(super) static DIFF: Function = Function {
    name: "diff",
    topic: "paths",
    effect: Effect::None,
    params: &[FIRST.any(), SECOND.any()],
    returns: "string",
    doc: "\
Where two paths differ: lines with `-` are steps of the first path only, lines with `+` of the
second only. A call of the library is one line, unless one of the paths is unfolded (see `path`).",
    call: |call| {
        let (first, second) = (call.arg(&FIRST)?, call.arg(&SECOND)?);
        let calls = if [first.calls, second.calls].contains(&Calls::Unfolded) {
            Calls::Unfolded
        } else {
            Calls::Folded
        };
        let text = trace::diff(first.nest.path(), second.nest.path(), calls);
        Ok(text.into())
    },
};
