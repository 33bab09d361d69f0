//! Fields of expressions and nests: `e.op`, `e.operands[0].shape`, `plan.body[0].name`.

use super::open::{field_of_expr, fields_of_expr, of_nest};
use crate::ir::{Expr, Nest, closest};
use crate::messages::fail::Failure;
use rhai::{Dynamic, Engine, EvalAltResult, Map, NativeCallContext};

/// The fields of expressions: each kind has some of them.
const EXPRESSION: &[&str] = &[
    "kind",
    "name",
    "elem",
    "shape",
    "op",
    "operands",
    "iterators",
    "ranges",
    "comparison",
    "target",
    "value",
    "elsewhere",
    "pieces",
    "otherwise",
    "indices",
    "index",
    "tensor",
];

/// The fields of nests.
const NEST: &[&str] = &["kind", "body"];

/// Registers the fields as properties.
pub fn register(engine: &mut Engine) {
    type Fallible = Result<Dynamic, Box<EvalAltResult>>;
    for field in EXPRESSION {
        engine.register_get(
            *field,
            move |context: NativeCallContext, expr: &mut Expr| -> Fallible {
                let found = field_of_expr(expr, field).ok_or_else(|| absent(expr, field));
                found.map_err(|failure| failure.raise(context.call_position()))
            },
        );
    }
    for field in NEST {
        engine.register_get(*field, move |nest: &mut Nest| field_of_nest(nest, field));
    }
}

/// A field of an expression or a nest.
pub fn field_of(value: &Dynamic, field: &str) -> Option<Dynamic> {
    if let Some(expr) = value.read_lock::<Expr>() {
        return field_of_expr(&expr, field);
    }
    let nest = value.read_lock::<Nest>()?;
    NEST.contains(&field).then(|| field_of_nest(&nest, field))
}

/// The names of the fields of an expression or a nest.
pub fn fields_of(value: &Dynamic) -> Vec<String> {
    if let Some(expr) = value.read_lock::<Expr>() {
        return fields_of_expr(&expr);
    }
    let names = if value.is::<Nest>() { NEST } else { &[] };
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn field_of_nest(nest: &Nest, field: &str) -> Dynamic {
    let map = of_nest(nest).try_cast::<Map>().unwrap_or_default();
    map.get(field).cloned().unwrap_or(Dynamic::UNIT)
}

/// Whether scripts read a field of this name.
pub fn is_field(name: &str) -> bool {
    EXPRESSION.contains(&name) || NEST.contains(&name)
}

/// The field whose name is the closest, if one is close.
pub fn similar_field(name: &str) -> Option<&'static str> {
    closest(name, EXPRESSION.iter().chain(NEST).copied())
}

/// The failure for a field that other kinds of expressions have.
fn absent(expr: &Expr, field: &str) -> Failure {
    let kind = field_of_expr(expr, "kind").and_then(|kind| kind.into_string().ok());
    let kind = kind.unwrap_or_default();
    let own = fields_of_expr(expr).join(", ");
    Failure::new(format!(
        "an expression of the kind {kind} has no field `{field}`"
    ))
    .help(format!("it has {own}"))
}
