//! The operators of [`transform::OPERATORS`] between tensors: `A + B`, `2 * A`, `-A`. A size is a
//! number as well: `A / n`.
//!
//! Each is registered for the types that it takes and no others, so that everything else keeps
//! the operators that it has: those of indices and those of numbers.
//!
//! `A == B` of two tensors is an error: it may ask for entries or for definitions, and Rhai would say
//! `false` without a word.

use crate::binding::operand_names;
use crate::binding::state::Shared;
use crate::ir::{Expr, Infix, Node};
use crate::messages::fail::Failure;
use crate::transform::tensor::cast::vcast;
use crate::transform::tensor::vindex::vindex;
use crate::transform::{self, Arg, Kind, Number, OPERATORS, Op, Value};
use crate::values::Index;
use rhai::{Dynamic, Engine, EvalAltResult, NativeCallContext};

type Context<'a> = NativeCallContext<'a>;
type Result = std::result::Result<Dynamic, Box<EvalAltResult>>;

/// Registers the operators.
pub fn register(engine: &mut Engine, shared: &Shared) {
    for symbol in ["==", "!="] {
        refused(engine, symbol);
    }
    for &op in OPERATORS {
        let shared = shared.clone();
        let apply = move |c: &Context, args: &[Arg]| apply(op, c, args, &shared);
        if op.params.len() == 1 {
            let on = move |c: Context, a: Expr| apply(&c, &[Arg::Expr(a)]);
            engine.register_fn(op.name, on);
            continue;
        }
        let of_expr = |a: Expr| Arg::Expr(a);
        let of_int = |a: i64| Arg::Number(Number::Int(a));
        let of_float = |a: f64| Arg::Number(Number::Float(a));
        if !is_equality(op.name) {
            let on = apply.clone();
            engine.register_fn(op.name, move |c: Context, a: Expr, b: Expr| {
                on(&c, &[of_expr(a), of_expr(b)])
            });
        }
        if op.params.iter().all(|p| p.kind == Kind::Expr) {
            continue;
        }
        let on = apply.clone();
        engine.register_fn(op.name, move |c: Context, a: Expr, b: i64| {
            on(&c, &[of_expr(a), of_int(b)])
        });
        let on = apply.clone();
        engine.register_fn(op.name, move |c: Context, a: Expr, b: f64| {
            on(&c, &[of_expr(a), of_float(b)])
        });
        let on = apply.clone();
        engine.register_fn(op.name, move |c: Context, a: i64, b: Expr| {
            on(&c, &[of_int(a), of_expr(b)])
        });
        let on = apply.clone();
        engine.register_fn(op.name, move |c: Context, a: f64, b: Expr| {
            on(&c, &[of_float(a), of_expr(b)])
        });
        let on = apply.clone();
        engine.register_fn(op.name, move |c: Context, a: Expr, b: Index| {
            let size = of_sizes(&b, &a).ok_or_else(|| absent(op, "tensor, iterator", &c))?;
            on(&c, &[of_expr(a), of_expr(size)])
        });
        engine.register_fn(op.name, move |c: Context, a: Index, b: Expr| {
            let size = of_sizes(&a, &b).ok_or_else(|| absent(op, "iterator, tensor", &c))?;
            apply(&c, &[of_expr(size), of_expr(b)])
        });
    }
}

/// The value of sizes beside the elements of a tensor, as a number of their type. `None` if the index
/// has iterators: these have many values.
fn of_sizes(index: &Index, beside: &Expr) -> Option<Expr> {
    if index.affine.iterators().next().is_some() {
        return None;
    }
    let value = vindex(&index.affine).ok()?;
    match beside.elem() {
        elem if elem == value.elem() => Some(value),
        elem => vcast(&value, elem, &None).ok(),
    }
}

/// The error of Rhai for types that an operator does not take.
fn absent(op: &Op, types: &str, context: &Context) -> Box<EvalAltResult> {
    let signature = format!("{} ({types})", op.name);
    EvalAltResult::ErrorFunctionNotFound(signature, context.call_position()).into()
}

/// Whether two tensors compared by this operator may be meant as wholes.
fn is_equality(symbol: &str) -> bool {
    matches!(symbol, "==" | "!=")
}

/// A tensor in messages.
fn written(expr: &Expr) -> String {
    match (expr.node(), expr.tensor()) {
        (Node::Virtual { .. }, _) => "…".to_owned(),
        (_, Some(tensor)) if expr.is_assignment() => tensor.label().to_owned(),
        _ => Infix(expr).to_string(),
    }
}

/// Refuses to compare two tensors for equality.
fn refused(engine: &mut Engine, symbol: &'static str) {
    engine.register_fn(symbol, move |c: Context, a: Expr, b: Expr| -> Result {
        let (a, b) = (written(&a), written(&b));
        let failure = Failure::new(format!("`{symbol}` of two tensors has two readings"));
        let failure = failure.help(format!(
            "`vselect({a}, \"{symbol}\", {b}, 1, 0)` compares entries; `equal({a}, {b})` says whether \
             both compute the same, and `close(a, b)` whether results agree"
        ));
        let note = format!("`notation(a) {symbol} notation(b)` compares what they are made of");
        Err(failure.note(note).raise(c.call_position()))
    });
}

fn apply(op: &'static Op, context: &Context, args: &[Arg], shared: &Shared) -> Result {
    let position = context.call_position();
    let args = operand_names::ready(op, args.to_vec(), shared);
    let args = args.map_err(|failure| failure.raise(position))?;
    let site = shared.lock().site(position);
    match transform::apply(op, &args, site.clone()) {
        Ok(Value::Expr(expr)) => {
            let expr = operand_names::noted(expr, site, shared);
            Ok(Dynamic::from(expr))
        }
        Ok(Value::Nest(nest)) => Ok(Dynamic::from(nest)),
        Err(error) => Err(Failure::operation(error).raise(position)),
    }
}
