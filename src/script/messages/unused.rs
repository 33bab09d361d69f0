//! Warnings about values that a script makes and nobody gets.

use crate::diag::Diagnostic;
use crate::ir::{Expr as Tensor, Nest};
use crate::reader::places::Places;
use crate::values::name_of;
use rhai::{Dynamic, Expr, Position};

/// The warning about a dropped value, if its script must have wanted it.
pub fn warning(value: &Dynamic, expr: &Expr, places: &Places) -> Option<(Position, Diagnostic)> {
    if takes_away(expr) {
        return None;
    }
    let is_wanted = |v: &Dynamic| v.is::<Nest>() || v.is::<Tensor>();
    let (what, name) = match value.as_array_ref() {
        Ok(list) => (list.iter().any(is_wanted).then_some("this list"), "list"),
        Err(_) if value.is::<Nest>() => (Some("the nest that this makes"), "plan"),
        Err(_) if value.is::<Tensor>() => (Some("the tensor that this makes"), "C"),
        Err(_) => match name_of(value) {
            Some("verdict") => (Some("the verdict"), ""),
            Some("moves") => (Some("the list of moves"), ""),
            Some("path") => (Some("the path"), ""),
            _ => (None, ""),
        },
    };
    let message = format!("{} is not used", what?);
    let position = start(expr);
    let (span, text) = places.statement(position)?;
    let shown = if text.len() < 60 && !text.contains('\n') {
        text.as_str()
    } else {
        "…"
    };
    let variable = text
        .split(|c: char| !(c == '_' || c.is_alphanumeric()))
        .next();
    let variable = variable.filter(|name| text[name.len()..].starts_with('.'));
    let help = match (name, variable) {
        ("", _) => format!("`print({shown})` shows it"),
        ("plan", Some(variable)) => {
            format!("steps leave the nest as it is and return a new one: `{variable} = {shown}`")
        }
        ("plan", None) => {
            format!("steps leave the nest as it is and return a new one: `let plan = {shown}`")
        }
        _ => format!("bind it to a variable: `let {name} = {shown}`"),
    };
    let warning = Diagnostic::warning(message).at(Some(span), "");
    Some((position, warning.help(Some(help))))
}

/// Where an expression starts.
fn start(expr: &Expr) -> Position {
    match expr {
        Expr::FnCall(call, _) if call.is_operator_call() => {
            call.args.first().map_or(expr.start_position(), start)
        }
        Expr::Dot(parts, ..) | Expr::Index(parts, ..) => start(&parts.lhs),
        _ => expr.start_position(),
    }
}

/// Whether it is called for what it does to a list: `variants.pop()`.
fn takes_away(expr: &Expr) -> bool {
    match expr {
        Expr::Dot(parts, ..) | Expr::Index(parts, ..) => takes_away(&parts.rhs),
        Expr::MethodCall(call, _) => matches!(
            call.name.as_str(),
            "pop" | "shift" | "remove" | "drain" | "retain" | "splice"
        ),
        _ => false,
    }
}
