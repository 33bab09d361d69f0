//! Arguments of operations, as scripts write them.
//!
//! A handle becomes the name of its loop before an operation sees it. So paths contain names, can
//! be printed, and replay.

use crate::analysis::position::{self, Position};
use crate::binding::call::Call;
use crate::binding::captured;
use crate::binding::indices::{self, ITERATORS, iter_lists, iters, optional_iters};
use crate::binding::ranges::RANGES;
use crate::ir::{Affine, Comparison, Elem, Expr, Name, Nest, Number, Operator, Path};
use crate::messages::fail::Failure;
use crate::messages::habits;
use crate::transform::nest::at::{AT, focus};
use crate::transform::{Arg, Arrow, Kind, LoopRef, Param, closest};
use crate::values::{self, Handle, Index, RawArrow};
use rhai::{Array, Dynamic, FnPtr, Identifier, ImmutableString, Map, Position as Place};
use std::sync::Arc;

const TENSOR_OR_NAME: &str = "a tensor, or the name of one such as `\"A\"`";
const OPERAND: &str = "a tensor or a number";
const INDEX: &str = "an index expression such as `2*i + j`";
const CONDITION: &str = "a condition such as `\"N <= 32\"`, or values of sizes such as `#{N: 4}`";
const PLACE: &str = "an index expression such as `8*iter(\"k\") + 8`, or its text";
const LISTS: &str = "a list of iterator lists such as `[[i, k], [k, j]]`";
const OVER: &str = "a list of iterators such as `[i, j]`, or of dimensions such as `[1, 2]`";
const ARROW: &str = "`[i, j] -> [j, i]`, or a list of iterators alone";
const LISTS_ARROW: &str = "an arrow such as `[[i, k], [k, j]] -> [i, j]`";

