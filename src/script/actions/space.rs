//! Spaces of parameters, as scripts write them: maps of lists, ranges and functions.

use crate::binding::call::Call;
use crate::binding::ranges::IterRange;
use crate::messages::fail::Failure;
use crate::tune::{Constraint, Domain, Halt, Parameter, Point, Space, Value};
use crate::values;
use rhai::{Array, Dynamic, EvalAltResult, FnPtr, ImmutableString, Map};
use std::cell::RefCell;

/// Describes a space in messages.
const SPACE: &str = "a map of parameters such as `#{rows: [2, 4, 8], packs: [true, false]}`";

/// Describes the values of a parameter in messages.
const VALUES: &str = "a list of values, a range, or a function of the parameters before it";

/// Lists are long enough then: a search sees a part of them.
const MOST: i64 = 1 << 20;

/// The first failure of a function of a space or of its variants: the reason of a [`Halt`].
pub(super) type Failed = RefCell<Option<Failure>>;

/// The space that argument `k` of a call describes, where all `constraints` hold.
///
/// # Errors
/// It is not a space.
pub(super) fn space<'a>(
    call: &'a Call<'_>,
    k: usize,
    constraints: Vec<FnPtr>,
    failed: &'a Failed,
) -> Result<Space<'a>, Failure> {
    let map: Map = call.get(k, SPACE)?;
    let mut parameters = Vec::new();
    let mut functions: Vec<(String, FnPtr)> = Vec::new();
    for (name, given) in &map {
        if let Some(function) = given.read_lock::<FnPtr>() {
            functions.push((name.to_string(), function.clone()));
            continue;
        }
        let values = listed(call, k, name, given)?;
        if values.is_empty() {
            return Err(empty(call, k, name));
        }
        parameters.push(Parameter {
            name: name.to_string(),
            domain: Domain::Listed(values),
        });
    }
    // Points that show which functions need which parameters.
    let mut samples = samples(&parameters);
    while !functions.is_empty() {
        let (mut missing, mut later, count) = (None, Vec::new(), functions.len());
        for (name, function) in functions {
            let asked = samples.iter().map(|sample| {
                let point = Dynamic::from(sample.clone());
                function.call_raw(call.context(), None, [point])
            });
            match asked.collect::<Result<Vec<Dynamic>, _>>() {
                Ok(given) => {
                    // Points without values for a parameter do not belong to the space.
                    let mut left = Vec::new();
                    for (mut sample, given) in samples.into_iter().zip(given) {
                        if let Some(first) = listed(call, k, &name, &given)?.first() {
                            sample.insert(name.as_str().into(), dynamic(first));
                            left.push(sample);
                        }
                    }
                    samples = left;
                    if samples.is_empty() {
                        return Err(empty(call, k, &name));
                    }
                    parameters.push(dependent(call, k, name, function, failed));
                }
                Err(error) if lacks_property(&error) => {
                    missing = Some(error);
                    later.push((name, function));
                }
                Err(error) => return Err(Failure::inside(error)),
            }
        }
        // Functions that need each other, or a misspelt name.
        if let Some(error) = missing.filter(|_| later.len() == count) {
            return Err(Failure::inside(error));
        }
        functions = later;
    }
    let constraint = |function: FnPtr| -> Constraint<'a> {
        Box::new(move |point| {
            let asked = function.call_raw(call.context(), None, [Dynamic::from(to_map(point))]);
            let holds = asked.map_err(Failure::inside).and_then(|answer| {
                let expected = "must have constraints that are true or false";
                answer.as_bool().map_err(|_| call.fail(2, expected))
            });
            holds.map_err(|failure| halt(failed, failure))
        })
    };
    Ok(Space::new(
        parameters,
        constraints.into_iter().map(constraint).collect(),
    ))
}

