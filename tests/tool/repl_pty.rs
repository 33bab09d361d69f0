//! Real sessions at a pseudo-terminal.

use crate::workers::{wait_for_a_kernel, wait_for_a_worker, wait_for_work};
use expectrl::session::OsSession;
use expectrl::{ControlCode, Eof, Expect, Session};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use teml::repl::{LESSONS, Outcome, Repl};
use teml::verbs::Workbench;

struct Dialog(OsSession);

/// `teml repl` in a directory, with its history in `history`.
fn command(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teml"));
    command
        .arg("repl")
        .current_dir(directory)
        .env("TEML_HISTORY", directory.join("deep").join("history"))
        .env("NO_COLOR", "1")
        .env("TERM", "xterm")
        // Shows everything at once.
        .env("PAGER", "cat");
    command
}

impl Dialog {
    fn start(directory: &Path) -> Dialog {
        let mut dialog = Dialog::of(command(directory));
        dialog.prompt();
        dialog
    }

    fn of(command: Command) -> Dialog {
        let mut session = Session::spawn(command).unwrap();
        session.set_expect_timeout(Some(Duration::from_secs(300)));
        // Wide enough that no line of a test wraps.
        session.get_process_mut().set_window_size(160, 50).unwrap();
        Dialog(session)
    }

    fn send(&mut self, line: &str) {
        self.0.send(format!("{line}\r")).unwrap();
    }

    fn keys(&mut self, keys: &str) {
        self.0.send(keys).unwrap();
    }

    fn expect(&mut self, text: &str) {
        if let Err(error) = self.0.expect(text) {
            panic!("{text:?} did not come: {error}");
        }
    }

    /// Waits until the editor reads a new line: it then asks the terminal to mark what is pasted.
    /// The prompt alone says less, since it is redrawn at every key. Control characters mean
    /// something else while a line runs.
    fn prompt(&mut self) {
        self.expect("\x1b[?2004h");
        self.expect("teml> ");
    }

    fn process(&self) -> String {
        self.0.get_process().pid().to_string()
    }

    /// Types a line and waits for all of these texts.
    fn says(&mut self, line: &str, texts: &[&str]) {
        self.send(line);
        for text in texts {
            self.expect(text);
        }
        self.prompt();
    }

    fn leave(mut self) {
        self.0.send(ControlCode::EndOfTransmission).unwrap();
        self.0.expect(Eof).unwrap();
    }
}

const TENSORS: &str = "let A = tensor([8, 8]); let B = tensor([8, 8]);";
const NAIVE: &str = "let C = einsum(\"ik,kj->ij\", A, B); let naive = build(C);";
const PLAN: &str = "let plan = naive.interchange(\"j\", \"k\").vectorize(\"j\");";

#[test]
fn a_session() {
    let directory = tempfile::tempdir().unwrap();

    let mut dialog = Dialog::start(directory.path());
    dialog.send("let A = tensor([4, 5]); let B = eq(A, [i, j] -> [j, i]);");
    dialog.prompt();
    // A line that is open goes on behind another prompt, and is indented.
    dialog.send("let swap = |n| {");
    dialog.expect("  ...   ");
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
    dialog.says("A", &["f64 A[4][5]"]);

    // Ctrl-C discards the line that is edited.
    dialog.0.send("let lost = 1").unwrap();
    dialog.0.send(ControlCode::EndOfText).unwrap();
    dialog.prompt();
    dialog.says("lost", &["nothing is named `lost` here"]);

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
    wait_for_a_kernel(&dialog.process());
    dialog.0.send(ControlCode::EndOfText).unwrap();
    dialog.expect("interrupted while running kernel");
    dialog.prompt();
    dialog.says("s", &["sum(i, j, k: a[i] * a[j] * a[k])"]);
    dialog.says("40 + 2", &["=> 42"]);
    dialog.leave();

    // The history outlives the session, and is found by what is typed.
    let mut dialog = Dialog::start(directory.path());
    dialog.keys("\x1b[A");
    dialog.expect("40 + 2");
    dialog.says("", &["=> 42"]);
    dialog.keys("let s");
    dialog.keys("\x1b[A");
    dialog.expect("= eq(vsum(vmul");
    dialog.0.send(ControlCode::EndOfText).unwrap();
    dialog.prompt();
    dialog.leave();
}

