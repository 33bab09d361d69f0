//! Index expressions in scripts: what adds, compares and prints them.

use crate::binding::captured;
use crate::binding::state::Shared;
use crate::ir::{Affine, Expr, Lookup, Name, Nest};
use crate::messages::fail::Failure;
use crate::transform::tensor::vat::vat;
use crate::values::{self, Index, RawArrow, describe, printed, show};
use rhai::{Array, Dynamic, Engine, EvalAltResult, ImmutableString, NativeCallContext, Position};

/// Registers the types, their arithmetic and how they print.
pub fn register(engine: &mut Engine, shared: &Shared) {
    engine
        .register_type_with_name::<Expr>("tensor")
        .register_type_with_name::<Nest>("nest")
        .register_type_with_name::<Index>("iterator")
        .register_type_with_name::<RawArrow>("arrow");

    engine
        .register_fn("to_string", {
            let shared = shared.clone();
            move |x: &mut Expr| current(x, &shared).to_string()
        })
        .register_fn("to_debug", {
            let shared = shared.clone();
            move |x: &mut Expr| show(&Dynamic::from(current(x, &shared)))
        })
        .register_indexer_get({
            let shared = shared.clone();
            move |c: NativeCallContext, x: &mut Expr, at: Dynamic| {
                element(&current(x, &shared), &at, c.call_position())
            }
        })
        .register_fn("to_string", |x: &mut Nest| printed(x))
        .register_fn("to_debug", |x: &mut Nest| show(&Dynamic::from(x.clone())))
        .register_fn("print", |c: NativeCallContext, list: &mut Array| {
            let nests = values::nests(&Dynamic::from_array(list.clone()));
            if nests.is_empty() {
                return c.call_native_fn::<ImmutableString>("to_string", (list.clone(),));
            }
            let nests: Vec<String> = nests.iter().map(printed).collect();
            Ok(nests.join("\n").into())
        })
        .register_fn("==", |a: Nest, b: Nest| a == b)
        .register_fn("!=", |a: Nest, b: Nest| a != b)
        .register_fn("to_string", |x: &mut Index| x.to_string())
        .register_fn("to_debug", |x: &mut Index| x.to_string())
        .register_fn("==", |a: Index, b: Index| a.affine == b.affine)
        .register_fn("!=", |a: Index, b: Index| a.affine != b.affine)
        .register_fn("==", |a: Index, b: &str| a.to_string() == b)
        .register_fn("!=", |a: Index, b: &str| a.to_string() != b)
        .register_fn("==", |a: &str, b: Index| b.to_string() == a)
        .register_fn("!=", |a: &str, b: Index| b.to_string() != a)
        .register_fn("->", |from: Dynamic, to: Dynamic| RawArrow { from, to })
        .register_fn("to_string", |x: &mut RawArrow| {
            show(&Dynamic::from(x.clone()))
        })
        .register_fn("to_debug", |x: &mut RawArrow| {
            show(&Dynamic::from(x.clone()))
        });

    type Result = std::result::Result<Index, Box<EvalAltResult>>;
    type DynamicResult = std::result::Result<Dynamic, Box<EvalAltResult>>;
    type Ctx<'a> = NativeCallContext<'a>;
    type Combine = fn(&Affine, i64) -> Affine;
    type Digit = fn(&Affine, i64) -> Option<Affine>;
    let with_number: [(&str, Combine, Combine); 3] = [
        ("+", Affine::plus_constant, Affine::plus_constant),
        (
            "-",
            |a, b| a.minus(&Affine::constant(b)),
            |b, a| Affine::constant(a).minus(b),
        ),
        ("*", Affine::times, Affine::times),
    ];
    for (symbol, right, left) in with_number {
        let known = shared.clone();
        engine.register_fn(symbol, move |c: Ctx, a: Index, b: i64| -> Result {
            is_visible(&c, &known, 1, b)?;
            checked(&c, right(&a.affine, b))
        });
        let known = shared.clone();
        engine.register_fn(symbol, move |c: Ctx, a: i64, b: Index| -> Result {
            is_visible(&c, &known, 0, a)?;
            checked(&c, left(&b.affine, a))
        });
    }
    let digits: [(&str, &str, Digit); 2] = [
        ("/", "quotient", Affine::quotient),
        ("%", "remainder", Affine::remainder),
    ];
    for (symbol, words, part) in digits {
        let known = shared.clone();
        engine.register_fn(symbol, move |c: Ctx, a: Index, b: i64| -> Result {
            is_visible(&c, &known, 1, b)?;
            let fail = |text: String| Failure::new(text).raise(c.call_position());
            if b < 1 {
                return Err(fail(format!(
                    "`{a}` can be divided by a positive integer, not by {b}"
                )));
            }
            let help = format!(
                "`{a}` has to be one iterator beside multiples of {b}: `i {symbol} {b}`, \
                 `({b}*i + k + 1) {symbol} {b}`"
            );
            let text = format!("the {words} of `{a}` by {b} is not affine");
            let failure = || Failure::new(text).help(help).raise(c.call_position());
            checked(&c, part(&a.affine, b).ok_or_else(failure)?)
        });
    }
    register_comparisons(engine);
    engine
        .register_fn("+", |c: Ctx, a: Index, b: Index| -> Result {
            checked(&c, a.affine.plus(&b.affine))
        })
        // The extent of a range whose bounds move together is a number.
        .register_fn("-", |c: Ctx, a: Index, b: Index| -> DynamicResult {
            let made = checked(&c, a.affine.minus(&b.affine))?;
            let number = made.affine.as_constant();
            Ok(number.map_or_else(|| Dynamic::from(made), Dynamic::from_int))
        })
        .register_fn("-", |c: Ctx, a: Index| -> Result {
            checked(&c, a.affine.times(-1))
        })
        .register_fn("*", |c: Ctx, a: Index, b: Index| -> Result {
            let product = format!("`{a}` and `{b}` cannot be multiplied");
            Err(Failure::new(product)
                .help("index expressions are sums of iterators with integer factors: 2*i + j - 1")
                .raise(c.call_position()))
        })
        .register_fn("iter", |c: Ctx, name: &str| -> Result {
            match Name::new(name) {
                Ok(name) => Ok(Index::iterator(name, false)),
                Err(error) => Err(Failure::new(format!("iter: {error}"))
                    .argument(0)
                    .raise(c.call_position())),
            }
        });
}

