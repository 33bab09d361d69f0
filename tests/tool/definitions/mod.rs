//! Definitions have their obvious meaning, or are refused: variables beside iterators, ranges,
//! omitted lists, unused results.

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
mod ranges;
mod triangular;
mod unused;

use std::io::Write;
use std::process::Command;
use std::sync::{Arc, Mutex};
use teml::script::{ScriptError, Session};
use teml::verbs::Workbench;

#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn dialog() -> (Session, Output) {
    let output = Output::default();
    let session = Session::new(Box::new(output.clone()), Workbench::default());
    (session.unwrap(), output)
}

fn ran(script: &str) -> (Result<(), ScriptError>, String) {
    let (mut session, output) = dialog();
    let result = session.run_text("test.rhai", script);
    let bytes = output.0.lock().unwrap().clone();
    (result, String::from_utf8(bytes).unwrap())
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
