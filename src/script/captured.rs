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

use super::actions;
use super::fail::Failure;
use super::places::Places;
use super::values::{self, Index};
use rhai::{AST, ASTNode, Dynamic, Expr, FnCallExpr, Position, Stmt, Token};

/// The position of an operator or a call. For each operand or argument, the receiver of a method
/// included, the position of a variable in it that reads as an iterator.
pub type Operands = (Position, Vec<Option<Position>>);

/// The first variable that reads as an iterator in arithmetic: `n` in `2 * n + 1`, none in `f(n)`.
pub fn variable(expr: &Expr) -> Option<Position> {
    match expr {
        Expr::Variable(variable, _, position) => {
            let is_bare = variable.2.is_empty() && values::is_iterator_name(&variable.1);
            is_bare.then_some(*position)
        }
        Expr::FnCall(call, _) if is_arithmetic(call) => call.args.iter().find_map(variable),
        _ => None,
    }
}

/// The variable, if it reads as an iterator and is the whole expression.
fn alone(expr: &Expr) -> Option<Position> {
    variable(expr).filter(|_| matches!(expr, Expr::Variable(..)))
}

fn is_arithmetic(call: &FnCallExpr) -> bool {
    use Token as T;
    let op = call.op_token.as_ref();
    op.is_some_and(|op| {
        matches!(
            op,
            T::Plus
                | T::Minus
                | T::Multiply
                | T::Divide
                | T::Modulo
                | T::PowerOf
                | T::UnaryPlus
                | T::UnaryMinus
        )
    })
}

/// The operators and calls of a script whose operands have such variables.
pub fn operands(ast: &AST) -> Vec<Operands> {
    let mut found: Vec<Operands> = Vec::new();
    ast.walk(&mut |nodes| {
        match nodes.last() {
            Some(ASTNode::Expr(Expr::FnCall(call, position))) => {
                let operand = if is_arithmetic(call) { variable } else { alone };
                found.push((*position, call.args.iter().map(operand).collect()));
            }
            Some(ASTNode::Expr(Expr::MethodCall(call, position))) => {
                let arguments = call.args.iter().map(alone);
                found.push((*position, std::iter::once(None).chain(arguments).collect()));
            }
            Some(ASTNode::Stmt(Stmt::Assignment(assignment))) => {
                let (op, sides) = &**assignment;
                found.push((op.position(), vec![None, variable(&sides.rhs)]));
            }
            _ => {}
        }
        true
    });
    found.retain(|(_, places)| places.iter().any(Option::is_some));
    found
}

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
    let held = values::type_in_words(actions::name_of(value).unwrap_or(value.type_name()));
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
