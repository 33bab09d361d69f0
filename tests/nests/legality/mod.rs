//! Legal steps are kept; illegal ones are refused, with two iterations as a witness.

use crate::classics;
use crate::dialog;
mod buffers;
mod damaged;
mod deep;
mod in_order;
mod indices;
mod inplace;
mod kernels;
mod once;
mod order;
mod own;
mod recomputed;
mod reuse;
mod running;
mod steps;
mod texts;
mod threads;
mod traps;
mod undecided;

use dialog::{nest, shown, string};

/// The verdict of `check` on the nest or list of an expression of a script.
fn verdict(script: &str, nests: &str) -> String {
    string(script, &format!("check({nests}).message"))
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
