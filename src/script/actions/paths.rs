//! Paths as values of scripts.

use crate::binding::call::{Call, Effect, Function, Parameter};
use crate::ir::Nest;
use crate::messages::fail::Failure;
use crate::transform::trace::{self, Calls};
use crate::values::Path;
use rhai::{Dynamic, Map};

fn no_trace(call: &Call, error: &trace::NoTrace) -> Failure {
    call.refuse(&error.to_string())
}

/// Argument `k`: a path, or a nest that has one.
fn path(call: &Call, k: usize) -> Result<Path, Failure> {
    let path = call.get::<Path>(k, "");
    path.or_else(|_| {
        let nest = call.get::<Nest>(k, "a path or a nest")?;
        let calls = Calls::Folded;
        Ok(Path { nest, calls })
    })
}

pub(super) static PATH: Function = Function {
    name: "path",
    topic: "paths",
    effect: Effect::None,
    params: &[Parameter::new("nest"), Parameter::optional("options")],
    returns: "path",
    doc: "\
The steps that made a nest. Printed, it is a script whose last expression is the nest.

`paper` writes it as the TeML paper does, `json` as JSON; `replay` applies it to another nest.

A call of the library, such as `tile` or `schedules::gemm`, counts as one step. `path(nest,
#{unfold: true})` shows the steps that it took instead, which can be changed. Calls that measured
what is fastest are always shown by their steps.",
    call: |call| {
        let nest = call.nest(0)?;
        let calls = match call.count() {
            2 => unfold(call)?,
            _ => Calls::Folded,
        };
        Ok(Dynamic::from(Path { nest, calls }))
    },
};

fn unfold(call: &Call) -> Result<Calls, Failure> {
    let expected = "the option `#{unfold: true}`";
    let options: Map = call.get(1, expected)?;
    let value = options.get("unfold").and_then(|value| value.as_bool().ok());
    match (value, options.len()) {
        (Some(true), 1) => Ok(Calls::Unfolded),
        (Some(false), 1) => Ok(Calls::Folded),
        _ => Err(call.expected(1, expected)),
    }
}

pub(super) static PAPER: Function = Function {
    name: "paper",
    topic: "paths",
    effect: Effect::None,
    params: &[Parameter::new("path")],
    returns: "string",
    doc: "A path as TeML's Table 2 writes it, with levels for loops: `interchange(l, 2, 3)`.",
    call: |call| match trace::paper(&path(call, 0)?.nest) {
        Ok(text) => Ok(text.into()),
        Err(error) => Err(no_trace(call, &error)),
    },
};

pub(super) static JSON: Function = Function {
    name: "json",
    topic: "paths",
    effect: Effect::None,
    params: &[Parameter::new("path")],
    returns: "string",
    doc: "A path as JSON: a list of steps with operation, arguments and script line.",
    call: |call| match trace::to_json(&path(call, 0)?.nest) {
        Ok(text) => Ok(text.into()),
        Err(error) => Err(no_trace(call, &error)),
    },
};

pub(super) static REPLAY: Function = Function {
    name: "replay",
    topic: "paths",
    effect: Effect::None,
    params: &[Parameter::new("path"), Parameter::optional("nest")],
    returns: "nest",
    doc: "\
`replay(path, nest)` applies the steps of a path to another nest. `replay(text)` makes the nest
from the path that `json` wrote.",
    call: |call| {
        let result = match (call.text(0), call.count()) {
            (Ok(text), 1) => trace::from_json(&text),
            (_, 2) => trace::replay(path(call, 0)?.nest.path(), &call.nest(1)?),
            _ => return Err(call.expected(0, "the JSON of a path, or a path and a nest")),
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
    params: &[Parameter::new("nest"), Parameter::optional("steps")],
    returns: "nest",
    doc: "\
The nest before its last step, or before its last `steps` steps. A call of the library, such as
`tile`, counts as one step.",
    call: |call| {
        let count = if call.count() == 2 { call.int(1)? } else { 1 };
        let nest = call.nest(0)?;
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
    params: &[Parameter::new("first"), Parameter::new("second")],
    returns: "string",
    doc: "\
Where two paths differ: lines with `-` are steps of the first path only, lines with `+` of the
second only. A call of the library is one line, unless one of the paths is unfolded (see `path`).",
    call: |call| {
        let (first, second) = (path(call, 0)?, path(call, 1)?);
        let calls = if [first.calls, second.calls].contains(&Calls::Unfolded) {
            Calls::Unfolded
        } else {
            Calls::Folded
        };
        let text = trace::diff(first.nest.path(), second.nest.path(), calls);
        Ok(text.into())
    },
};
