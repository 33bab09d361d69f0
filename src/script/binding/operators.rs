//! The operators of [`transform::OPERATORS`] between tensors: `A + B`, `2 * A`, `-A`.
//!
//! Each is registered for the types that it takes and no others, so that everything else keeps
//! the operators that it has: those of indices and those of numbers.
//!
//! Comparisons of tensors are errors: Rhai would say `false` without a word.

use crate::binding::operand_names;
use crate::binding::state::Shared;
use crate::ir::{Comparison, Expr, Infix, Node};
use crate::messages::fail::Failure;
use crate::transform::{self, Arg, Number, OPERATORS, Op, Value};
use rhai::{Dynamic, Engine, EvalAltResult, NativeCallContext};

type Context<'a> = NativeCallContext<'a>;
type Result = std::result::Result<Dynamic, Box<EvalAltResult>>;

/// Registers the operators.
pub fn register(engine: &mut Engine, shared: &Shared) {
    comparisons(engine);
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

/// A value that can be compared with a tensor, and its text in messages.
trait Written: Clone + Send + Sync + 'static {
    fn written(&self) -> String;
}

impl Written for i64 {
    fn written(&self) -> String {
        self.to_string()
    }
}

impl Written for f64 {
    fn written(&self) -> String {
        format!("{self:?}")
    }
}

impl Written for Expr {
    fn written(&self) -> String {
        match (self.node(), self.tensor()) {
            (Node::Virtual { .. }, _) => "…".to_owned(),
            (_, Some(tensor)) if self.is_assignment() => tensor.label().to_owned(),
            _ => Infix(self).to_string(),
        }
    }
}

/// Refuses the comparisons of values of these types.
fn refused<A: Written, B: Written>(engine: &mut Engine, comparison: Comparison) {
    let symbol = comparison.symbol();
    engine.register_fn(symbol, move |c: Context, a: A, b: B| {
        let (a, b) = (a.written(), b.written());
        let failure = Failure::new(format!("`{symbol}` does not compare the elements of tensors")).help(format!(
            "`vselect({a}, \"{symbol}\", {b}, 1, 0)` is an expression with the answer for each element"
        ));
        let is_text = matches!(symbol, "==" | "!=");
        let failure = if is_text { failure.note(format!("`notation(a) {symbol} notation(b)` compares what they are made of")) } else { failure };
        std::result::Result::<bool, Box<EvalAltResult>>::Err(failure.raise(c.call_position()))
    });
}

fn comparisons(engine: &mut Engine) {
    for comparison in Comparison::ALL {
        refused::<Expr, Expr>(engine, comparison);
        refused::<Expr, i64>(engine, comparison);
        refused::<Expr, f64>(engine, comparison);
        refused::<i64, Expr>(engine, comparison);
        refused::<f64, Expr>(engine, comparison);
    }
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