/// Argument `k` as its parameter wants it.
pub fn convert(call: &Call, k: usize, kind: Kind) -> Result<Arg, Failure> {
    match kind {
        Kind::Nest => call.nest(k).map(Arg::Nest),
        Kind::Expr => call.expr(k).map(Arg::Expr),
        Kind::Exprs => {
            let expected = "a list of assignments such as `[eq(A, [i] -> [i])]`";
            let list: Array = call.get(k, expected)?;
            let expr = |item: &Dynamic| {
                let expr = item.read_lock::<Expr>().map(|expr| expr.clone());
                expr.ok_or_else(|| call.expected_but(k, expected, item))
            };
            list.iter()
                .map(expr)
                .collect::<Result<_, _>>()
                .map(Arg::Exprs)
        }
        Kind::Tensor => match handle(call, k)?.map_or_else(
            || call.get::<ImmutableString>(k, ""),
            |name| Ok(name.as_str().into()),
        ) {
            Ok(name) => Ok(Arg::Word(name.to_string())),
            Err(_) => call.get::<Expr>(k, TENSOR_OR_NAME).map(Arg::Expr),
        },
        Kind::Operand => {
            let value = value(call, k, OPERAND)?;
            if let Some(number) = number(&value) {
                return Ok(Arg::Number(number));
            }
            call.get::<Expr>(k, OPERAND).map(Arg::Expr)
        }
        Kind::Operands => {
            let expected = "a list of tensors and numbers such as `[vat(A, [i, j]), 1]`";
            let list: Array = call.get(k, expected)?;
            let operand = |item: &Dynamic| {
                if let Some(number) = number(item) {
                    return Ok(Arg::Number(number));
                }
                let expr = item.read_lock::<Expr>().map(|expr| expr.clone());
                let expr = expr.ok_or_else(|| call.expected_but(k, expected, item))?;
                Ok(Arg::Expr(expr))
            };
            let operands: Result<Vec<Arg>, Failure> = list.iter().map(operand).collect();
            operands.map(Arg::Operands)
        }
        Kind::Operator => {
            let operator: Operator = call.get(k, "an operator: `operator(…)` makes one")?;
            Ok(Arg::Operator(Arc::new(operator)))
        }
        Kind::Number => {
            let given = call.value(k).and_then(|value| number(&value));
            let number = given.ok_or_else(|| call.expected(k, "a number"))?;
            Ok(Arg::Number(number))
        }
        Kind::Comparison => {
            let symbols = Comparison::ALL.map(|c| format!("\"{}\"", c.symbol()));
            let expected = format!("a comparison: {}", symbols.join(", "));
            let text: ImmutableString = call.get(k, &expected)?;
            let comparison = Comparison::ALL.into_iter().find(|c| c.symbol() == text);
            let comparison = comparison.ok_or_else(|| call.expected(k, &expected))?;
            Ok(Arg::Comparison(comparison))
        }
        Kind::Loop => loop_ref(call, k).map(Arg::Loop),
        Kind::LoopOrLoops => {
            if let Some(value) = call.value(k)
                && as_loop(call, k, &value)?.is_some()
            {
                return loop_ref(call, k).map(Arg::Loop);
            }
            let expected = "a loop, or a list of loops such as `[\"k\", \"i\"]`";
            loops(call, k, expected).map(Arg::Loops)
        }
        Kind::Loops => {
            let expected = "a list of loops such as `[\"k\", \"i\"]`";
            loops(call, k, expected).map(Arg::Loops)
        }
        Kind::Word(words) => {
            let words: Vec<String> = words.iter().map(|w| format!("{w:?}")).collect();
            let expected = format!("one of {}", words.join(", "));
            let word: ImmutableString = call.get(k, &expected)?;
            Ok(Arg::Word(word.to_string()))
        }
        Kind::Text => {
            let text: ImmutableString = call.get(k, "a text")?;
            Ok(Arg::Word(text.to_string()))
        }
        Kind::Place => {
            let value = value(call, k, PLACE)?;
            if let Some(text) = value.read_lock::<ImmutableString>() {
                return Ok(Arg::Word(text.to_string()));
            }
            let index = index_of(call, k, &value)?.ok_or_else(|| call.expected(k, PLACE))?;
            Ok(Arg::Word(index.to_string()))
        }
        Kind::Condition => {
            let value = value(call, k, CONDITION)?;
            if let Some(text) = value.read_lock::<ImmutableString>() {
                return Ok(Arg::Word(text.to_string()));
            }
            let map: Map = call.get(k, CONDITION)?;
            let equal = |(name, value): (&Identifier, &Dynamic)| {
                let value = value.as_int();
                let value = value.map_err(|_| call.expected(k, CONDITION))?;
                Ok(format!("{name} == {value}"))
            };
            let all: Result<Vec<String>, Failure> = map.iter().map(equal).collect();
            Ok(Arg::Word(all?.join(" && ")))
        }
        Kind::Options(known) => options(call, k, known).map(Arg::Options),
        Kind::Factors => {
            let expected = "a map of integers by the names of loops, such as `#{t: 2}`";
            let map: Map = call.get(k, expected)?;
            let factor = |(name, value): (&Identifier, &Dynamic)| {
                let factor = value.as_int().map(Arg::Int);
                let factor = factor.map_err(|_| call.expected_but(k, expected, value))?;
                Ok((name.to_string(), factor))
            };
            let factors: Result<_, Failure> = map.iter().map(factor).collect();
            factors.map(Arg::Options)
        }
        Kind::Flag => {
            let flag: bool = call.get(k, "`true` or `false`")?;
            Ok(Arg::Flag(flag))
        }
        Kind::Ranges => Err(call.expected(k, RANGES)),
        Kind::Int => call.int(k).map(Arg::Int),
        Kind::Steps => steps(call, k).map(Arg::Steps),
        Kind::Extents => {
            let expected = "a list of extents such as `[250, 250]`";
            let list: Array = call.get(k, expected).map_err(|failure| match call.int(k) {
                Ok(n) => failure.help(match call.int(k + 1) {
                    Ok(m) => format!("a tensor with two dimensions has the shape `[{n}, {m}]`"),
                    Err(_) => format!("a tensor with one dimension has the shape `[{n}]`"),
                }),
                Err(_) => failure,
            })?;
            let extent = |item: &Dynamic| {
                let found = extent(item);
                found.ok_or_else(|| call.expected_but(k, "a list of integers and sizes", item))
            };
            list.iter()
                .map(extent)
                .collect::<Result<_, _>>()
                .map(Arg::Extents)
        }
        Kind::Extent => {
            let expected = "an integer or a sum of sizes";
            let found = extent(&value(call, k, expected)?);
            let found = found.ok_or_else(|| call.expected(k, expected))?;
            Ok(Arg::Extents(vec![found]))
        }
        Kind::Order => {
            let expected = "a list of dimensions, counted from 1, such as `[2, 1]`";
            let list: Array = call.get(k, expected)?;
            let dimension = |item: &Dynamic| {
                let number = item.flatten_clone().as_int();
                number.map_err(|_| call.expected_but(k, "a list of integers", item))
            };
            let order = list.iter().map(dimension).collect::<Result<_, _>>();
            order.map(Arg::Order)
        }
        Kind::Elem => {
            let names = Elem::ALL.map(|e| format!("\"{e}\"")).join(", ");
            let expected = format!("an element type: {names}");
            // `f32` without quotes looks like an iterator, but its meaning is clear.
            let index = call.get::<Index>(k, "").ok();
            let name = index.as_ref().and_then(|i| i.affine.as_iterator());
            let text = match name {
                Some(name) => name.to_string(),
                None => match call.get::<ImmutableString>(k, &expected) {
                    Ok(text) => text.to_string(),
                    Err(failure) if call.get::<Map>(k, "").is_ok() => {
                        let example =
                            "`aligned(tensor([4, 4], \"f32\"), 64)` promises an alignment";
                        return Err(failure.help(example));
                    }
                    Err(failure) => return Err(failure),
                },
            };
            Elem::from_name(&text).map(Arg::Elem).ok_or_else(|| {
                let failure = call.expected(k, &expected);
                match habits::element_type(&text) {
                    Some(help) => failure.help(help),
                    None => failure,
                }
            })
        }
        Kind::Index => {
            let value = value(call, k, INDEX)?;
            let index = value.read_lock::<Index>().map(|index| index.affine.clone());
            match (index, value.as_int(), call.variable(k)) {
                (Some(index), ..) => Ok(Arg::Iters(vec![index])),
                (None, _, Some(position)) => {
                    Err(captured::refuse(&call.state().places, position, &value))
                }
                (None, Ok(number), None) => Ok(Arg::Iters(vec![Affine::constant(number)])),
                _ => Err(call.expected(k, INDEX)),
            }
        }
        Kind::Iters => {
            let value = value(call, k, ITERATORS)?;
            iters(call, k, &value, ITERATORS).map(Arg::Iters)
        }
        Kind::Over => {
            let value = value(call, k, OVER)?;
            if let Ok(dimension) = value.as_int() {
                return single_dimension(call, k, dimension).map(Arg::Iters);
            }
            indices::over(call, k, &value, OVER).map(Arg::Iters)
        }
        Kind::IterLists => {
            let value = value(call, k, LISTS)?;
            iter_lists(call, k, &value, LISTS).map(Arg::IterLists)
        }
        Kind::Arrow => {
            let value = value(call, k, ARROW)?;
            let Some(arrow) = value.read_lock::<RawArrow>().map(|a| a.clone()) else {
                if !value.is_array() {
                    return Err(call.expected(k, ARROW));
                }
                let to = iters(call, k, &value, ITERATORS)?;
                let from = vec![None];
                return Ok(Arg::Arrow(Arrow { from, to }));
            };
            let from = vec![optional_iters(call, k, &arrow.from)?];
            let to = iters(call, k, &arrow.to, ITERATORS)?;
            Ok(Arg::Arrow(Arrow { from, to }))
        }
        Kind::ListsArrow => {
            let value = value(call, k, LISTS_ARROW)?;
            let Some(arrow) = value.read_lock::<RawArrow>().map(|a| a.clone()) else {
                return Err(call
                    .expected(k, LISTS_ARROW)
                    .help("the list after `->` says how the result is indexed"));
            };
            let from = if arrow.from.is_unit() {
                Vec::new()
            } else {
                iter_lists(call, k, &arrow.from, LISTS_ARROW)?
            };
            let to = iters(call, k, &arrow.to, ITERATORS)?;
            Ok(Arg::Arrow(Arrow { from, to }))
        }
        Kind::Dimensions => {
            let expected =
                "two dimensions, counted from 1, such as `[1, 2]`, or a list of such pairs";
            let list: Array = call.get(k, expected)?;
            let pairs = if list.first().is_some_and(Dynamic::is_array) {
                list.iter().map(pair).collect()
            } else {
                pair(&Dynamic::from_array(list)).map(|pair| vec![pair])
            };
            let pairs = pairs.map(Arg::Dimensions);
            pairs.ok_or_else(|| call.expected(k, expected))
        }
    }
}

