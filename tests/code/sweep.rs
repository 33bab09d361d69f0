//! The results of `compare` and `measure`, and sweeps in which some variants fail.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use teml::runtime::Control;
use teml::script::Session;
use teml::verbs::Workbench;

const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");

fn teml(directory: &Path, script: &str, command: &str) -> Command {
    let file = directory.join("script.rhai");
    std::fs::write(&file, script).unwrap();
    let mut teml = Command::new(env!("CARGO_BIN_EXE_teml"));
    teml.arg(command).arg(file).env("TEML_CACHE_DIR", CACHE);
    teml
}

/// Row sums, and the matrix times its row sums: fused at level 2, the second nest reads sums
/// that are not finished.
const PROGRAM: &str = "let A = tensor([6, 7]);
let s = eq(vsum(vat(A, [i, k]), [k]), [i]);
let P = mul(A, s, [[i, k], [i]] -> [i, k]);
let first = build(s);
let second = build(P);
let racing = first.parallelize(2);
let early = first.fuse_outer(second, 2).assume(\"not so\");
let fused = first.fuse_outer(second.interchange(1, 2).interchange(1, 2), 1);
let variants = [[first, second], [racing, second], early, fused.named(\"good\")];
";

#[test]
fn variants_that_fail_are_named_and_the_others_go_on() {
    let directory = tempfile::tempdir().unwrap();
    let script = PROGRAM.to_owned()
        + "let rows = measure(variants);
           for row in rows { print(`${row.name} ${row.ok} ${row.len()}`); }
           print(rows[2].why);
           let good = rows.filter(|r| r.ok);
           good.sort(|a, b| a.median < b.median);
           print(good[0].median <= good[1].median && good[0].gflops > 0.0);";
    let output = teml(directory.path(), &script, "run").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    // The bar is for terminals.
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    let shown = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = shown.lines().collect();
    assert!(
        lines[0].starts_with("skipped second_2: `second_2` has no code: "),
        "{shown}"
    );
    assert!(lines[0].contains("cannot be parallelized"), "{shown}");
    assert!(
        lines[1].starts_with("skipped early: `early` computes a wrong P: "),
        "{shown}"
    );
    let rows = ["second true 8", "second_2 false 3", "early false 3"];
    assert_eq!(lines[2..5], rows, "{shown}");
    assert_eq!(lines[5], "good true 8");
    assert!(lines[6].contains("nothing was timed"), "{shown}");
    assert_eq!(lines[7], "true");
}

#[test]
fn what_all_variants_share_ends_the_sweep() {
    let directory = tempfile::tempdir().unwrap();
    let script = PROGRAM.to_owned() + "measure([first, second]);";
    let output = teml(directory.path(), &script, "run").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        errors.contains("`first` computes s, but `second` computes P"),
        "{errors}"
    );
}

#[test]
fn a_sweep_that_is_emitted_leaves_out_what_has_no_code() {
    let directory = tempfile::tempdir().unwrap();
    let script = PROGRAM.to_owned() + "if measure(variants).some(|r| r.ok) { throw \"it ran\" }";
    let output = teml(directory.path(), &script, "emit").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    assert!(
        errors.contains("skipped second_2: loop `k` cannot be parallelized"),
        "{errors}"
    );
    let c = String::from_utf8(output.stdout).unwrap();
    for symbol in ["void second(", "void early(", "void good("] {
        assert!(c.contains(symbol), "{c}");
    }
    assert!(!c.contains("second_2"), "{c}");
}

#[test]
fn a_sweep_stops_on_ctrl_c() {
    let script = "let n = 700; let A = tensor([n, n]); let C = contract(A, A, [2, 1]);
                  let l = build(C); let all = [];
                  for f in 2..400 { all.push(l.stripmine(1, f)) }
                  print(\"started\");
                  measure(all);
                  print(\"ended\");";
    let (code, shown, errors) = stopped(script, "run", "started");
    assert_eq!((code, shown.as_str()), (Some(130), "started\n"), "{errors}");
    assert!(errors.contains("interrupted"), "{errors}");
}

/// Runs a script, presses Ctrl-C once it has printed a line that contains `until`, and returns the
/// exit code, what was printed, and errors.
fn stopped(script: &str, command: &str, until: &str) -> (Option<i32>, String, String) {
    use std::io::{BufRead, BufReader, Read};
    let directory = tempfile::tempdir().unwrap();
    let mut child = teml(directory.path(), script, command)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut shown = String::new();
    while !shown.lines().last().unwrap_or_default().contains(until) {
        assert!(lines.read_line(&mut shown).unwrap() > 0, "{shown}");
    }
    let id = child.id().to_string();
    let kill = Command::new("kill").args(["-INT", &id]).status();
    assert!(kill.unwrap().success());
    lines.read_to_string(&mut shown).unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), shown, errors)
}

#[test]
fn who_waits_is_stopped() {
    for wait in ["sleep(3000)", "sleep(3000.5)", "sleep(1e300)"] {
        let script = format!("print(\"started\"); {wait}; print(\"ended\");");
        let (code, shown, errors) = stopped(&script, "run", "started");
        assert_eq!(code, Some(130), "{errors}");
        assert_eq!(shown, "started\n");
        assert!(errors.contains("interrupted"), "{errors}");
    }
    // Invalid or zero durations do not sleep.
    let directory = tempfile::tempdir().unwrap();
    let script = "sleep(0); sleep(-1); sleep(0.0/0.0); sleep(0.001); print(\"ended\");";
    let output = teml(directory.path(), script, "run").output().unwrap();
    assert_eq!(output.stdout, b"ended\n");
}

#[test]
fn a_search_that_is_stopped_keeps_its_best() {
    // The first point is tried before the second one is made.
    let script = "let A = tensor([64, 48]); let B = eq(2 * A, [i, j] -> [i, j]); let l = build(B);
                  tune(#{rows: 2..60}, |p| {
                      if p.rows > 2 { print(`made ${p.rows}`); sleep(3000); }
                      l.stripmine(1, p.rows)
                  }, #{search: \"exhaustive\"});
                  print(\"ended\");";
    for command in ["run", "tune"] {
        let (code, shown, errors) = stopped(script, command, "made 3");
        assert_eq!(code, Some(130), "{shown}{errors}");
        assert!(
            shown.contains("rows = 2") || shown.contains("rows: 2"),
            "{shown}{errors}"
        );
        assert!(!shown.contains("ended"), "{shown}");
    }
}

/// Each loop is bounded by the two around it, so the number of combinations of bounds is a
/// Fibonacci number.
#[test]
fn deep_nests_with_many_bounds_take_no_longer_than_others() {
    let depth = 60;
    let mut text = "  f64 A[100]\n  for a0 in 0..100\n    for a1 in 0..100\n".to_owned();
    for k in 2..depth {
        let (indent, one, two) = ("  ".repeat(k + 1), k - 1, k - 2);
        text += &format!("{indent}for a{k} in max(a{one} - 1, a{two} - 2)..100\n");
    }
    let indent = "  ".repeat(depth + 1);
    let last = depth - 1;
    text += &format!("{indent}for z in 0..a{last} - 1000\n{indent}  A[z] += 1\n");
    let script = format!(
        "let p = nest(`\n{text}`);
         for tail in [\"guard\", \"grid\", \"aligned\", \"cut\", \"exact\"] {{
             let q = unless_refused(|n| n.stripmine(\"z\", 4, tail), p);
         }}
         let q = unless_refused(|n| n.split_at(\"z\", 4), p);
         let q = unless_refused(|n| n.peel(\"z\", 1, \"front\"), p);
         let q = unless_refused(|n| n.interchange(\"a{last}\", \"z\"), p);
         let q = unless_refused(|n| n.stage(\"a{last}\", \"A\"), p);
         print(\"ended\");"
    );
    let directory = tempfile::tempdir().unwrap();
    let output = teml(directory.path(), &script, "run").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.stdout, b"ended\n", "{errors}");
}

#[test]
fn a_comparison_is_a_table_and_a_value() {
    let control = Control {
        worker: PathBuf::from(env!("CARGO_BIN_EXE_teml")),
        cache_dir: Some(PathBuf::from(CACHE)),
        ..Control::default()
    };
    let workbench = Workbench {
        control,
        ..Workbench::default()
    };
    let mut session = Session::new(Box::new(std::io::sink()), workbench)
        .ok()
        .unwrap();
    let mut line = |text: &str| match session.eval_line(text) {
        Ok(shown) => shown,
        Err(error) => panic!("{}", error.render(false)),
    };
    line(PROGRAM);
    // The table is printed already, so nothing is added.
    assert_eq!(line("compare([variants[0], fused])"), None);
    line("let rows = compare([variants[0], fused])");
    assert_eq!(line("rows.len()").as_deref(), Some("=> 2"));
    assert_eq!(
        line("rows.map(|r| r.name)").as_deref(),
        Some("=> [\"second\", \"fused\"]")
    );
    assert_eq!(
        line("rows.all(|r| r.ok && r.min > 0.0 && r.min <= r.median)").as_deref(),
        Some("=> true")
    );
    assert_eq!(line("rows[0].error").as_deref(), Some("=> 0.0"));
    assert!(line("rows").unwrap().contains("median"));
}

/// Loops of several assignments are named alike before they are repeated together.
#[test]
fn steps_of_several_assignments_are_compared() {
    let directory = tempfile::tempdir().unwrap();
    let script = "let A = tensor([9]);
        let B = tensor([9]);
        B = eq(vadd(A, A, [[i - 1], [i + 1]]), [i], [9]);
        let first = build(B);
        A = eq(B, [i] -> [i]);
        let steps = fuse_outer(first, build(A), 0).repeat(\"t\", 3);
        compare([steps, pluto(steps)]);";
    let output = teml(directory.path(), script, "run").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("checked: all 18 elements equal"), "{shown}");
}
