//! Paths as JSON.
//!
//! A path is a list of steps `{"op": …, "args": […], "at": "FILE:LINE"}`. A step of a call of the
//! library has this call as `"of"`. Arguments are numbers, `{"loop": "i"}` or `{"level": 1}`,
//! `{"loops": […]}`, `{"word": "cut"}`, `{"order": [2, 1]}`, `{"expr": TEXT}` with the canonical
//! text of an expression, `{"nest": PATH}`, `{"steps": PATH}`, `{"options": {…}}`, and
//! `{"operator": {"name": …, "types": […], "values": [TEXT], "identity": [TEXT]}}`. All others are
//! texts as scripts write them. A step that begins with an operator is the nest that it makes, as a
//! text.

use super::NoTrace;
use super::replay::one_step;
use crate::ir::{
    Arg, Constant, Effects, Elem, Expr, LoopRef, Name, Nest, Operator, Path, Step, parse_expr,
};
use crate::operation;
use crate::tensor::with_shapes;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The path of `nest` as JSON.
///
/// # Errors
/// The steps that made the nest, or a nest in an argument, are not known.
pub fn to_json(nest: &Nest) -> Result<String, NoTrace> {
    let value = path_value(nest.path())?;
    serde_json::to_string_pretty(&value).map_err(|e| NoTrace::Unreadable(e.to_string()))
}

fn path_value(path: &Path) -> Result<Value, NoTrace> {
    if path.is_empty() {
        return Err(NoTrace::Unknown);
    }
    let steps = path.steps();
    let steps: Result<Vec<Value>, NoTrace> = steps.iter().map(step_value).collect();
    Ok(Value::Array(steps?))
}

fn step_value(step: &Arc<Step>) -> Result<Value, NoTrace> {
    if let [Arg::Operator(_), ..] = step.args[..] {
        let made = one_step(None, 1, step)?.to_string();
        return step_value(&Arc::new(Step {
            op: "nest",
            args: vec![Arg::Word(made)],
            site: step.site.clone(),
        }));
    }
    let args: Result<Vec<Value>, NoTrace> = step.args.iter().map(arg_value).collect();
    let at = step.site.as_ref().map(ToString::to_string);
    let mut value = json!({ "op": step.op, "args": args?, "at": at });
    if let (Some(call), Some(value)) = (step.invocation(), value.as_object_mut()) {
        value.insert("of".to_owned(), json!(call.to_string()));
    }
    Ok(value)
}

fn arg_value(arg: &Arg) -> Result<Value, NoTrace> {
    Ok(match arg {
        Arg::Int(value) => json!(value),
        Arg::Flag(flag) => json!(flag),
        Arg::Loop(l) => loop_value(l),
        Arg::Loops(loops) => {
            let loops: Vec<Value> = loops.iter().map(loop_value).collect();
            json!({ "loops": loops })
        }
        Arg::Word(word) => json!({ "word": word }),
        Arg::Order(order) => json!({ "order": order }),
        Arg::Expr(expr) => json!({ "expr": expr.to_string() }),
        Arg::Nest(nest) => json!({ "nest": path_value(nest.path())? }),
        Arg::Steps(path) => json!({ "steps": path_value(path)? }),
        Arg::Options(options) => {
            let options = options.iter();
            let values: Result<Map<String, Value>, NoTrace> = options
                .map(|(name, value)| Ok((name.clone(), arg_value(value)?)))
                .collect();
            json!({ "options": values? })
        }
        Arg::Operator(operator) => {
            let elems = operator.left.iter().map(|t| t.elem().name());
            let values = operator.values.iter().map(Expr::to_string);
            let identity = operator.identity.iter().map(Constant::to_string);
            json!({ "operator": {
                "name": operator.name.as_str(),
                "types": elems.collect::<Vec<_>>(),
                "values": values.collect::<Vec<_>>(),
                "identity": identity.collect::<Vec<_>>(),
            } })
        }
        other => json!(other.script()),
    })
}

fn operator_of(value: &Value) -> Option<Operator> {
    let texts = |key: &str| -> Option<Vec<&str>> {
        value[key].as_array()?.iter().map(Value::as_str).collect()
    };
    let elems = texts("types")?.into_iter().map(Elem::from_name);
    let elems = elems.collect::<Option<Vec<Elem>>>()?;
    let values = texts("values")?.into_iter();
    let values = values.map(|text| with_shapes(&parse_expr(text).ok()?).ok());
    let identity = texts("identity")?.into_iter().zip(&elems);
    Some(Operator {
        name: Name::new(value["name"].as_str()?).ok()?,
        left: Operator::operand("a", &elems),
        right: Operator::operand("b", &elems),
        values: values.collect::<Option<_>>()?,
        identity: identity
            .map(|(text, elem)| Constant::parse(*elem, text))
            .collect::<Option<_>>()?,
    })
}

