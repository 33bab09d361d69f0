//! Paths as values of scripts.

use super::{Shown, register_shown};
use crate::ir::Nest;
use crate::script::call::{Call, Function, Parameter};
use crate::script::fail::Failure;
use crate::transform::trace;
use rhai::Dynamic;

/// The path of a nest; the nest itself comes with it, since steps alone make nothing.
#[derive(Clone, Debug)]
pub struct Path(pub Nest);

fn no_trace(call: &Call, error: &trace::NoTrace) -> Failure {
    call.refuse(&error.to_string())
}

/// Argument `k`, a path or a nest, which stands for its path.
fn path(call: &Call, k: usize) -> Result<Nest, Failure> {
    let path = call.get::<Path>(k, "").map(|p| p.0);
    path.or_else(|_| call.get::<Nest>(k, "a path or a nest"))
}

pub(super) static PATH: Function = Function {
    name: "path",
    params: &[Parameter::new("nest")],
    returns: "path",
    doc: "\
The steps that made a nest. Printed, it is a script whose last expression is the nest.

`paper` writes it as the TeML paper does, `json` as JSON; `replay` applies it to another nest.",
    call: |call| Ok(Dynamic::from(Path(call.nest(0)?))),
};

pub(super) static PAPER: Function = Function {
    name: "paper",
    params: &[Parameter::new("path")],
    returns: "string",
    doc: "A path as TeML's Table 2 writes it, with levels for loops: `interchange(l, 2, 3)`.",
    call: |call| match trace::paper(&path(call, 0)?) {
        Ok(text) => Ok(text.into()),
        Err(error) => Err(no_trace(call, &error)),
    },
};

pub(super) static JSON: Function = Function {
    name: "json",
    params: &[Parameter::new("path")],
    returns: "string",
    doc: "A path as JSON: a list of steps with operation, arguments and script line.",
    call: |call| match trace::to_json(&path(call, 0)?) {
        Ok(text) => Ok(text.into()),
        Err(error) => Err(no_trace(call, &error)),
    },
};

pub(super) static REPLAY: Function = Function {
    name: "replay",
    params: &[Parameter::new("path"), Parameter::optional("nest")],
    returns: "nest",
    doc: "\
`replay(path, nest)` applies the steps of a path to another nest. `replay(text)` makes the nest
from the path that `json` wrote.",
    call: |call| {
        let result = match (call.text(0), call.count()) {
            (Ok(text), 1) => trace::from_json(&text),
            (_, 2) => trace::replay(path(call, 0)?.path(), &call.nest(1)?),
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
    params: &[Parameter::new("nest"), Parameter::optional("steps")],
    returns: "nest",
    doc: "The nest before its last step, or before its last `steps` steps.",
    call: |call| {
        let count = if call.count() == 2 { call.int(1)? } else { 1 };
        match trace::undo(&call.nest(0)?, count) {
            Ok(nest) => Ok(Dynamic::from(nest)),
            Err(error) => Err(no_trace(call, &error)),
        }
    },
};

pub(super) static DIFF: Function = Function {
    name: "diff",
    params: &[Parameter::new("first"), Parameter::new("second")],
    returns: "string",
    doc: "\
Where two paths differ: lines with `-` are steps of the first path only, lines with `+` of the
second only.",
    call: |call| {
        let text = trace::diff(path(call, 0)?.path(), path(call, 1)?.path());
        Ok(text.into())
    },
};

/// How paths print.
pub(in crate::script) fn register(engine: &mut rhai::Engine) {
    register_shown::<Path>(engine);
    engine
        .register_fn("len", |path: &mut Path| {
            i64::try_from(path.0.path().len()).unwrap_or(i64::MAX)
        })
        .register_fn("==", |a: Path, b: Path| {
            let (a, b) = (a.0.path().steps(), b.0.path().steps());
            a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.same(b))
        });
}

impl Shown for Path {
    const NAME: &'static str = "path";

    fn full(&self) -> String {
        match trace::script(&self.0) {
            Ok(text) => text,
            Err(error) => format!("// {error}"),
        }
    }

    fn brief(&self) -> String {
        let steps = self.0.path().len();
        format!(
            "a path of {steps} step{}",
            if steps == 1 { "" } else { "s" }
        )
    }
}