#[test]
fn help_that_is_longer_than_the_screen_is_paged() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = command(directory.path());
    // A pager that the user leaves after the second line, and one that does not exist.
    command.env("PAGER", "sed -u s/^/paged:/;2q");
    let mut dialog = Dialog::of(command);
    dialog.prompt();
    dialog.says(":help", &["paged:"]);
    dialog.says(":help undo", &[":undo [LINES]"]);
    dialog.leave();
    let mut command = self::command(directory.path());
    command.env("PAGER", "/nowhere/pager");
    let mut dialog = Dialog::of(command);
    dialog.prompt();
    dialog.says(":help", &["exploring", "Ctrl-C stops"]);
    dialog.leave();
}

#[test]
fn every_command() {
    let directory = tempfile::tempdir().unwrap();
    let mut dialog = Dialog::start(directory.path());
    dialog.says(":help", &["exploring", ":moves [NEST", "transformations"]);
    dialog.says(":help seeing", &[":asm [LOOP]"]);
    dialog.says(":search diagonal", &["trace(t)"]);
    dialog.says("?tile", &["tile(nest"]);
    dialog.says("?scalar", &["    let s = scalar(\"f32\");"]);
    dialog.says("?gemm", &["schedules::gemm(nest"]);
    dialog.says(":kernels", &["mttkrp", "jacobi-2d"]);
    dialog.says(TENSORS, &[]);
    dialog.says(NAIVE, &["naive: legal; loops i, j, k"]);
    dialog.says(PLAN, &["plan: legal; 2 steps after naive"]);
    dialog.says(":vars", &["plan = nest plan"]);
    dialog.says(":show", &["iterations", "640 B"]);
    dialog.says(":c", &["void plan("]);
    dialog.says(":c naive", &["void naive("]);
    dialog.says(":c k", &["for (int64_t k = 0"]);
    dialog.says(":c k of naive", &["for (int64_t k = 0"]);
    dialog.says(":plan", &["for j in 0..8, in vectors of"]);
    dialog.says(":path", &[".vectorize(\"j\")"]);
    dialog.says(":diff naive, plan", &["+"]);
    dialog.says(":svg plan.svg", &["drawn in plan.svg"]);
    dialog.says(":html plan.html", &["drawn in plan.html"]);
    dialog.says(
        ":moves naive",
        &["interchange", "tile", "cost model expects"],
    );
    dialog.says(":check", &["legal"]);
    dialog.says(":time", &["GFLOP/s, checked"]);
    dialog.says(":branches", &["main", "plan,"]);
    dialog.says(":branch wide", &["begins here"]);
    dialog.says("let plan = naive.tile(4);", &["1 step after naive"]);
    // The steps inside of `tile` are one line.
    dialog.says(":undo", &["undone: let plan = naive.tile(4);"]);
    dialog.says("plan.path().len()", &["=> 3"]);
    dialog.says(":redo", &["redone"]);
    dialog.says(
        ":compare naive, plan",
        &["speed-up", "checked: all 64 elements"],
    );
    dialog.says(
        ":compare",
        &["untransformed", "plan", "main_plan", "checked"],
    );
    dialog.says(":export bundle", &["make run"]);
    dialog.says(":export alone, naive", &["written to alone"]);
    dialog.says("let nothing = nope();", &["nope"]);
    dialog.says(":save kept.rhai", &["4 lines saved"]);
    dialog.says(":reset", &["forgotten"]);
    dialog.says("plan", &["nothing is named `plan`"]);
    dialog.says(":load kept.rhai", &["plan: legal"]);
    // The saved session leads to the same nest.
    dialog.says("plan == naive.tile(4)", &["=> true"]);
    dialog.says(":kernels mm", &["packed: legal"]);
    dialog.says(":asm of packed", &["instructions"]);
    dialog.says(":asm packed", &["instructions"]);
    dialog.says(NAIVE, &["predicted"]);
    dialog.says(
        ":tune naive, #{trials: 3, search: \"random\"}",
        &["tuned: 3 trials", "tuned: legal"],
    );
    dialog.says(":branches", &["tuned, ", "s"]);
    dialog.says("tuned.path().len() > 2", &["=> true"]);
    dialog.says(":undo", &["undone: let tuned = {"]);
    dialog.says("tuned", &["nothing is named `tuned`"]);
    dialog.says(":redo", &["redone"]);
    dialog.says(":save tuned.rhai", &["saved"]);
    dialog.says(":tutorial", &["1 of 12"]);
    dialog.says(":tutorial stop", &["has ended"]);
    dialog.says(":hlep", &["did you mean `:help`?"]);
    dialog.says(":moves plan \"j\"", &["between arguments: `plan, \"j\"`"]);
    dialog.send(":quit");
    dialog.0.expect(Eof).unwrap();
    for file in ["plan.svg", "plan.html", "bundle/Makefile"] {
        assert!(directory.path().join(file).is_file(), "{file}");
    }
    // The result of a search is saved as steps, and needs no search.
    let saved = std::fs::read_to_string(directory.path().join("tuned.rhai")).unwrap();
    assert!(
        saved.contains("let tuned = {") && !saved.contains("= autotune("),
        "{saved}"
    );
}

