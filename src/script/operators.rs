//! The operators of [`transform::OPERATORS`] between tensors: `A + B`, `2 * A`, `-A`.
//!
//! Each is registered for the types that it takes and no others, so that everything else keeps
//! the operators that it has: those of indices and those of numbers.

use super::fail::Failure;
use super::state::Shared;
use crate::ir::Expr;
use crate::transform::{self, Arg, Number, OPERATORS, Op, Value};
use rhai::{Dynamic, Engine, EvalAltResult, NativeCallContext};

type Context<'a> = NativeCallContext<'a>;
type Result = std::result::Result<Dynamic, Box<EvalAltResult>>;

/// Registers the operators.
pub fn register(engine: &mut Engine, shared: &Shared) {
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
        let on = apply.clone();
        engine.register_fn(op.name, move |c: Context, a: Expr, b: Expr| {
            on(&c, &[of_expr(a), of_expr(b)])
        });
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
        engine.register_fn(op.name, move |c: Context, a: f64, b: Expr| {
            apply(&c, &[of_float(a), of_expr(b)])
        });
    }
}

fn apply(op: &'static Op, context: &Context, args: &[Arg], shared: &Shared) -> Result {
    let position = context.call_position();
    let site = shared.lock().site(position);
    match transform::apply(op, args, site) {
        Ok(Value::Expr(expr)) => Ok(Dynamic::from(expr)),
        Ok(Value::Nest(nest)) => Ok(Dynamic::from(nest)),
        Err(error) => Err(Failure::operation(error).raise(position)),
    }
}