/// The options of a map, in the order in which they are declared.
fn options(call: &Call, k: usize, known: &[Param]) -> Result<Vec<(String, Arg)>, Failure> {
    let names: Vec<String> = known.iter().map(|p| format!("`{}`", p.name)).collect();
    let expected = format!("a map such as `#{{…}}` with some of {}", names.join(", "));
    let map: Map = call.get(k, &expected)?;
    let known_names: Vec<&str> = known.iter().map(|p| p.name).collect();
    all_known(call, k, &map, &known_names)?;
    let given = known.iter().filter_map(|p| Some((p, map.get(p.name)?)));
    given
        .map(|(param, value)| {
            let value = value.flatten_clone();
            let (arg, wanted) = match param.kind {
                Kind::Word(words) => {
                    let words: Vec<String> = words.iter().map(|w| format!("{w:?}")).collect();
                    let word = value.clone().into_string().ok().map(Arg::Word);
                    (word, format!("one of {}", words.join(", ")))
                }
                Kind::Flag => {
                    let flag = value.as_bool().ok().map(Arg::Flag);
                    (flag, "`true` or `false`".to_owned())
                }
                _ => (value.as_int().ok().map(Arg::Int), "an integer".to_owned()),
            };
            let arg = arg.ok_or_else(|| {
                let given = values::describe(&value);
                let what = format!(
                    "has `{}`, which must be {wanted} and is {given}",
                    param.name
                );
                call.fail(k, &what)
            })?;
            Ok((param.name.to_owned(), arg))
        })
        .collect()
}