/// Takes longer than anyone waits.
const PROOF: &str = "let P = tensor([40, 60, 60]); \
    P = eq(vadd(vadd(P, P, [[t - 1, x - 1, y], [t - 1, x + 1, y]]), P, [(), [t - 1, x, y - 1]]), [t, x, y]); \
    let swept = sweep(P).skew(\"x\", \"t\", 2).skew(\"y\", \"t\", 2); let all = [];";

/// Ctrl-C stops the current work, and the session continues: a search, and a proof inside the
/// polyhedral library. Scripts, kernels and edited lines are in [`a_session`].
#[test]
fn ctrl_c_stops_searches_and_proofs() {
    let directory = tempfile::tempdir().unwrap();
    let mut dialog = Dialog::start(directory.path());
    dialog.says(
        "let A = tensor([500, 500]); let B = tensor([500, 500]);",
        &[],
    );
    dialog.says(NAIVE, &["naive: legal"]);
    dialog.send("print(\"sea\" + \"rch\"); let t = autotune(naive, #{trials: 100000});");
    dialog.expect("search");
    wait_for_a_worker(&dialog.process(), 1);
    dialog.0.send(ControlCode::EndOfText).unwrap();
    dialog.expect("interrupted");
    dialog.prompt();
    dialog.says("t", &["nothing is named `t`"]);
    dialog.says("40 + 2", &["=> 42"]);

    dialog.says(PROOF, &[]);
    dialog.send(
        "print(\"pro\" + \"of\"); for a in 2..30 { for b in 2..30 { \
         check(swept.tile([\"t\", \"x\", \"y\"], [a, b, a + b])); } }",
    );
    dialog.expect("proof");
    wait_for_work(&dialog.process());
    dialog.0.send(ControlCode::EndOfText).unwrap();
    dialog.expect("interrupted");
    dialog.prompt();
    // Proofs go on.
    dialog.says(PLAN, &["plan: legal"]);
    dialog.leave();
}

#[test]
fn tab_completes() {
    let directory = tempfile::tempdir().unwrap();
    let mut dialog = Dialog::start(directory.path());
    dialog.says(TENSORS, &[]);
    dialog.says(NAIVE, &["naive: legal"]);
    dialog.keys("naive.unroll_a\t");
    dialog.expect("unroll_and_jam");
    dialog.keys("(\"");
    dialog.keys("\t\t");
    dialog.expect("i");
    dialog.expect("j");
    dialog.expect("k");
    dialog.0.send(ControlCode::EndOfText).unwrap();
    dialog.prompt();
    dialog.keys(":kernels mttk\t");
    dialog.says("", &["legal"]);
    dialog.leave();
}

#[test]
fn a_window_of_40_columns() {
    let directory = tempfile::tempdir().unwrap();
    let mut dialog = Dialog::of(command(directory.path()));
    dialog.0.get_process_mut().set_window_size(40, 24).unwrap();
    dialog.prompt();
    dialog.says(TENSORS, &[]);
    dialog.says(NAIVE, &["naive: legal"]);
    dialog.says(":moves", &["    interchange: j ", "the cost model"]);
    dialog.says(
        ":help exploring",
        &[":undo [LINES]", "    go back by one line that you"],
    );
    dialog.leave();
}

