//! A real session at a pseudo-terminal.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use expectrl::session::OsSession;
use expectrl::{ControlCode, Eof, Expect, Session};
use std::process::Command;
use std::time::Duration;

struct Dialog(OsSession);

impl Dialog {
    fn start(history: &std::path::Path) -> Dialog {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teml"));
        command
            .arg("repl")
            .env("TEML_HISTORY", history)
            .env("TERM", "xterm");
        let mut session = Session::spawn(command).unwrap();
        session.set_expect_timeout(Some(Duration::from_secs(20)));
        let mut dialog = Dialog(session);
        dialog.prompt();
        dialog
    }

    fn send(&mut self, line: &str) {
        self.0.send(format!("{line}\r")).unwrap();
    }

    fn expect(&mut self, text: &str) {
        if let Err(error) = self.0.expect(text) {
            panic!("{text:?} did not come: {error}");
        }
    }

    /// Waits for a prompt. It is drawn at every key, too, so the line may still be at work, and
    /// control characters mean something else until the editor listens again.
    fn prompt(&mut self) {
        self.expect("teml> ");
        std::thread::sleep(Duration::from_millis(300));
    }

    fn leave(mut self) {
        self.0.send(ControlCode::EndOfTransmission).unwrap();
        self.0.expect(Eof).unwrap();
    }
}

#[test]
fn a_session() {
    let directory = tempfile::tempdir().unwrap();
    let history = directory.path().join("deep").join("history");

    let mut dialog = Dialog::start(&history);
    dialog.send("let A = tensor([4, 5]); let B = eq(A, [i, j] -> [j, i]);");
    dialog.prompt();
    dialog.send("let swap = |n| {");
    dialog.send("    n.interchange(1, 2)");
    dialog.send("};");
    dialog.prompt();
    dialog.send("swap.call(build(B))");
    dialog.expect("for i in 0..4");
    dialog.expect("  for j in 0..5");
    dialog.prompt();

    // An error has its place and leaves the session as it was.
    dialog.send("A = 3; build(B).unroll(9)");
    dialog.expect("there is no level 9");
    dialog.expect("<line 4>:1:24");
    dialog.prompt();
    dialog.send("A");
    dialog.expect("f64 A[4][5]");
    dialog.prompt();

    // Ctrl-C discards the line that is edited.
    dialog.0.send("let lost = 1").unwrap();
    dialog.0.send(ControlCode::EndOfText).unwrap();
    dialog.prompt();
    dialog.send("lost");
    dialog.expect("nothing is named `lost` here");
    dialog.prompt();

    // Ctrl-C stops a line that runs.
    dialog.send("print(\"on\" + \"wards\"); loop { }");
    dialog.expect("onwards");
    dialog.0.send(ControlCode::EndOfText).unwrap();
    dialog.expect("interrupted");
    dialog.prompt();

    // Ctrl-C stops a kernel that never ends, and the session goes on.
    dialog.send("let a = tensor([100000]);");
    dialog.prompt();
    dialog.send("let s = eq(vsum(vmul(vmul(a, a, [[i], [j]]), a, [(), [k]]), [i, j, k]), []);");
    dialog.prompt();
    dialog.send("print(\"ker\" + \"nel\"); compare(build(s))");
    dialog.expect("kernel");
    std::thread::sleep(Duration::from_millis(3000));
    dialog.0.send(ControlCode::EndOfText).unwrap();
    dialog.expect("interrupted while running kernel");
    dialog.prompt();
    dialog.send("s");
    dialog.expect("sum(i, j, k: a[i] * a[j] * a[k])");
    dialog.prompt();

    dialog.send("40 + 2");
    dialog.expect("=> 42");
    dialog.prompt();
    dialog.leave();

    // The history outlives the session.
    let mut dialog = Dialog::start(&history);
    dialog.0.send("\x1b[A").unwrap();
    dialog.expect("40 + 2");
    dialog.send("");
    dialog.expect("=> 42");
    dialog.prompt();
    dialog.leave();
}

#[test]
fn a_history_that_cannot_be_written_is_one_warning() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_teml"));
    command
        .arg("repl")
        .env("TEML_HISTORY", directory.path())
        .env("TERM", "xterm");
    let mut session = Session::spawn(command).unwrap();
    session.set_expect_timeout(Some(Duration::from_secs(20)));
    let mut dialog = Dialog(session);
    dialog.expect("history is not kept");
    dialog.prompt();
    dialog.send("1 + 1");
    dialog.expect("=> 2");
    dialog.prompt();
    dialog.leave();
}

/// Lines that come while nobody edits wait: pasted at once, or typed while another one runs.
#[test]
fn lines_that_come_early_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let mut dialog = Dialog::start(&directory.path().join("history"));

    // Pasted, four at once, one of them over several lines.
    let pasted = "let a = 40\rlet f = |x| {\r  x + a\r}\rprint(\"sum \" + f.call(2))\r1000 + a\r";
    dialog.0.send(pasted).unwrap();
    dialog.expect("sum 42");
    dialog.expect("=> 1040");
    dialog.prompt();

    // Typed while a line runs, which says when it does.
    dialog.send(
        "print(\"be\" + \"gun\"); let n = 0; while n < 3000000 { n += 1; } print(\"en\" + \"ded\")",
    );
    dialog.expect("begun");
    dialog.send("let b = 7");
    dialog.send("print(\"pro\" + \"duct \" + b * 6)");
    dialog.expect("ended");
    dialog.expect("product 42");
    dialog.prompt();
    dialog.send("2000 + b");
    dialog.expect("=> 2007");
    dialog.prompt();
    dialog.leave();

    // Every line is in the history.
    let history = std::fs::read_to_string(directory.path().join("history")).unwrap();
    for line in ["let a = 40", "1000 + a", "let b = 7", "2000 + b"] {
        assert_eq!(
            history.lines().filter(|l| *l == line).count(),
            1,
            "{history}"
        );
    }
}

/// What follows the end of input is not read.
#[test]
fn pasted_lines_before_the_end_are_run() {
    let directory = tempfile::tempdir().unwrap();
    let mut dialog = Dialog::start(&directory.path().join("history"));
    dialog
        .0
        .send("print(\"fir\" + \"st\")\rprint(\"sec\" + \"ond\")\r:quit\r")
        .unwrap();
    dialog.expect("first");
    dialog.expect("second");
    dialog.0.expect(Eof).unwrap();
}
