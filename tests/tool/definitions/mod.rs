//! Definitions have their obvious meaning, or are refused: variables beside iterators, ranges,
//! omitted lists, unused results.

mod broadcast;
mod captured;
mod carried;
mod forms;
mod given;
mod messages;
mod names;
mod operands;
mod padded;
mod pieces;
mod programs;
mod provenance;
mod quotients;
mod ranges;
mod triangular;
mod types;
mod unused;

use crate::output::Output;
use std::process::Command;
use teml::script::{ScriptError, Session};
use teml::verbs::Workbench;

fn dialog() -> (Session, Output) {
    let output = Output::default();
    let session = Session::new(Box::new(output.clone()), Workbench::default());
    (session.unwrap(), output)
}

fn ran(script: &str) -> (Result<(), ScriptError>, String) {
    let (mut session, output) = dialog();
    let result = session.run_text("test.rhai", script);
    (result, output.text())
}

/// The output of a script.
fn printed(script: &str) -> String {
    let (result, text) = ran(script);
    match result {
        Ok(()) => text,
        Err(error) => panic!("{script}\n{}", error.render(false)),
    }
}

/// The message of a script that fails, and the text under its first mark.
fn fault(script: &str) -> (String, String) {
    let (result, text) = ran(script);
    let Err(error) = result else {
        panic!("{script}\nprints {text}");
    };
    let label = error.diagnostic.labels.first().expect("a place");
    let text = error.sources.get(&label.span.source).unwrap();
    let at = text[label.span.range.clone()].to_owned();
    (error.diagnostic.message, at)
}

/// The result of `teml` with these arguments on a script in a file: exit code, standard output,
/// standard error.
fn teml(arguments: &[&str], script: &str) -> (i32, String, String) {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("test.rhai"), script).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_teml"));
    let command = command.args(arguments).arg("test.rhai");
    let output = command.current_dir(directory.path()).output().unwrap();
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}