fn loop_value(l: &LoopRef) -> Value {
    match l {
        LoopRef::Level(level) => json!({ "level": level }),
        LoopRef::Name(name) => json!({ "loop": name }),
    }
}

/// Builds the nest of a path in JSON.
///
/// # Errors
/// The text is not a path, or a step does not apply.
pub fn from_json(text: &str) -> Result<Nest, NoTrace> {
    let value: Value =
        serde_json::from_str(text).map_err(|e| NoTrace::Unreadable(e.to_string()))?;
    nest_of(&value)
}

fn nest_of(path: &Value) -> Result<Nest, NoTrace> {
    let steps = path
        .as_array()
        .ok_or_else(|| unreadable("a path is a list of steps", path))?;
    let mut nest = None;
    for (k, step) in steps.iter().enumerate() {
        nest = Some(one_step(nest, k + 1, &Arc::new(step_of(step)?))?);
    }
    nest.ok_or(NoTrace::Unknown)
}

fn step_of(value: &Value) -> Result<Step, NoTrace> {
    let name = value["op"]
        .as_str()
        .ok_or_else(|| unreadable("a step has an `op`", value))?;
    let op = operation(name)
        .ok_or_else(|| unreadable("there is no such operation", &value["op"]))?
        .name;
    let args = value["args"]
        .as_array()
        .ok_or_else(|| unreadable("a step has `args`", value))?;
    let args: Result<Vec<Arg>, NoTrace> = args.iter().map(arg_of).collect();
    Ok(Step {
        op,
        args: args?,
        site: None,
    })
}

fn arg_of(value: &Value) -> Result<Arg, NoTrace> {
    if let Some(number) = value.as_i64() {
        return Ok(Arg::Int(number));
    }
    if let Some(flag) = value.as_bool() {
        return Ok(Arg::Flag(flag));
    }
    if let Some(l) = loop_of(value) {
        return Ok(Arg::Loop(l));
    }
    if let Some(loops) = value["loops"].as_array() {
        let loops: Option<Vec<LoopRef>> = loops.iter().map(loop_of).collect();
        let loops = loops.ok_or_else(|| unreadable("a list of loops holds something else", value));
        return loops.map(Arg::Loops);
    }
    if let Some(word) = value["word"].as_str() {
        return Ok(Arg::Word(word.to_owned()));
    }
    if let Some(order) = value["order"].as_array() {
        let order: Option<Vec<i64>> = order.iter().map(Value::as_i64).collect();
        let order = order.ok_or_else(|| unreadable("an order lists dimensions", value));
        return order.map(Arg::Order);
    }
    if let Some(text) = value["expr"].as_str() {
        let expr = parse_expr(text).map_err(|e| NoTrace::Unreadable(e.to_string()))?;
        let expr = with_shapes(&expr).map_err(|e| NoTrace::Unreadable(e.to_string()))?;
        return Ok(Arg::Expr(expr));
    }
    if let Some(steps) = value["steps"].as_array() {
        let steps = steps.iter().map(step_of);
        let path = steps
            .map(|s| s.map(Arc::new))
            .try_fold(Path::default(), |path, step| {
                step.map(|step| path.then(step, Effects::default()))
            });
        return path.map(Arg::Steps);
    }
    if let Some(options) = value["options"].as_object() {
        let options = options.iter();
        let values = options.map(|(name, value)| Ok((name.clone(), arg_of(value)?)));
        return values.collect::<Result<_, _>>().map(Arg::Options);
    }
    if let Some(operator) = value.get("operator") {
        let operator = operator_of(operator);
        let operator = operator.ok_or_else(|| {
            unreadable(
                "an operator has a name, types, values and an identity",
                value,
            )
        });
        return operator.map(|operator| Arg::Operator(Arc::new(operator)));
    }
    match value.get("nest") {
        Some(path) => Ok(Arg::Nest(nest_of(path)?)),
        None => Err(unreadable("no argument of a step looks like this", value)),
    }
}

fn loop_of(value: &Value) -> Option<LoopRef> {
    let level = value["level"].as_i64().map(LoopRef::Level);
    level.or_else(|| Some(LoopRef::Name(value["loop"].as_str()?.to_owned())))
}

fn unreadable(what: &str, value: &Value) -> NoTrace {
    NoTrace::Unreadable(format!("{what}: {value}"))
}