#[test]
fn colors_are_for_terminals_that_have_some() {
    let directory = tempfile::tempdir().unwrap();
    let mut colored = command(directory.path());
    colored.env_remove("NO_COLOR");
    let mut dialog = Dialog::of(colored);
    dialog.prompt();
    dialog.says(TENSORS, &[]);
    dialog.says(NAIVE, &["\x1b[32mlegal\x1b[0m"]);
    dialog.says("naive", &["\x1b[34mfor\x1b[0m \x1b[36mi\x1b[0m", "×8"]);
    dialog.leave();
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let mut plain = command(directory.path());
        plain.env_remove("NO_COLOR").env(name, value);
        let mut session = Session::spawn(plain).unwrap();
        session.set_expect_timeout(Some(Duration::from_secs(300)));
        session
            .send(format!("{TENSORS}\r{NAIVE}\rnaive\r:quit\r"))
            .unwrap();
        let all = session.expect(Eof).unwrap();
        let text = String::from_utf8_lossy(all.as_bytes()).into_owned();
        assert!(text.contains("for i in 0..8"), "{text}");
        assert!(!text.contains("\x1b[3"), "{name}: {text}");
    }
}

#[test]
fn a_history_that_cannot_be_written_is_one_warning() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = command(directory.path());
    command.env("TEML_HISTORY", directory.path());
    let mut dialog = Dialog::of(command);
    dialog.expect("history is not kept");
    dialog.prompt();
    dialog.says("1 + 1", &["=> 2"]);
    dialog.leave();
}

/// Lines that arrive while no line is edited wait: pasted at once, or typed while another one runs.
#[test]
fn lines_that_come_early_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let mut dialog = Dialog::start(directory.path());

    // Pasted, four at once, one of them over several lines.
    let pasted = "let a = 40\rlet f = |x| {\r  x + a\r}\rprint(\"sum \" + f.call(2))\r1000 + a\r";
    dialog.0.send(pasted).unwrap();
    dialog.expect("sum 42");
    dialog.expect("=> 1040");
    dialog.prompt();

    // Terminals put marks around what is pasted.
    dialog.says(TENSORS, &[]);
    dialog.says(NAIVE, &["naive: legal"]);
    let chain = "let p = naive\n    .interchange(\"j\", \"k\")\n    .vectorize(\"j\");";
    dialog.keys(&format!("\x1b[200~{chain}\x1b[201~"));
    dialog.says("", &["p: legal; 2 steps after naive"]);
    // Without marks, lines that begin with a dot continue the one before.
    dialog
        .0
        .send(chain.replace('\n', "\r").replace("p =", "q =") + "\r")
        .unwrap();
    dialog.expect("q: legal; the same steps as p");
    dialog.prompt();
    dialog.says("p == q", &["=> true"]);

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
    dialog.says("2000 + b", &["=> 2007"]);
    dialog.leave();

    // Every line is in the history.
    let history = directory.path().join("deep").join("history");
    let history = std::fs::read_to_string(history).unwrap();
    for line in ["let a = 40", "1000 + a", "let b = 7", "2000 + b"] {
        assert_eq!(
            history.lines().filter(|l| *l == line).count(),
            1,
            "{history}"
        );
    }
}

/// Nothing behind the end of input is read.
#[test]
fn pasted_lines_before_the_end_are_run() {
    let directory = tempfile::tempdir().unwrap();
    let mut dialog = Dialog::start(directory.path());
    dialog
        .0
        .send("print(\"fir\" + \"st\")\rprint(\"sec\" + \"ond\")\r:quit\r")
        .unwrap();
    dialog.expect("first");
    dialog.expect("second");
    dialog.0.expect(Eof).unwrap();
}

/// Lines of a pipe, and a script before them: the exit code, and what is printed.
fn piped(directory: &Path, arguments: &[&str], lines: &str) -> (i32, String) {
    let mut command = command(directory);
    command.args(arguments).env_remove("NO_COLOR");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, lines.as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), text)
}

#[test]
fn a_piped_session_has_an_exit_code() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(
        directory.path().join("script.rhai"),
        format!("{TENSORS}{NAIVE}\ncompare([naive]);\n"),
    )
    .unwrap();
    let quiet = ["script.rhai", "--no-compare"];
    let (code, text) = piped(directory.path(), &quiet, "naive\n");
    assert_eq!(code, 0);
    assert!(
        text.contains("for i in 0..8") && !text.contains("GFLOP/s"),
        "{text}"
    );
    assert!(!text.contains('\x1b'), "{text}");
    assert_eq!(
        piped(directory.path(), &[], "nope()\n1 + 1\n"),
        (1, "=> 2\n".to_owned())
    );
    assert_eq!(piped(directory.path(), &["nowhere.rhai"], "1\n").0, 1);
    assert_eq!(piped(directory.path(), &[], ":nope\n").0, 1);
}

