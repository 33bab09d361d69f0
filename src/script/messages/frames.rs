//! The calls around an error, and the one to blame in a message.

use crate::diag::{Diagnostic, Span};
use crate::library;
use crate::messages::fail::Failure;
use crate::reader::places::Places;
use rhai::{EvalAltResult, Position};

/// A call that was under way.
pub struct Frame {
    /// The called function, without its namespace.
    name: String,
    pub position: Position,
    /// The message about it.
    text: String,
}

impl Frame {
    /// The called function, without its namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The called function, with its namespace.
    pub fn called(&self, places: &Places) -> String {
        let written = places.called(self.position);
        let namespaced = written.filter(|w| w.ends_with(&format!("::{}", self.name)));
        namespaced.unwrap_or_else(|| self.name.clone())
    }
}

/// Of more different calls than this around an error, the inner and the outer ones are shown.
const MAX_CALLS: usize = 6;

/// The calls around an error, the innermost first, and the error itself.
pub fn unwind(mut error: EvalAltResult) -> (Vec<Frame>, EvalAltResult) {
    let mut frames: Vec<Frame> = Vec::new();
    loop {
        let (name, text, position, inner) = match error {
            EvalAltResult::ErrorInFunctionCall(name, _, inner, position) => {
                let name = library::public_name(&name).to_owned();
                let text = if name.starts_with("anon$") {
                    "in this call of a closure".to_owned()
                } else {
                    format!("in this call of `{name}`")
                };
                (name, text, position, inner)
            }
            EvalAltResult::ErrorInModule(name, inner, position) => {
                (name, "imported here".to_owned(), position, inner)
            }
            leaf => {
                frames.reverse();
                return (frames, leaf);
            }
        };
        frames.push(Frame {
            name,
            position,
            text,
        });
        error = *inner;
    }
}

/// The frame to blame for an error at `position`: the innermost call from outside the library.
/// `None` unless the error arose in the library, or a function says that its caller is wrong.
pub fn in_library(
    frames: &[Frame],
    position: Position,
    error: &EvalAltResult,
    places: &Places,
) -> Option<usize> {
    let of_caller = match error {
        EvalAltResult::ErrorRuntime(value, _) => value
            .read_lock::<Failure>()
            .is_some_and(|failure| failure.is_of_caller()),
        _ => false,
    };
    if !of_caller && !places.is_library(position) {
        return None;
    }
    frames.iter().position(|f| !places.is_library(f.position))
}

/// Says where in the library an error arose, in which step if it was one: `frames` are the calls
/// from there on outwards.
pub fn note_library(
    diagnostic: Diagnostic,
    frames: &[Frame],
    position: Position,
    step: Option<&str>,
    places: &Places,
) -> Diagnostic {
    let (Some(called), Some(site)) = (frames.last(), places.site(position)) else {
        return diagnostic;
    };
    let called = called.called(places);
    let step = step.map_or(String::new(), |step| format!("`{step}` at "));
    if places.is_library(position) {
        diagnostic.note(format!(
            "`{called}` is a function of the library; this is {step}{}:{}",
            site.source, site.line
        ))
    } else {
        diagnostic
    }
}

/// Marks the calls in the texts.
pub fn show_calls(mut diagnostic: Diagnostic, frames: &[Frame], places: &Places) -> Diagnostic {
    let mut around: Vec<(Span, &str)> = Vec::new();
    // How the library calls a script's functions is internal.
    for frame in frames.iter().filter(|f| !places.is_library(f.position)) {
        let Some(span) = places.call(frame.position).callee else {
            continue;
        };
        let known = diagnostic.labels.iter().any(|l| l.span == span);
        if !known && !around.iter().any(|(s, _)| *s == span) {
            around.push((span, &frame.text));
        }
    }
    if around.len() > MAX_CALLS {
        let cut = around.len() - MAX_CALLS;
        around.drain(MAX_CALLS / 2..MAX_CALLS / 2 + cut);
        diagnostic = diagnostic.note(format!("{cut} more calls between these"));
    }
    for (span, text) in around {
        diagnostic = diagnostic.see(Some(span), text);
    }
    diagnostic
}
