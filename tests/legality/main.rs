//! What is legal is kept; what is not is refused, with two iterations that show why.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod buffers;
mod order;
mod threads;

use teml::script::{Session, Workbench};

/// What `check` says of the nest or the list that an expression of a script stands for.
fn verdict(script: &str, nests: &str) -> String {
    let mut session = Session::new(Box::new(std::io::sink()), Workbench::default())
        .unwrap_or_else(|e| panic!("{}", e.render(false)));
    let mut value = |text: &str| match session.eval_line(text) {
        Ok(shown) => shown.unwrap_or_default(),
        Err(error) => panic!("{}", error.render(false)),
    };
    value(script);
    let shown = value(&format!("check({nests}).message"));
    let json = shown.trim_start_matches("=> ");
    serde_json::from_str(json).unwrap_or_else(|_| panic!("{shown}"))
}

/// Asserts that nests are proved legal.
#[track_caller]
fn legal(script: &str, nests: &[&str]) {
    for nest in nests {
        assert_eq!(verdict(script, nest), "legal", "{nest}");
    }
}

/// Asserts that nests are refused with a message that contains all of these parts.
#[track_caller]
fn illegal(script: &str, nests: &str, parts: &[&str]) {
    let message = verdict(script, nests);
    for part in parts {
        assert!(message.contains(part), "{nests}: {message}");
    }
}
