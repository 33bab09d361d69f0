//! The values that scripts compute with, beside Rhai's own: tensors, nests, index expressions
//! and arrows.

use super::actions;
use super::captured;
use super::fail::Failure;
use super::state::Shared;
use crate::codegen;
use crate::ir::{Affine, Expr, Name, Nest};
use crate::target::Target;
use rhai::{Dynamic, Engine, EvalAltResult, ImmutableString, NativeCallContext};
use std::fmt;

/// An index expression. Scripts call it an iterator, which it usually is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// The expression.
    pub affine: Affine,
    /// Whether it is a name that nobody declared, taken as an iterator.
    pub undeclared: bool,
}

impl Index {
    /// The iterator `name`.
    pub fn iterator(name: Name, undeclared: bool) -> Index {
        Index {
            affine: Affine::iterator(name),
            undeclared,
        }
    }
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.affine.fmt(f)
    }
}

/// Marks a value whose contents were already printed: the REPL shows only its name.
pub const SHOWN: i32 = 1;

/// Marks a tensor that has the name that its declaration gives: assignments to the variable that
/// holds it keep that name.
pub const NAMED: i32 = 2;

/// Marks a nest whose label is the name of a variable inside of a function: the variable that the
/// call is bound to labels it anew.
pub const INNER: i32 = 3;

/// `from -> to`, not interpreted before an operation takes it.
#[derive(Clone, Debug)]
pub struct RawArrow {
    /// The left side.
    pub from: Dynamic,
    /// The right side.
    pub to: Dynamic,
}

/// Whether a name that nobody declared is taken as an iterator: one or two lowercase letters,
/// then digits, then any number of suffixes such as `_o` or `_2`.
pub fn is_iterator_name(name: &str) -> bool {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or("");
    let letters = first.bytes().take_while(u8::is_ascii_lowercase).count();
    let rest_is_digits = first.bytes().skip(letters).all(|b| b.is_ascii_digit());
    let is_suffix = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    (1..=2).contains(&letters) && rest_is_digits && parts.all(is_suffix)
}

/// A value in a user's words, with its article.
pub fn describe(value: &Dynamic) -> String {
    if let Some(index) = value.read_lock::<Index>() {
        return match index.affine.as_iterator() {
            Some(name) if index.undeclared => {
                format!("`{name}` is an undeclared name, taken as an iterator")
            }
            Some(name) => format!("the iterator `{name}`"),
            None => format!("the index expression `{}`", index.affine),
        };
    }
    if value.is_array() {
        let length = value.as_array_ref().map_or(0, |a| a.len());
        return match length {
            0 => "an empty list".to_owned(),
            _ => format!("the list {}", short(value)),
        };
    }
    match actions::name_of(value).unwrap_or(value.type_name()) {
        "()" => "nothing, `()`".to_owned(),
        "i64" => format!("the integer {value}"),
        "f64" => format!("the number {value:?}"),
        "bool" => format!("`{value}`"),
        "char" => format!("the character '{value}'"),
        "string" => format!("the string {}", short(value)),
        name => type_in_words(name),
    }
}

/// The type that Rhai calls `name`, in a user's words, with its article.
pub fn type_in_words(name: &str) -> String {
    let words = match name.trim() {
        "()" => "nothing",
        "i64" => "an integer",
        "f64" => "a number with decimals",
        "bool" => "a truth value",
        "char" => "a character",
        "string" | "&str | ImmutableString | String" => "a string",
        "array" => "a list",
        "map" => "a map",
        "blob" => "a blob",
        "Fn" => "a function",
        "range" | "range=" => "a range",
        "tensor" => "a tensor",
        "nest" => "a nest",
        "iterator" => "an iterator",
        "arrow" => "an arrow `.. -> ..`",
        "error" => "an error",
        "numbers" => "an array of numbers",
        "random numbers" => "random numbers",
        "handle" => "a handle",
        "handles" => "the handles of a step",
        "move" => "a move",
        "moves" => "a list of moves",
        "path" => "a path",
        "code" => "code",
        "verdict" => "what `check` says",
        name if name.ends_with("Expr") => "a tensor",
        name if name.ends_with("Nest") => "a nest",
        name if name.ends_with("Index") => "an iterator",
        name if name.ends_with("RawArrow") => "an arrow `.. -> ..`",
        other => return format!("a value of type {other}"),
    };
    words.to_owned()
}

fn short(value: &Dynamic) -> String {
    shorten(show(value), 40)
}