/// The message about a map of options that has a key which is not in `known`, and the help.
pub fn unknown_option(map: &Map, known: &[&str]) -> Option<(String, String)> {
    let key = map.keys().find(|key| !known.contains(&key.as_str()))?;
    let help = match closest(key, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("it has {}", known.join(", ")),
    };
    Some((format!("has no option `{key}`"), help))
}

/// Refuses a map of options with a key that is not in `known`.
pub(super) fn all_known(call: &Call, k: usize, map: &Map, known: &[&str]) -> Result<(), Failure> {
    match unknown_option(map, known) {
        Some((what, help)) => Err(call.fail(k, &what).help(help)),
        None => Ok(()),
    }
}

/// A dimension without a list. `max(A, 2)` may also mean the greater of each element and 2.
fn single_dimension(call: &Call, k: usize, dimension: i64) -> Result<Vec<Affine>, Failure> {
    let name = call.name();
    let compared = match name {
        "max" => "maximum",
        "min" => "minimum",
        "vmax" => "vmaximum",
        "vmin" => "vminimum",
        _ => return Ok(vec![Affine::constant(dimension)]),
    };
    let failure = call.fail(k, &format!("can be a dimension or a number, {dimension}"));
    Err(failure.help(format!(
        "`{name}(A, [{dimension}])` reduces over a dimension; `{compared}(A, {dimension})` compares \
         elements with the number"
    )))
}

