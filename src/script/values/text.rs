//! Values as people read them.

use super::index::{Index, RawArrow};
use super::kinds::{name_of, shown};
use super::shown::shorten;
use crate::codegen;
use crate::ir::{Expr, Nest};
use crate::messages::fail::Failure;
use crate::target::Target;
use rhai::{Dynamic, ImmutableString};

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
    match name_of(value).unwrap_or(value.type_name()) {
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
    if let Some(shown) = shown(value, false) {
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

/// A nest, with what becomes of vector loops that have no vectors.
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
