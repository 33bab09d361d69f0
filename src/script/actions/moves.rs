//! `moves`: which steps are legal next, as a value.

use super::{Shown, register_shown};
use crate::advice::{self, Move, Moves, OPERATIONS, Scope};
use crate::analysis::position;
use crate::call::{Call, Effect, Function, Parameter};
use crate::conversion;
use crate::fail::Failure;
use crate::ir::Nest;
use crate::report;
use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, ImmutableString, Map, NativeCallContext};
use std::sync::Arc;

/// Moves of a nest, as scripts see them.
#[derive(Clone)]
pub struct Listed {
    of: Arc<Moves>,
    /// The indices of the moves in this selection.
    kept: Vec<usize>,
}

/// One move of a selection.
#[derive(Clone)]
pub struct One {
    of: Arc<Moves>,
    number: usize,
}

pub static MOVES: Function = Function {
    name: "moves",
    topic: "results",
    effect: Effect::None,
    params: &[Parameter::new("nest"), Parameter::optional("which")],
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
        let nest = call.nest(0)?;
        let reductions = call.workbench().settings.reductions;
        let scope = match call.count() {
            1 => Scope::All,
            _ => scope(call, &nest)?,
        };
        let of = advice::known(&nest, &scope, reductions);
        let of = of.map_err(|why| call.refuse(&format!("undecided: {why}")).argument(0))?;
        let kept = (0..of.list.len()).collect();
        Ok(Dynamic::from(Listed { of, kept }))
    },
};

pub(super) static APPLY: Function = Function {
    name: "apply",
    topic: "results",
    effect: Effect::None,
    params: &[Parameter::new("move"), Parameter::new("nest")],
    returns: "nest",
    doc: "Applies one of the `moves` of a nest, to that nest or to another one.",
    call: |call| {
        let one: One = call.get(0, "one of the moves that `moves` lists")?;
        let after = one.step().apply(&call.nest(1)?, call.site().as_ref());
        after.map(Dynamic::from).map_err(Failure::operation)
    },
};

/// The scope that argument 1 selects.
fn scope(call: &Call, nest: &Nest) -> Result<Scope, Failure> {
    let value = call.value(1).unwrap_or_default();
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
        found.ok_or_else(|| call.expected_but(1, &expected, item))
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
            1,
            "must be a loop, a list of operations, or a number of outer levels: `#{levels: 2}`",
        )),
    }
}

impl One {
    /// The call.
    pub fn text(&self) -> String {
        self.step().call.clone()
    }

    fn step(&self) -> &Move {
        &self.of.list[self.number]
    }
}

impl Listed {
    fn one(&self, number: usize) -> One {
        let of = self.of.clone();
        One { of, number }
    }

    fn all(&self) -> Vec<Dynamic> {
        let all = self.kept.iter().map(|k| Dynamic::from(self.one(*k)));
        all.collect()
    }

    /// How many there are, in words.
    pub fn summary(&self) -> String {
        match self.kept.len() {
            1 => "1 move".to_owned(),
            count => format!("{count} moves"),
        }
    }

    /// The moves that these are of.
    pub fn all_moves(&self) -> Arc<Moves> {
        self.of.clone()
    }

    /// One row per loop.
    pub fn table(&self) -> String {
        let list: Vec<&Move> = self.kept.iter().map(|k| &self.of.list[*k]).collect();
        report::moves(&self.of, &list, &|_| None)
    }
}

/// The printing and the properties of moves.
pub fn register(engine: &mut Engine) {
    type Result<T> = std::result::Result<T, Box<EvalAltResult>>;
    register_shown::<One>(engine);
    register_shown::<Listed>(engine);
    engine
        .register_get("op", |m: &mut One| m.step().op)
        .register_get("at", |m: &mut One| m.step().at.to_string())
        .register_get("text", |m: &mut One| m.text())
        .register_get("loops", |m: &mut One| -> Array {
            let loops = m.step().loops().into_iter();
            loops.map(|name| Dynamic::from(name.to_owned())).collect()
        });
    engine
        .register_iterator::<Listed>()
        .register_get("list", |m: &mut Listed| m.all())
        .register_get("len", |m: &mut Listed| m.kept.len() as i64)
        .register_fn("len", |m: &mut Listed| m.kept.len() as i64)
        .register_indexer_get(|m: &mut Listed, k: i64| -> Result<One> {
            let kept = usize::try_from(k).ok().and_then(|k| m.kept.get(k));
            let outside = || EvalAltResult::ErrorArrayBounds(m.kept.len(), k, rhai::Position::NONE);
            kept.map(|k| m.one(*k)).ok_or_else(|| outside().into())
        })
        .register_fn(
            "filter",
            |context: NativeCallContext, m: &mut Listed, keep: FnPtr| -> Result<Listed> {
                let mut kept = Vec::new();
                for k in &m.kept {
                    let one = Dynamic::from(m.one(*k));
                    if keep
                        .call_raw(&context, None, [one])?
                        .as_bool()
                        .unwrap_or(false)
                    {
                        kept.push(*k);
                    }
                }
                let of = m.of.clone();
                Ok(Listed { of, kept })
            },
        );
}

impl IntoIterator for Listed {
    type Item = Dynamic;
    type IntoIter = std::vec::IntoIter<Dynamic>;

    fn into_iter(self) -> Self::IntoIter {
        self.all().into_iter()
    }
}

impl Shown for One {
    const NAME: &'static str = "move";

    fn full(&self) -> String {
        self.text()
    }

    fn brief(&self) -> String {
        self.text()
    }
}

impl Shown for Listed {
    const NAME: &'static str = "moves";

    fn full(&self) -> String {
        self.table()
    }

    fn brief(&self) -> String {
        self.summary()
    }
}
