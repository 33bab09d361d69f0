//! `moves`: which steps are legal next, as a value.

use crate::advice::{self, OPERATIONS, Scope};
use crate::analysis::position;
use crate::binding::call::Call;
use crate::binding::conversion;
use crate::binding::function::{Effect, Function};
use crate::binding::param::{NEST, Param, arguments, held};
use crate::binding::takes::{Takes, Type};
use crate::ir::Nest;
use crate::messages::fail::Failure;
use crate::values::{Listed, One};
use rhai::{Array, Dynamic, ImmutableString, Map};

const WHICH: Param<Option<Dynamic>> = Param::new("which");
const MOVE: Param<One> = Param::new("move");

arguments! {
    One, "one of the moves that `moves` lists", Takes::Value(Type::Moves), |p| p.read(held);
}

pub static MOVES: Function = Function {
    name: "moves",
    topic: "results",
    effect: Effect::None,
    params: &[NEST.any(), WHICH.any()],
    returns: "moves",
    doc: "\
The steps that are legal next, at each loop.

`which` is one loop, by level or name, a list of operations, or a number of outer levels:
`moves(l, \"i\")`, `moves(l, [\"tile\", \"interchange\"])`, `moves(l, #{levels: 2})`.

A step is listed if it applies and `check` then proves the nest legal. Vector loops have as
many lanes as are legal; `tile` marks a band whose loops may have any order.

Printed, it is a table. `for m in moves(l)` goes through the steps, `filter(|m| …)` selects
some, `len` counts them, `[k]` is number k, from 0, and `list` is a list of all. For one step,
`m.op` is the operation, `m.at` the loop, `m.loops` all of its loops and `m.text` the call as text;
`m.apply(l)` applies it.",
    call: |call| {
        let nest = call.arg(&NEST)?;
        let reductions = call.workbench().settings.reductions;
        let which = call.arg(&WHICH)?;
        let scope = which.map_or(Ok(Scope::All), |which| scope(call, &nest, &which))?;
        let of = advice::known(&nest, &scope, reductions);
        let of = of.map_err(|why| call.blame(&NEST, &format!("undecided: {why}")))?;
        Ok(Dynamic::from(Listed::new(of)))
    },
};

pub(super) static APPLY: Function = Function {
    name: "apply",
    topic: "results",
    effect: Effect::None,
    params: &[MOVE.any(), NEST.any()],
    returns: "nest",
    doc: "Applies one of the `moves` of a nest, to that nest or to another one.",
    call: |call| {
        let one = call.arg(&MOVE)?;
        let after = one.step().apply(&call.arg(&NEST)?, call.site().as_ref());
        after.map(Dynamic::from).map_err(Failure::operation)
    },
};

/// The scope that an argument selects.
fn scope(call: &Call, nest: &Nest, value: &Dynamic) -> Result<Scope, Failure> {
    if let Some(options) = value.read_lock::<Map>() {
        return levels(call, &options);
    }
    let Some(list) = value.read_lock::<Array>() else {
        let position = conversion::position(call, nest, 1)?;
        let chain = position::chain(nest, &position);
        return Ok(chain
            .last()
            .map_or(Scope::All, |l| Scope::At(l.name.clone())));
    };
    let known = |item: &Dynamic| {
        let name = item.read_lock::<ImmutableString>();
        let found = OPERATIONS
            .into_iter()
            .find(|op| name.as_deref().is_some_and(|n| n == op));
        let names: Vec<String> = OPERATIONS.iter().map(|op| format!("{op:?}")).collect();
        let expected = format!("a list of operations, of {}", names.join(", "));
        found.ok_or_else(|| call.expected_but(&WHICH, &expected, item))
    };
    list.iter()
        .map(known)
        .collect::<Result<_, _>>()
        .map(Scope::Of)
}

/// The outer levels that options name.
fn levels(call: &Call, options: &Map) -> Result<Scope, Failure> {
    let only = options.iter().next().filter(|_| options.len() == 1);
    let levels = only.filter(|(name, _)| *name == "levels");
    let levels = levels.and_then(|(_, value)| usize::try_from(value.as_int().ok()?).ok());
    match levels {
        Some(levels @ 1..) => Ok(Scope::Levels(levels)),
        _ => Err(call.fail(
            &WHICH,
            "must be a loop, a list of operations, or a number of outer levels: `#{levels: 2}`",
        )),
    }
}