#[test]
fn the_tutorial() {
    let directory = tempfile::tempdir().unwrap();
    let mut dialog = Dialog::start(directory.path());
    dialog.says(":tutorial", &["1 of 12"]);
    for (k, lesson) in LESSONS.iter().enumerate() {
        // A line of the user's own does not disturb the lesson.
        dialog.says("1 + 1", &["=> 2"]);
        dialog.send(lesson.line);
        if k + 1 < LESSONS.len() {
            dialog.expect(&format!("{} of 12", k + 2))
        } else {
            dialog.expect("That was the tutorial")
        }
        dialog.prompt();
    }
    dialog.leave();
}

/// The lines of the session in README.md.
const TRANSCRIPT: &[&str] = &[
    "let A = tensor([512, 512]); let B = tensor([512, 512]); let C = einsum(\"ik,kj->ij\", A, B);",
    "let naive = build(C);",
    "let plan = naive.parallelize(\"k\");",
    ":undo",
    "let plan = naive.interchange(\"j\", \"k\").parallelize(\"i\").vectorize(\"j\");",
    ":time",
];

/// README.md shows a session as it is. `TEML_BLESS=1` writes it there.
#[test]
fn the_session_in_the_readme() {
    let mut workbench = Workbench::default();
    workbench.control.worker = env!("CARGO_BIN_EXE_teml").into();
    let session = teml::script::Session::new(Box::new(std::io::sink()), workbench).unwrap();
    let mut repl = Repl::new(session);
    let mut shown = String::new();
    for line in TRANSCRIPT {
        shown.push_str(&format!("teml> {line}\n"));
        match repl.handle_line(line) {
            Outcome::Nothing => {}
            Outcome::Text(text) => shown.push_str(&format!("{text}\n")),
            other => panic!("{line}: {other:?}"),
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let heading = readme.find("## The REPL").unwrap();
    let start = heading + readme[heading..].find("```text\n").unwrap() + "```text\n".len();
    let end = start + readme[start..].find("```").unwrap();
    if std::env::var_os("TEML_BLESS").is_some() {
        let text = format!("{}{shown}{}", &readme[..start], &readme[end..]);
        return std::fs::write(&path, text).unwrap();
    }
    // Times and predictions differ.
    let masked = |text: &str| -> String {
        let mask = |line: &str| match line.split_once("; predicted ") {
            Some((line, _)) => line.to_owned(),
            None if line.contains("GFLOP/s") => "plan: a time".to_owned(),
            None => line.to_owned(),
        };
        text.lines().map(mask).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(masked(&shown), masked(&readme[start..end]));
}

/// Tables and their notes have the width of the terminal, not of the longest line.
#[test]
fn a_run_fits_a_narrow_terminal() {
    let place = tempfile::tempdir().unwrap();
    let script = "let A = tensor([20, 30]);\nlet naive = build(stored(2 * A));\n\
                  compare([naive, naive.parallelize(1)]);\n";
    std::fs::write(place.path().join("small.rhai"), script).unwrap();
    let teml = env!("CARGO_BIN_EXE_teml");
    // It begins once the width of this terminal is set.
    let text = format!("read go; stty rows 24 cols 40; exec {teml} run small.rhai 2>/dev/null");
    let mut command = Command::new("sh");
    command.args(["-c", &text]).current_dir(place.path());
    let mut dialog = Dialog::of(command);
    dialog.send("");
    let shown = dialog.0.expect(Eof).unwrap();
    let shown = String::from_utf8_lossy(shown.as_bytes()).into_owned();
    let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
    assert!(
        lines.iter().all(|line| line.chars().count() <= 40),
        "{shown}"
    );
    assert!(
        shown.contains("speed-up") && !shown.contains("spread"),
        "{shown}"
    );
    assert!(
        lines.contains(&"checked: all 600 elements equal the"),
        "{shown}"
    );
    assert!(lines.contains(&"  definition"), "{shown}");
}