/// A point of the first values, and others that differ from it in one of the first parameters.
fn samples(parameters: &[Parameter<'_>]) -> Vec<Map> {
    const MOST: usize = 64;
    let listed = parameters.iter().filter_map(|p| match &p.domain {
        Domain::Listed(values) => Some((p.name.as_str(), values)),
        Domain::Dependent(_) => None,
    });
    let listed: Vec<(&str, &Vec<Value>)> = listed.collect();
    let first = |(name, values): &(&str, &Vec<Value>)| {
        values.first().map(|value| ((*name).into(), dynamic(value)))
    };
    let base: Map = listed.iter().filter_map(first).collect();
    let others = listed.iter().flat_map(|(name, values)| {
        let other = |value: &Value| {
            let mut sample = base.clone();
            sample.insert((*name).into(), dynamic(value));
            sample
        };
        values.iter().skip(1).map(other).collect::<Vec<Map>>()
    });
    std::iter::once(base.clone())
        .chain(others)
        .take(MOST)
        .collect()
}

fn dependent<'a>(
    call: &'a Call<'_>,
    k: usize,
    name: String,
    function: FnPtr,
    failed: &'a Failed,
) -> Parameter<'a> {
    let own = name.clone();
    let of = move |point: &Point| {
        let asked = function.call_raw(call.context(), None, [Dynamic::from(to_map(point))]);
        let values = asked.map_err(Failure::inside);
        let values = values.and_then(|given| listed(call, k, &own, &given));
        values.map_err(|failure| halt(failed, failure))
    };
    Parameter {
        name,
        domain: Domain::Dependent(Box::new(of)),
    }
}

/// Keeps the first failure.
pub(super) fn halt(failed: &Failed, failure: Failure) -> Halt {
    failed.borrow_mut().get_or_insert(failure);
    Halt
}

fn empty(call: &Call, k: usize, name: &str) -> Failure {
    call.fail(k, &format!("has the parameter `{name}` without values"))
}

fn lacks_property(error: &EvalAltResult) -> bool {
    match error {
        EvalAltResult::ErrorInFunctionCall(_, _, inner, _) => lacks_property(inner),
        EvalAltResult::ErrorPropertyNotFound(..) => true,
        _ => false,
    }
}

/// The values that a list, a range, or a single value is.
fn listed(call: &Call, k: usize, name: &str, given: &Dynamic) -> Result<Vec<Value>, Failure> {
    let wrong = || {
        let given = values::describe(given);
        let what = format!("has the parameter `{name}`, which must be {VALUES}, not {given}");
        call.fail(k, &what)
    };
    let range = |low: i64, high: i64, step: i64| {
        let count = (high.saturating_sub(low)).max(0) / step.max(1);
        let step = usize::try_from(step).unwrap_or(1);
        if count <= MOST {
            Ok((low..high).step_by(step).map(Value::Int).collect())
        } else {
            Err(wrong())
        }
    };
    if let Some(list) = given.read_lock::<Array>() {
        return list
            .iter()
            .map(|item| value(item).ok_or_else(wrong))
            .collect();
    }
    if let Some(r) = given.read_lock::<std::ops::Range<i64>>() {
        return range(r.start, r.end, 1);
    }
    if let Some(r) = given.read_lock::<std::ops::RangeInclusive<i64>>() {
        return range(*r.start(), r.end().saturating_add(1), 1);
    }
    if let Some(r) = given.read_lock::<IterRange>() {
        let (low, high) = r.0.as_constant().ok_or_else(wrong)?;
        return range(low, high, r.0.step);
    }
    value(given).map(|value| vec![value]).ok_or_else(wrong)
}

/// A value that a point can hold.
fn value(given: &Dynamic) -> Option<Value> {
    if let Ok(on) = given.as_bool() {
        return Some(Value::Bool(on));
    }
    if let Ok(number) = given.as_int() {
        return Some(Value::Int(number));
    }
    if let Ok(number) = given.as_float() {
        return Some(Value::Float(number));
    }
    if let Some(text) = given.read_lock::<ImmutableString>() {
        return Some(Value::Text(text.to_string()));
    }
    if let Some(list) = given.read_lock::<Array>() {
        let values: Option<Vec<Value>> = list.iter().map(value).collect();
        return values.map(Value::List);
    }
    let map = given.read_lock::<Map>()?;
    let values = map.iter().map(|(k, v)| Some((k.to_string(), value(v)?)));
    values.collect::<Option<_>>().map(Value::Map)
}

/// A value as scripts see it.
pub(super) fn dynamic(value: &Value) -> Dynamic {
    match value {
        Value::Bool(on) => Dynamic::from_bool(*on),
        Value::Int(number) => Dynamic::from_int(*number),
        Value::Float(number) => Dynamic::from_float(*number),
        Value::Text(text) => text.into(),
        Value::List(values) => Dynamic::from_array(values.iter().map(dynamic).collect()),
        Value::Map(values) => {
            let map: Map = values
                .iter()
                .map(|(k, v)| (k.as_str().into(), dynamic(v)))
                .collect();
            map.into()
        }
    }
}

/// A point as scripts see it.
pub(super) fn to_map(point: &Point) -> Map {
    let values = point.iter();
    values
        .map(|(name, value)| (name.as_str().into(), dynamic(value)))
        .collect()
}
