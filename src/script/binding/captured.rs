//! Variables that read as iterators.
//!
//! After `let n = 3;` the list `[n, j]` could mean the iterator `n` or row 3. So an operation that
//! takes iterators refuses it, as does arithmetic between an iterator and such a variable, `i + n`.
//! `value(n)` means the number, `iter("n")` the iterator. Likewise, `l.unroll(k)` is refused if `l`
//! has a loop `k` and the variable `k` is a number.
//!
//! A number does not know where it comes from, and must stay a number everywhere else (`tile(l, [n,
//! m])`). So an element of a list that is arithmetic on such variables carries the position of the
//! first of them in its tag. For operators and calls, the compiled script tells which of their
//! operands are arithmetic on one.

use crate::messages::fail::Failure;
use crate::reader::operands::variable;
use crate::reader::places::Places;
use crate::values::{self, Index};
use rhai::{Dynamic, Expr, Position};

/// The element of a list, written as `expr`. Its tag gets the position of a variable that it is
/// made of: one that reads as an iterator or, if the element is a list, any variable.
pub fn marked(mut value: Dynamic, expr: &Expr) -> Dynamic {
    let place = match (value.is_array(), expr) {
        (true, Expr::Variable(_, _, position)) => Some(*position),
        (true, _) => None,
        (false, _) if value.is::<Index>() => None,
        (false, _) => variable(expr),
    };
    match place {
        Some(place) => drop(value.set_tag(tag(place))),
        // It may come from another list.
        None if position(&value).is_some() => drop(value.set_tag(0)),
        None => {}
    }
    value
}

/// A line and a column, in 16 bits each.
fn tag(place: Position) -> i32 {
    let part = |number: Option<usize>| u16::try_from(number.unwrap_or(0)).unwrap_or(0);
    let (line, column) = (part(place.line()), part(place.position()));
    (u32::from(line) << 16 | u32::from(column)).cast_signed()
}

/// The position of the variable that an element of a list was computed from, as [`marked`] recorded
/// it in the tag.
pub fn position(element: &Dynamic) -> Option<Position> {
    let tag = element.tag().cast_unsigned();
    let part = |bits: u32| u16::try_from(bits & 0xffff).unwrap_or(0);
    let (line, column) = (part(tag >> 16), part(tag));
    (line > 0).then(|| Position::new(line, column))
}

/// The name of the variable at a position.
pub fn name(places: &Places, position: Position) -> Option<String> {
    let span = places.span(position)?;
    let text = places.texts();
    Some(text.get(&span.source)?.get(span.range)?.to_owned())
}

/// Refuses the variable at `position`, which holds `value`, in place of an iterator.
pub fn refuse(places: &Places, position: Position, value: &Dynamic) -> Failure {
    let name = name(places, position).unwrap_or_default();
    let held = values::type_in_words(values::name_of(value).unwrap_or(value.type_name()));
    let message = format!("`{name}` reads as an iterator, but the variable `{name}` is {held}");
    let number = if value.is_int() {
        format!("`value({name})` for the number, ")
    } else {
        String::new()
    };
    Failure::new(message)
        .help(format!(
            "write {number}`iter(\"{name}\")` for the iterator, or rename the variable: names \
             such as `N` or `rows` never read as iterators"
        ))
        .at(position)
        .declared(name)
}

/// Refuses the variable at `position`, which holds a level or another `value` and has the name of a
/// loop.
pub fn refuse_level(places: &Places, position: Position, value: &Dynamic) -> Failure {
    let name = name(places, position).unwrap_or_default();
    let level = values::describe(value);
    Failure::new(format!(
        "`{name}` is a loop of the nest, but the variable `{name}` is {level}"
    ))
    .help(if value.is_int() {
        format!(
            "write `\"{name}\"` for the loop, `value({name})` for the level, or rename the variable"
        )
    } else {
        format!("write `\"{name}\"` for the loop, or rename the variable")
    })
    .at(position)
    .declared(name)
}