/// A list of two integers.
fn pair(value: &Dynamic) -> Option<[i64; 2]> {
    let value = value.flatten_clone();
    let list = value.as_array_ref().ok()?;
    let [a, b] = list.as_slice() else {
        return None;
    };
    Some([
        a.flatten_clone().as_int().ok()?,
        b.flatten_clone().as_int().ok()?,
    ])
}

fn value(call: &Call, k: usize, expected: &str) -> Result<Dynamic, Failure> {
    call.value(k).ok_or_else(|| call.expected(k, expected))
}

/// The number that a value is, if it is one.
fn number(value: &Dynamic) -> Option<Number> {
    let integer = value.as_int().ok().map(Number::Int);
    integer.or_else(|| value.as_float().ok().map(Number::Float))
}

/// The position of the loop that argument `k` names.
pub fn position(call: &Call, nest: &Nest, k: usize) -> Result<Position, Failure> {
    let found = match loop_ref(call, k)? {
        LoopRef::Level(level) => position::at_level(nest, level),
        LoopRef::Name(name) => position::named(nest, &name),
    };
    found.map_err(|error| call.refuse(&error.to_string()).argument(k))
}

fn loop_ref(call: &Call, k: usize) -> Result<LoopRef, Failure> {
    let expected = "a loop: its level, counted from 1, or its name";
    let value = value(call, k, expected)?;
    is_level_or_loop(
        call,
        element(call, &value).or_else(|| call.variable(k)),
        &value,
    )?;
    let found = as_loop(call, k, &value)?;
    found.ok_or_else(|| call.expected(k, expected))
}

/// An integer, or a sum of sizes.
fn extent(value: &Dynamic) -> Option<Affine> {
    let value = value.flatten_clone();
    let index = value.read_lock::<Index>();
    let sum = index.filter(|index| index.affine.is_fixed());
    let number = || value.as_int().ok().map(Affine::constant);
    sum.map(|index| index.affine.clone()).or_else(number)
}

/// A value as an index expression, also a handle or a number. It is argument `k`, for messages.
fn index_of(call: &Call, k: usize, value: &Dynamic) -> Result<Option<Affine>, Failure> {
    if let Some(index) = value.read_lock::<Index>() {
        return Ok(Some(index.affine.clone()));
    }
    if let Some(handle) = value.read_lock::<Handle>() {
        return Ok(Some(Affine::iterator(found(call, k, &handle)?)));
    }
    Ok(value.as_int().ok().map(Affine::constant))
}

/// The name that the handle which argument `k` is has in the nests of the call.
fn handle(call: &Call, k: usize) -> Result<Option<Name>, Failure> {
    let handle = call.value(k).and_then(|value| value.try_cast::<Handle>());
    handle.map(|handle| found(call, k, &handle)).transpose()
}

fn loops(call: &Call, k: usize, expected: &str) -> Result<Vec<LoopRef>, Failure> {
    let list: Array = call.get(k, expected)?;
    let loops = list.iter().map(|item| {
        is_level_or_loop(call, element(call, item), item)?;
        let found = as_loop(call, k, item)?;
        found.ok_or_else(|| call.expected_but(k, expected, item))
    });
    loops.collect()
}

/// Where the variable is that is an element of a list, if it reads as an iterator.
fn element(call: &Call, value: &Dynamic) -> Option<Place> {
    let variable = captured::position(value)?;
    let is_element = call.state().places.is_element(variable);
    is_element.then_some(variable)
}