/// An element of a tensor, where its index follows it in brackets: an index expression, if it is an
/// integer whose bounds are known.
fn element(x: &Expr, at: &Dynamic, position: Position) -> Result<Dynamic, Box<EvalAltResult>> {
    let index = |value: &Dynamic| -> Option<Affine> {
        let index = value.read_lock::<Index>();
        let index = index.map(|index| index.affine.clone());
        index.or_else(|| value.as_int().ok().map(Affine::constant))
    };
    let list = match at.read_lock::<Array>() {
        Some(list) => list.iter().map(index).collect(),
        None => index(at).map(|index| vec![index]),
    };
    let (Some(tensor), Some(list)) = (x.tensor(), list) else {
        let types = format!("tensor [{}]", at.type_name());
        return Err(Box::new(EvalAltResult::ErrorIndexingType(types, position)));
    };
    let failure = |error: &dyn std::fmt::Display| Failure::new(error.to_string()).raise(position);
    if list.len() != tensor.shape().rank() {
        let types = format!("tensor [{}]", at.type_name());
        return Err(Box::new(EvalAltResult::ErrorIndexingType(types, position)));
    }
    if tensor.entries().is_some() {
        let affine = Lookup::new(tensor.clone(), list).as_index();
        let undeclared = false;
        return Ok(Dynamic::from(Index { affine, undeclared }));
    }
    let element = vat(x, &list).map_err(|error| failure(&error))?;
    Ok(Dynamic::from(element))
}

/// The expression with the names that its tensors have now.
fn current(expr: &Expr, shared: &Shared) -> Expr {
    shared.bench().lock().definitions.current(expr)
}

/// Refuses to compare iterators with numbers: Rhai says that they differ, and that neither is less.
fn register_comparisons(engine: &mut Engine) {
    type Result = std::result::Result<bool, Box<EvalAltResult>>;
    let refuse = |c: &NativeCallContext, index: &Index| -> Result {
        let name = index.affine.terms().first().map(|(name, _)| name.as_str());
        let held = describe(&Dynamic::from(index.clone()));
        let failure = Failure::new(format!("{held}, and has no value to compare"));
        Err(failure
            .misspelt(name.unwrap_or(""))
            .raise(c.call_position()))
    };
    for symbol in ["<", "<=", ">", ">=", "==", "!="] {
        // Elements of lists that hold iterators and numbers are told apart.
        let is_equality = matches!(symbol, "==" | "!=");
        let compare = move |c: &NativeCallContext, index: &Index| {
            if is_equality && !index.undeclared {
                Ok(symbol == "!=")
            } else {
                refuse(c, index)
            }
        };
        engine
            .register_fn(symbol, move |c: NativeCallContext, a: Index, _: i64| {
                compare(&c, &a)
            })
            .register_fn(symbol, move |c: NativeCallContext, _: i64, b: Index| {
                compare(&c, &b)
            })
            .register_fn(symbol, move |c: NativeCallContext, a: Index, _: f64| {
                compare(&c, &a)
            })
            .register_fn(symbol, move |c: NativeCallContext, _: f64, b: Index| {
                compare(&c, &b)
            });
        if !is_equality {
            engine.register_fn(symbol, move |c: NativeCallContext, a: Index, _: Index| {
                refuse(&c, &a)
            });
        }
    }
}

/// Refuses an operand that is a number, but reads as an iterator in the script.
fn is_visible(
    context: &NativeCallContext,
    shared: &Shared,
    operand: usize,
    number: i64,
) -> Result<(), Box<EvalAltResult>> {
    let places = &shared.lock().places;
    let position = context.call_position();
    match places.variable(position, operand) {
        Some(variable) => {
            let number = Dynamic::from_int(number);
            Err(captured::refuse(places, variable, &number).raise(position))
        }
        None => Ok(()),
    }
}

fn checked(ctx: &NativeCallContext, affine: Affine) -> Result<Index, Box<EvalAltResult>> {
    if affine.is_in_limits() {
        Ok(Index {
            affine,
            undeclared: false,
        })
    } else {
        Err(
            Failure::new("an index expression has a factor or a constant that is too large")
                .help("factors and constants stay below 2 to the power of 40")
                .raise(ctx.call_position()),
        )
    }
}
