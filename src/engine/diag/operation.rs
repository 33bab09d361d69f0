//! Diagnostics of operations: the nest as a tree, with the loops at fault marked.

use super::{Diagnostic, Severity, Span};
use crate::ir::{Name, Nest, Tree};
use crate::transform::{Class, Error, Kind, Op};
use std::fmt::Write;

/// Where an operation was called.
#[derive(Clone, Debug, Default)]
pub struct CallPlace {
    /// The operation's name in the call.
    pub callee: Option<Span>,
    /// The arguments, the receiver first, as far as they are known.
    pub arguments: Vec<Option<Span>>,
}

impl CallPlace {
    /// The argument's place, or else the callee's.
    pub fn argument(&self, argument: Option<usize>) -> Option<Span> {
        argument
            .and_then(|k| self.arguments.get(k).cloned().flatten())
            .or_else(|| self.callee.clone())
    }
}

/// Longer nests are cut, so that the message stays visible.
const MAX_LINES: usize = 40;

/// The diagnostic of an error that an operation returned.
pub fn of_operation(error: &Error, op: Option<&Op>, place: &CallPlace) -> Diagnostic {
    let text = error.to_string();
    let message = match error.op {
        "" => text,
        name => format!("{name}: {text}"),
    };
    let (severity, code) = match error.class {
        Class::Refusal => (Severity::Error, "refusal"),
        Class::Mistake => (Severity::Error, "mistake"),
        Class::Limitation => (Severity::Error, "limitation"),
        Class::Bug => (Severity::Bug, "bug"),
    };
    let param = error.argument.zip(op).and_then(|(k, op)| op.params.get(k));
    // Ranges are always the last argument, even if optional ones before them are left out.
    let argument = match param {
        Some(param) if param.kind == Kind::Ranges => place.arguments.len().checked_sub(1),
        _ => error.argument,
    };
    let label = param.zip(argument).map_or(String::new(), |(param, k)| {
        format!("argument {} `{}`", k + 1, param.name)
    });
    let mut diagnostic = Diagnostic {
        severity,
        code: Some(code),
        ..Diagnostic::error(message)
    }
    .at(place.argument(argument), label);
    if let Some(nest) = &error.nest {
        diagnostic = diagnostic.note(in_nest(nest, &error.culprits));
    }
    match error.class {
        Class::Mistake => {
            if let Some(op) = op {
                diagnostic = diagnostic.note(format!("signature: {}", op.signature()));
            }
        }
        Class::Limitation => {
            diagnostic = diagnostic.note("the request makes sense, but teml does not support it");
        }
        Class::Bug => {
            diagnostic = diagnostic.help(Diagnostic::bug("").help);
        }
        Class::Refusal => {}
    }
    diagnostic.help(error.help.clone())
}

/// A note that shows the nest as text, with the loops named `culprits` underlined.
pub fn in_nest(nest: &Nest, culprits: &[Name]) -> String {
    let lines = nest.lines();
    let mut text = "in this nest:\n".to_owned();
    for line in lines.iter().take(MAX_LINES) {
        let shown = line.to_string();
        let _ = writeln!(text, "  {shown}");
        if matches!(line.tree, Tree::Loop(l) if culprits.contains(&l.name)) {
            let indent = shown.len() - shown.trim_start().len();
            let width = shown.trim_start().chars().count();
            let _ = writeln!(text, "  {:indent$}{}", "", "^".repeat(width));
        }
    }
    if lines.len() > MAX_LINES {
        let _ = writeln!(text, "  … {} more lines", lines.len() - MAX_LINES);
    }
    text.trim_end().to_owned()
}
