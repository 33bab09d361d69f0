//! Runs of `tune` with stubbed times and stub compilers.

mod launched;
mod model;
mod stub;

use crate::waiting::eventually;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use stub::{session, times};
use teml::tune::{Kind, Record, read};

const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");

/// A small space over the tiles of a copy.
const SCRIPT: &str = "
let A = tensor([64, 48]);
let B = eq(2 * A, [i, j] -> [i, j]);
let naive = build(B);
let space = #{rows: 2..12, columns: 2..12};
let found = tune(space, |p| naive.stripmine(\"i\", p.rows).stripmine(\"j\", p.columns), OPTIONS);
print(found.parameters);
";

fn with(options: &str) -> String {
    SCRIPT.replace("OPTIONS", options)
}

fn teml(directory: &Path, command: &[&str], script: &str) -> Command {
    std::fs::write(directory.join("script.rhai"), script).unwrap();
    let mut teml = Command::new(env!("CARGO_BIN_EXE_teml"));
    teml.args(command).arg("script.rhai").current_dir(directory);
    teml.env("TEML_CACHE_DIR", CACHE);
    teml
}

fn shown(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn refusals_are_counted_and_mistakes_end_the_script() {
    let script = "
let A = tensor([60]);
let B = stored(2 * A);
let naive = build(B);
let found = tune(#{n: [2, 3, 7, 8, 10]}, |p| naive.stripmine(1, p.n, \"exact\"), #{search: \"exhaustive\"});
let counted = 0;
for key in found.refused.keys() { counted += found.refused[key]; }
print(`${found.trials} ${counted}`);
";
    let (ran, printed) = session(script);
    ran.unwrap();
    assert!(printed.contains("3 2"), "{printed}");
    assert!(printed.contains("refused: 2x stripmine: "), "{printed}");
    let (ran, _) = session(&script.replace("stripmine(1, p.n", "stripmine(\"x\", p.m"));
    let error = ran.unwrap_err();
    assert!(error.contains("m") && error.contains("script:5"), "{error}");
    let (ran, _) = session(&script.replace("[2, 3, 7, 8, 10]", "[7, 8]"));
    let error = ran.unwrap_err();
    assert!(
        error.contains("every point of the space is refused"),
        "{error}"
    );
    let (ran, _) = session(&script.replace("search: \"exhaustive\"", "serch: 1"));
    assert!(ran.unwrap_err().contains("has no option `serch`"));
}

#[test]
fn points_that_take_long_to_make_take_no_more_time_than_there_is() {
    // A model would examine hundreds of points before it proposes the first one.
    let script = "
let A = tensor([64, 48]);
let B = eq(2 * A, [i, j] -> [i, j]);
let naive = build(B);
let made = 0;
let found = tune(#{rows: 2..60, columns: 2..40}, |p| {
    made += 1;
    sleep(0.2);
    naive.stripmine(\"i\", p.rows).stripmine(\"j\", p.columns)
}, #{seconds: 3});
print(`${found.trials} ${made}`);
";
    let (ran, printed) = session(script);
    ran.unwrap();
    let counts = printed.lines().last().unwrap();
    let counts: Vec<usize> = counts.split(' ').map(|n| n.parse().unwrap()).collect();
    // On any machine, 3 seconds are over after 15 points.
    assert!(counts[0] >= 1 && counts[1] <= 20, "{printed}");
}

#[test]
fn parameters_depend_on_others_and_constraints_hold() {
    let script = "
let A = tensor([64]);
let B = stored(2 * A);
let naive = build(B);
let space = #{a: |p| divisors(p.block), block: [8, 12], last: |p| [p.a]};
let found = tune(space, |p| naive.stripmine(1, p.block).stripmine(\"i1_i\", p.a + p.last),
    #{search: \"exhaustive\", constraint: |p| p.a > 1 && p.a < p.block});
print(found.trials);
";
    let (ran, printed) = session(script);
    ran.unwrap();
    // 2 and 4 of 8; 2, 3, 4 and 6 of 12.
    assert!(printed.ends_with("6\n"), "{printed}");
    let (ran, _) = session(&script.replace("[8, 12]", "|p| [p.a]"));
    assert!(ran.is_err());
    // A parameter may have no values at some points, but not at all of them.
    let some = script.replace("[p.a]", "if p.block == 8 { [] } else { [p.a] }");
    let (ran, printed) = session(&some);
    ran.unwrap();
    assert!(printed.ends_with("4\n"), "{printed}");
    let (ran, _) = session(&script.replace("[p.a]", "[]"));
    let error = ran.unwrap_err();
    assert!(
        error.contains("the parameter `last` without values"),
        "{error}"
    );
}

#[test]
fn what_was_killed_goes_on_to_the_same_answer() {
    let whole = tempfile::tempdir().unwrap();
    let records = whole.path().join("records.jsonl");
    let options = |path: &Path| {
        let path = path.display();
        with(&format!(
            "#{{trials: 40, seed: 5, records: \"{path}\", resume: true}}"
        ))
    };
    let (ran, expected) = session(&options(&records));
    ran.unwrap();
    let answer = |printed: &str| printed.lines().last().unwrap().to_owned();

    let cut = tempfile::tempdir().unwrap();
    let records = cut.path().join("records.jsonl");
    std::fs::write(cut.path().join("script"), options(&records)).unwrap();
    // This test program, as another process.
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["tuning::child", "--exact"])
        .env("TEML_TUNED_BY_A_CHILD", cut.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let lines = |path: &Path| std::fs::read_to_string(path).map_or(0, |text| text.lines().count());
    assert!(eventually(
        || lines(&records) >= 7 || child.try_wait().unwrap().is_some()
    ));
    child.kill().unwrap();
    child.wait().unwrap();
    // A line that was cut off, as if it were killed while it wrote.
    let mut text = std::fs::read_to_string(&records).unwrap();
    text.push_str("{\"teml\":\"0");
    std::fs::write(&records, text).unwrap();
    let before = read(&records).unwrap().len();
    assert!((7..40).contains(&before), "{before}");
    let (ran, resumed) = session(&options(&records));
    ran.unwrap();
    assert!(resumed.contains("recorded before: "), "{resumed}");
    assert_eq!(answer(&resumed), answer(&expected));
    let trials = |path: &Path| -> Vec<Record> {
        let all = read(path).unwrap();
        all.into_iter().filter(|r| r.kind == Kind::Trial).collect()
    };
    let points = |path: &Path| -> Vec<String> {
        let trials = trials(path);
        trials
            .iter()
            .map(|r| format!("{:?} {:?}", r.parameters, r.runs))
            .collect()
    };
    assert_eq!(
        points(&records),
        points(&whole.path().join("records.jsonl"))
    );
}

/// The process that another test kills.
#[test]
fn child() {
    if let Ok(directory) = std::env::var("TEML_TUNED_BY_A_CHILD") {
        let script = std::fs::read_to_string(PathBuf::from(directory).join("script")).unwrap();
        stub::slow_session(&script).0.unwrap();
    }
}

#[test]
fn a_full_disk_ends_the_records_but_not_the_search() {
    let (ran, printed) = session(&with("#{trials: 5, records: \"/dev/full\"}"));
    ran.unwrap();
    assert!(
        printed.contains("warning: cannot write records: /dev/full: "),
        "{printed}"
    );
    assert!(printed.contains("tuned: 5 trials"), "{printed}");
}

/// Its first lines fit; the disk is full after that.
#[test]
fn a_full_disk_keeps_what_was_recorded() {
    let whole = tempfile::tempdir().unwrap();
    let cut = tempfile::tempdir().unwrap();
    let options = |directory: &Path| {
        let path = directory.join("records.jsonl");
        let path = path.display();
        with(&format!(
            "#{{trials: 20, seed: 2, records: \"{path}\", resume: true}}"
        ))
    };
    session(&options(whole.path())).0.unwrap();
    std::fs::write(cut.path().join("script"), options(cut.path())).unwrap();
    // Files of 16 KiB at most. The signal that says so is ignored, as by any program that writes.
    let limited = "trap '' XFSZ; ulimit -f 32; exec \"$0\" tuning::child --exact";
    let ended = Command::new("sh")
        .args(["-c", limited])
        .arg(std::env::current_exe().unwrap())
        .env("TEML_TUNED_BY_A_CHILD", cut.path())
        .output()
        .unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let lines = |directory: &Path| -> Vec<String> {
        let text = std::fs::read_to_string(directory.join("records.jsonl")).unwrap();
        text.lines().map(str::to_owned).collect()
    };
    let (mut kept, all) = (lines(cut.path()), lines(whole.path()));
    // The last line does not fit.
    kept.pop();
    assert!(!kept.is_empty() && kept.len() < 20, "{}", kept.len());
    let is_same = |(a, b): (&String, &String)| a == b;
    assert!(kept.iter().zip(&all).all(is_same));
    // When there is room again, the search goes on to the same answer.
    let (ran, resumed) = session(&options(cut.path()));
    ran.unwrap();
    let known = format!("recorded before: {} of the trials", kept.len());
    assert!(resumed.contains(&known), "{resumed}");
    assert_eq!(lines(cut.path()).last(), all.last());
}

#[test]
fn refusals_that_differ_in_names_and_numbers_are_one() {
    let script = "
let A = tensor([60, 70]);
let B = stored(2 * A);
let naive = build(B);
let space = #{l: [\"i1\", \"i2\"], n: [7, 8, 9, 11, 60]};
let found = tune(space, |p| naive.stripmine(p.l, p.n, \"exact\"), #{search: \"exhaustive\"});
print(found.refused.len());
";
    let (ran, printed) = session(script);
    ran.unwrap();
    assert!(printed.ends_with("\n1\n"), "{printed}");
}

#[test]
fn nests_that_no_schedule_knows_take_legal_moves() {
    let script = "
let A = tensor([40, 30]);
let B = tensor([40, 30]);
let sum = scalar();
let naive = nest(`
  ${A}
  ${B}
  ${sum}
  for i in 0..40
    sum = 0
    for j in 0..30
      sum += A[i][j]
    for k in 0..30
      B[i][k] = A[i][k] / sum
  for l in 0..30
    for m in 0..40
      B[m][l] = 2 * B[m][l]`);
let space = space_of(naive);
print(space.kind.contains(\"moves\"));
space.kind = [\"moves\"];
let seen = #{};
let found = tune(space, |p| {
    let made = sketch(naive, p);
    for step in [p.step1, p.step2, p.step3] { if !step.is_empty() { seen[step[0]] = true; } }
    if check(made).legal != true { throw `illegal: ${p}`; }
    made
}, #{trials: 12, search: \"random\"});
print(seen.keys());
";
    let (ran, printed) = session(script);
    ran.unwrap();
    let last = printed.lines().last().unwrap();
    assert!(printed.starts_with("true\n"), "{printed}");
    assert!(
        last.contains("interchange") && last.contains("tile"),
        "{printed}"
    );
    assert!(printed.contains("tuned: 12 trials"), "{printed}");
}

#[test]
fn points_that_make_the_same_nests_are_tried_once() {
    let script = "
let A = tensor([60]);
let B = stored(2 * A);
let naive = build(B);
let space = #{n: [2, 3, 4], unused: 0..5};
let found = tune(space, |p| naive.stripmine(1, p.n), #{search: \"exhaustive\"});
print(found.trials);
";
    let (ran, printed) = session(script);
    ran.unwrap();
    assert!(printed.ends_with("\n3\n"), "{printed}");
    let expected = "not tried again: 12 points whose nests are those of another point";
    assert!(printed.contains(expected), "{printed}");
}

#[test]
fn records_of_anything_else_are_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    let records = directory.path().join("records.jsonl");
    let options = format!(
        "#{{trials: 6, resume: true, records: \"{}\"}}",
        records.display()
    );
    session(&with(&options)).0.unwrap();
    let text = std::fs::read_to_string(&records).unwrap();
    let known = |script: &str| -> bool {
        let (ran, printed) = session(script);
        ran.unwrap();
        std::fs::write(&records, &text).unwrap();
        printed.contains("recorded before: 6 of the trials")
    };
    assert!(known(&with(&options)));
    // The same points of another function, with other nests.
    let other = with(&options).replace("p.columns)", "p.columns).vectorize(\"j_i\")");
    assert!(!known(&other));
    // Sums in any order, and another definition.
    assert!(!known(&format!(
        "reductions(\"reassoc\");{}",
        with(&options)
    )));
    assert!(!known(&with(&options).replace("2 * A", "3 * A")));
    // Another compiler, other flags, caches, threads, version.
    let best = format!(
        "let A = tensor([64, 48]);
         let B = eq(2 * A, [i, j] -> [i, j]);
         print(best(build(B), {:?}) != ());",
        records.display().to_string()
    );
    let facts = [
        ("\"compiler\":\"a stub\"", "\"compiler\":\"another\""),
        ("\"flags\":\"\"", "\"flags\":\"-O1\""),
        ("\"threads\":", "\"threads\":1"),
        ("\"caches\":[", "\"caches\":[7,"),
        ("\"teml\":\"", "\"teml\":\"9."),
    ];
    assert_eq!(session(&best).1, "true\n");
    for (from, to) in facts {
        assert!(text.contains(from), "{from}");
        std::fs::write(&records, text.replace(from, to)).unwrap();
        assert_eq!(session(&best).1, "false\n", "{from}");
        let (ran, printed) = session(&with(&options));
        ran.unwrap();
        assert!(!printed.contains("recorded before"), "{from}: {printed}");
    }
}

#[test]
fn what_a_script_compares_is_tuned_applied_and_taken_by_optimize() {
    let directory = tempfile::tempdir().unwrap();
    let cache = directory.path().join("cache");
    let computation = "let A = tensor([64, 48]);\nlet B = eq(2 * A, [i, j] -> [i, j]);\n";
    let compares = format!("{computation}compare([build(B)]);");
    let run = |command: &[&str], script: &str| {
        let mut teml = teml(directory.path(), command, script);
        teml.env("TEML_CACHE_DIR", &cache).output().unwrap()
    };
    let tune = ["tune", "--trials", "3", "--records", "records.jsonl"];
    let tuned = shown(&run(&tune, &compares));
    assert!(tuned.contains("tuned: 3 trials"), "{tuned}");
    let all = read(&directory.path().join("records.jsonl")).unwrap();
    let kind = format!("{:?}", all[0].parameters["kind"]);
    assert_eq!(
        kind, "Text(\"optimize\")",
        "what is to be beaten comes first"
    );
    // The script that is printed replays without tuning.
    let script = tuned.split_once("let ").expect("a script").1;
    let script = format!("let {}", script.trim_end());
    let checked = shown(&run(
        &["check"],
        &format!("let plan = {{\n{script}\n}};\ncompare([plan]);"),
    ));
    assert!(checked.contains("plan: legal"), "{checked}");
    let applied = shown(&run(&["apply", "records.jsonl"], &compares));
    assert!(applied.contains("| tuned"), "{applied}");
    let other = compares.replace("48", "47");
    let refused = run(&["apply", "records.jsonl"], &other);
    assert!(!refused.status.success());
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert!(
        errors.contains("no record is of this computation, with these extents and types"),
        "{errors}"
    );
    let optimizes =
        format!("{computation}print(schedules::optimize(build(B)) == recorded(build(B)));");
    let taken = shown(&run(&["run"], &optimizes));
    assert_eq!(
        taken,
        "schedules::optimize: takes the winner that `teml tune` has recorded\ntrue\n"
    );
    let others = shown(&run(&["run"], &optimizes.replace("48", "47")));
    assert_eq!(
        others,
        "schedules::optimize: elements (schedules::pointwise)\nfalse\n"
    );
    // A check still takes a sample of the space.
    let searches = with("#{trials: 3}");
    let winners = || std::fs::read_to_string(cache.join("winners.jsonl")).unwrap();
    let before = winners();
    assert_eq!(before.lines().count(), 1);
    shown(&run(&["tune"], &searches));
    // A search of another space may know less than `schedules::optimize`.
    assert_eq!(winners(), before);
    let checked = shown(&run(&["check"], &searches));
    assert!(checked.matches(": legal").count() > 2, "{checked}");
    // The emitted C is the winner's, unless it is for another target.
    let native = shown(&run(&["emit"], &searches));
    let foreign = shown(&run(&["emit", "--target", "neon"], &searches));
    assert_ne!(native.matches("tuned").count(), 0);
    assert_ne!(native, foreign);
}

#[test]
fn the_list_of_the_fastest_is_in_the_order_of_the_times_that_it_shows() {
    let (ran, printed) = session(&with("#{search: \"exhaustive\"}"));
    ran.unwrap();
    let heading = printed.lines().find(|l| l.starts_with("shortest times"));
    let heading = heading.unwrap();
    let finalists = heading.split_once("the first ").unwrap().1;
    let finalists: usize = finalists.split_once(' ').unwrap().0.parse().unwrap();
    let shown = printed.lines().filter(|line| line.contains("GFLOP/s: "));
    let shown: Vec<f64> = shown
        .map(|line| line.split_whitespace().nth(1).unwrap().parse().unwrap())
        .collect();
    assert_eq!(shown.len(), 10, "{printed}");
    let (first, rest) = shown.split_at(finalists);
    assert!(first.is_sorted() && rest.is_sorted(), "{printed}");
    assert_eq!(printed.matches("wins)").count(), 1, "{printed}");
}

#[test]
fn the_fastest_of_a_stubbed_space_is_found_and_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let records = directory.path().join("records.jsonl");
    let options = format!(
        "#{{search: \"exhaustive\", records: \"{}\"}}",
        records.display()
    );
    let (ran, _) = session(&with(&options));
    ran.unwrap();
    let all = read(&records).unwrap();
    let winner = all.iter().find(|r| r.kind == Kind::Winner).unwrap();
    let least = all
        .iter()
        .map(|r| r.median().unwrap())
        .fold(f64::INFINITY, f64::min);
    assert!(times(&winner.nests) <= 1.05 * least, "{winner:?}");
    // There is none for another computation.
    let script = format!(
        "let A = tensor([64, 48]);
         let B = eq(2 * A, [i, j] -> [i, j]);
         print(best(build(B), {0:?}) != ());
         let B = eq(3 * A, [i, j] -> [i, j]);
         print(best(build(B), {0:?}) == ());",
        records.display().to_string()
    );
    let (ran, printed) = session(&script);
    ran.unwrap();
    assert_eq!(printed, "true\ntrue\n");
}

#[test]
fn candidates_that_fail_are_recorded_and_the_search_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let compiler = directory.path().join("stub");
    // A variant has a defect in every file that contains it.
    let text = r#"#!/bin/sh
of() { echo "/^\/\/   stripmine(\"i\", $1)/,/^}/ $2"; }
for file; do case $file in *.c)
  echo "$file" >> "$LOG"
  grep -q '^//   stripmine("i", 3)' "$file" && { echo "$file:1:1: error: a stub" >&2; exit 1; }
  sed -i -e "$(of 4 's/^{$/{ for (volatile int go = 1; go;) ;/')" \
    -e "$(of 5 's/^{$/{ __builtin_trap();/')" \
    -e "$(of 6 '{ s/ 2 \* / 3 * /; s/2\.0/3.0/g; }')" "$file"
esac; done
exec cc "$@"
"#;
    std::fs::write(&compiler, text).unwrap();
    std::fs::set_permissions(
        &compiler,
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let script = with("#{search: \"exhaustive\", trials: 7, records: \"records.jsonl\"}");
    let mut run = teml(directory.path(), &["run", "--time-limit", "2"], &script);
    let log = directory.path().join("log");
    let run = run
        .env("CC", &compiler)
        .env("LOG", &log)
        .env("RAYON_NUM_THREADS", "2")
        .env("TEML_CACHE_DIR", directory.path());
    let printed = shown(&run.output().unwrap());
    let log = std::fs::read_to_string(&log).unwrap();
    assert!(log.contains("batch.c"), "{log}");
    let all = read(&directory.path().join("records.jsonl")).unwrap();
    let outcomes: Vec<&str> = all.iter().map(|r| r.outcome.as_str()).collect();
    let expected = [
        "ok",
        "not compiled",
        "hung",
        "crashed",
        "wrong",
        "ok",
        "ok",
        "ok",
    ];
    assert_eq!(outcomes, expected, "{printed}");
    for word in ["not compiled", "hung", "crashed", "wrong"] {
        assert!(printed.contains(&format!("out: 1 {word}")), "{printed}");
    }
}

#[test]
fn a_search_is_checked_emitted_and_applied() {
    let directory = tempfile::tempdir().unwrap();
    let script = with("#{trials: 6}");
    let checked = shown(
        &teml(directory.path(), &["check"], &script)
            .output()
            .unwrap(),
    );
    assert_eq!(checked.matches(": legal").count(), 8, "{checked}");
    let c = shown(&teml(directory.path(), &["emit"], &script).output().unwrap());
    assert_eq!(c.matches("void tuned(").count(), 1, "{c}");
    let page = [
        "tune",
        "--records",
        "records.jsonl",
        "--page",
        "page.html",
        "--trials",
        "4",
    ];
    let tuned = shown(&teml(directory.path(), &page, &script).output().unwrap());
    assert!(
        tuned.contains("tuned: 4 trials") && tuned.contains("stripmine"),
        "{tuned}"
    );
    let html = std::fs::read_to_string(directory.path().join("page.html")).unwrap();
    roxmltree::Document::parse(html.trim_start_matches("<!DOCTYPE html>")).unwrap();
    assert!(
        html.contains("Convergence") && html.contains("columns"),
        "{html}"
    );
    for part in [
        "<title>Search: B</title>",
        "<dt>Processor</dt>",
        "<dt>Date</dt>",
        "<dt>Cost model</dt><dd>off by a factor of ",
        "The schedule of the winner</h2>",
        ".stripmine(",
        "void winner(",
        "class=\"legend\"",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    let applied = teml(directory.path(), &["apply", "records.jsonl"], &script)
        .output()
        .unwrap();
    let applied = shown(&applied);
    assert!(
        applied.starts_with("recorded: ") && !applied.contains("tuned:"),
        "{applied}"
    );
}

#[test]
fn scripts_that_tune_run_at_mini_size() {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/autotune");
    let mut count = 0;
    for entry in std::fs::read_dir(scripts).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text
            .lines()
            .filter(|line| !line.trim().is_empty() && !line.starts_with("//"));
        assert!(code.count() <= 12, "{}", path.display());
        let mut teml = Command::new(env!("CARGO_BIN_EXE_teml"));
        teml.arg("run")
            .arg(&path)
            .args(["--size", "mini"])
            .env("TEML_CACHE_DIR", CACHE);
        let printed = shown(&teml.output().unwrap());
        assert!(
            printed.contains("tuned: ") && printed.contains("1.00x"),
            "{printed}"
        );
        count += 1;
    }
    assert_eq!(count, 12);
}
