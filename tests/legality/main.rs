//! What is legal is kept; what is not is refused, with two iterations that show why.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod buffers;
mod in_order;
mod inplace;
mod kernels;
mod once;
mod order;
mod reuse;
mod threads;
mod traps;

use teml::ir::Nest;
use teml::script::{Session, Workbench};
use teml::transform::trace;

/// The value of an expression after a script, as the dialog shows it, or the message.
fn shown(script: &str, expression: &str) -> Result<String, String> {
    let session = Session::new(Box::new(std::io::sink()), Workbench::default());
    let mut session = session.map_err(|e| e.render(false))?;
    let mut value = |text: &str| session.eval_line(text).map_err(|e| e.render(false));
    value(script).unwrap_or_else(|error| panic!("{error}"));
    value(expression).map(Option::unwrap_or_default)
}

/// A string that an expression stands for.
fn string(script: &str, expression: &str) -> String {
    let shown = shown(script, expression).unwrap_or_else(|error| panic!("{error}"));
    let json = shown.trim_start_matches("=> ");
    serde_json::from_str(json).unwrap_or_else(|_| panic!("{shown}"))
}

/// What `check` says of the nest or the list that an expression of a script stands for.
fn verdict(script: &str, nests: &str) -> String {
    string(script, &format!("check({nests}).message"))
}

/// The nest that an expression of a script stands for.
fn nest(script: &str, expression: &str) -> Nest {
    let steps = string(script, &format!("json({expression})"));
    trace::from_json(&steps).unwrap_or_else(|error| panic!("{error}"))
}

/// Asserts that nests are proved legal.
#[track_caller]
fn legal(script: &str, nests: &[&str]) {
    for nest in nests {
        assert_eq!(verdict(script, nest), "legal", "{nest}");
    }
}

/// Asserts that nests are refused with a message that contains all of these parts, and that there
/// is no code for them.
#[track_caller]
fn illegal(script: &str, nests: &str, parts: &[&str]) {
    let message = verdict(script, nests);
    for part in parts {
        assert!(message.contains(part), "{nests}: {message}");
    }
    let code = shown(script, &format!("codegen({nests})"));
    assert!(code.is_err(), "{nests}");
}

/// Asserts that a transformation refuses with a message that contains this part.
#[track_caller]
fn not_done(script: &str, nest: &str, part: &str) {
    match shown(script, nest) {
        Ok(nest) => panic!("{nest}"),
        Err(message) => assert!(message.contains(part), "{message}"),
    }
}