/// A text of at most `limit` characters.
pub fn shorten(text: String, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The nests that a value holds: it is one, or a list of them; none if it is something else.
pub fn nests(value: &Dynamic) -> Vec<Nest> {
    let nest = |value: &Dynamic| value.read_lock::<Nest>().map(|nest| nest.clone());
    if let Some(nest) = nest(value) {
        return vec![nest];
    }
    let list = value.as_array_ref();
    let list = list.map_or_else(|_| Vec::new(), |l| l.iter().map(nest).collect());
    list.into_iter()
        .collect::<Option<Vec<_>>>()
        .unwrap_or_default()
}

/// A value on one line, as the REPL shows it: strings in quotes.
pub fn show(value: &Dynamic) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

fn write_value(out: &mut String, value: &Dynamic) {
    if let Some(text) = value.read_lock::<ImmutableString>() {
        out.push_str(&format!("{:?}", text.as_str()));
    } else if let Ok(list) = value.as_array_ref() {
        out.push('[');
        for (k, item) in list.iter().enumerate() {
            out.push_str(if k > 0 { ", " } else { "" });
            write_value(out, item);
        }
        out.push(']');
    } else if let Ok(map) = value.as_map_ref() {
        out.push_str("#{");
        for (k, (key, item)) in map.iter().enumerate() {
            out.push_str(if k > 0 { ", " } else { "" });
            out.push_str(&format!("{key}: "));
            write_value(out, item);
        }
        out.push('}');
    } else if let Some(arrow) = value.read_lock::<RawArrow>() {
        write_value(out, &arrow.from);
        out.push_str(" -> ");
        write_value(out, &arrow.to);
    } else {
        out.push_str(&simple(value));
    }
}

/// A value without parts.
fn simple(value: &Dynamic) -> String {
    if let Some(expr) = value.read_lock::<Expr>() {
        return expr.to_string().replace('\n', "; ");
    }
    if let Some(nest) = value.read_lock::<Nest>() {
        return match nest.label() {
            Some(label) => format!("nest {label}"),
            None => "a nest".to_owned(),
        };
    }
    if let Some(index) = value.read_lock::<Index>() {
        return index.to_string();
    }
    if let Some(shown) = actions::shown(value, false) {
        return shown;
    }
    if let Some(failure) = value.read_lock::<Failure>() {
        return failure.message();
    }
    if value.is_fnptr() {
        "a function".to_owned()
    } else {
        value.to_string()
    }
}

/// The text of a nest. It marks vector loops that the C leaves to the compiler.
pub fn printed(nest: &Nest) -> String {
    let text = nest.to_string();
    let outer = codegen::outer_vectors(std::slice::from_ref(nest), &Target::native());
    let remark = |line: &str| {
        let head = line.split_once("vector ")?.1.split_once("for ")?.1;
        let (name, _) = head.split_once(" in ")?;
        let (_, why) = outer.iter().find(|(of, _)| of.as_str() == name)?;
        Some(format!("{line}  // left to the compiler: {why}"))
    };
    if outer.is_empty() {
        return text;
    }
    let lines = text
        .lines()
        .map(|line| remark(line).unwrap_or_else(|| line.to_owned()));
    lines.collect::<Vec<_>>().join("\n")
}

/// Registers the types, their arithmetic and how they print.
pub fn register(engine: &mut Engine, shared: &Shared) {
    engine
        .register_type_with_name::<Expr>("tensor")
        .register_type_with_name::<Nest>("nest")
        .register_type_with_name::<Index>("iterator")
        .register_type_with_name::<RawArrow>("arrow");

    engine
        .register_fn("to_string", |x: &mut Expr| x.to_string())
        .register_fn("to_debug", |x: &mut Expr| show(&Dynamic::from(x.clone())))
        .register_fn("to_string", |x: &mut Nest| printed(x))
        .register_fn("to_debug", |x: &mut Nest| show(&Dynamic::from(x.clone())))
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
    type Ctx<'a> = NativeCallContext<'a>;
    type Combine = fn(&Affine, i64) -> Affine;
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
    register_comparisons(engine);
    engine
        .register_fn("+", |c: Ctx, a: Index, b: Index| -> Result {
            checked(&c, a.affine.plus(&b.affine))
        })
        .register_fn("-", |c: Ctx, a: Index, b: Index| -> Result {
            checked(&c, a.affine.minus(&b.affine))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_names_are_iterators() {
        for name in ["i", "kh", "i1", "i_o", "i1_o_2", "j_i"] {
            assert!(is_iterator_name(name), "{name}");
        }
        for name in ["", "A", "naive", "i_", "_i", "i_O", "1i", "iB", "i1a", "é"] {
            assert!(!is_iterator_name(name), "{name}");
        }
    }
}