/// Refuses a level that is written as a variable with the name of one of the nest's loops.
fn is_level_or_loop(call: &Call, written: Option<Place>, value: &Dynamic) -> Result<(), Failure> {
    let names_a_loop = value.is_string() || value.is::<Index>() || value.is::<Handle>();
    let (Some(position), Ok(nest), false) = (written, call.nest(0), names_a_loop) else {
        return Ok(());
    };
    let places = &call.state().places;
    let name = captured::name(places, position);
    match name.and_then(|name| Name::new(&name).ok()) {
        Some(name) if nest.has_loop(&name) => Err(captured::refuse_level(places, position, value)),
        _ => Ok(()),
    }
}

/// A value as a reference to a loop. It is argument `k` or an element of it, for messages.
pub(super) fn as_loop(call: &Call, k: usize, value: &Dynamic) -> Result<Option<LoopRef>, Failure> {
    let value = value.flatten_clone();
    if let Ok(level) = value.as_int() {
        return Ok(Some(LoopRef::Level(level)));
    }
    if let Some(name) = value.read_lock::<ImmutableString>() {
        return Ok(Some(LoopRef::Name(name.to_string())));
    }
    if let Some(handle) = value.read_lock::<Handle>() {
        let name = match &*handle {
            Handle::Loop { .. } => found(call, k, &handle)?,
            Handle::Tensor { .. } => return Ok(None),
        };
        return Ok(Some(LoopRef::Name(name.to_string())));
    }
    let index = value.read_lock::<Index>();
    let name = index.as_ref().and_then(|i| i.affine.as_iterator());
    Ok(name.map(|name| LoopRef::Name(name.to_string())))
}

/// Steps on the loop that argument `k - 1` names in the nest of argument `k - 2`: a function is
/// called with that loop as a nest, and the steps that it took count.
fn steps(call: &Call, k: usize) -> Result<Path, Failure> {
    let expected = "a function from nest to nest, such as `|sub| sub.unroll(1)`, or a path";
    if let Ok(path) = call.get::<values::Path>(k, expected) {
        return Ok(path.nest.path().clone());
    }
    let function: FnPtr = call.get(k, expected)?;
    let (nest, reference) = (call.nest(k - 2)?, loop_ref(call, k - 1)?);
    let part = focus(&nest, &reference).map_err(|e| Failure::operation(AT.failed(e)))?;
    let given = Dynamic::from(part.clone());
    let result: Dynamic = function
        .call_raw(call.context(), None, [given])
        .map_err(Failure::inside)?;
    let result = result
        .try_cast::<Nest>()
        .ok_or_else(|| call.expected(k, expected))?;
    // Steps may make sizes of others.
    let around = |nest: &Nest| -> Vec<_> {
        let all = nest.context().iter();
        all.filter(|l| l.name.size().is_none()).cloned().collect()
    };
    if around(&result) == around(&part) {
        Ok(result.path().clone())
    } else {
        Err(call.fail(k, "must return what it makes of the nest that it is given"))
    }
}

/// The name that a handle has in the nests among the arguments of a call; `k` is the argument that
/// it is, or is in.
pub fn found(call: &Call, k: usize, handle: &Handle) -> Result<Name, Failure> {
    let values = (0..call.count()).filter_map(|k| call.value(k));
    let nests = values.flat_map(|value| match value.as_array_ref() {
        Ok(list) => list
            .iter()
            .filter_map(|v| v.clone().try_cast::<Nest>())
            .collect(),
        Err(_) => value
            .clone()
            .try_cast::<Nest>()
            .into_iter()
            .collect::<Vec<Nest>>(),
    });
    let nests: Vec<Nest> = nests.collect();
    let found = handle.find(&nests);
    found.map_err(|why| call.fail(k, &format!("is {why}")))
}
