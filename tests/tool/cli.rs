//! The command line, as a user calls it.

use crate::waiting::eventually;
use crate::workers::{wait_for_a_kernel, wait_for_work};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const MAIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/optimize_mttkrp.rhai");

fn teml(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teml"));
    command.args(arguments);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn write(directory: &Path, name: &str, contents: &str) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, contents).unwrap();
    path
}

/// Runs a script and expects exit code 1 and `message` on standard error.
fn fails_with(script: &str, environment: &[(&str, &str)], arguments: &[&str], message: &str) {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "script.rhai", script);
    let mut command = teml(&["run", path.to_str().unwrap()]);
    let cache = directory.path().join("cache");
    command.args(arguments).env("TEML_CACHE_DIR", cache);
    let output = command.envs(environment.iter().copied()).output().unwrap();
    let shown = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(shown.contains(message), "no `{message}` in:\n{shown}");
    assert!(shown.contains("script.rhai:"), "no place in:\n{shown}");
}

const SMALL: &str = "
let A = tensor([4]);
let B = eq(A, [i] -> [i]);
compare(build(B));
";

/// Three nested sums over one small tensor: 10^15 additions.
const ENDLESS: &str = "
let a = tensor([100000]);
let s = eq(vsum(vmul(vmul(a, a, [[i], [j]]), a, [(), [k]]), [i, j, k]), []);
print(\"started\");
compare(build(s));
";

#[test]
fn the_main_script_checks_and_times_every_variant() {
    let output = teml(&["run", MAIN, "--set", "n=11"]).output().unwrap();
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(shown.contains("for l in 0..11"), "{shown}");
    for variant in ["naive", "transposed", "plan"] {
        let row = shown
            .lines()
            .find(|l| l.starts_with(&format!("| {variant} ")));
        let row = row.unwrap_or_else(|| panic!("no row of {variant} in\n{shown}"));
        assert!(row.contains("s |") && row.contains("x |"), "{row}");
    }
    assert!(
        shown.contains("all 121 elements equal the definition"),
        "{shown}"
    );
}

#[test]
fn what_is_emitted_compiles_without_warnings() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("kernels.c");
    let emitted = teml(&["emit", MAIN, "-o", file.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(emitted.status.success(), "{}", text(&emitted.stderr));
    assert!(emitted.stdout.is_empty());
    let on_stdout = teml(&["emit", MAIN]).output().unwrap();
    assert_eq!(text(&on_stdout.stdout), fs::read_to_string(&file).unwrap());
    let compiled = Command::new("cc")
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-c", "-o"])
        .arg(directory.path().join("kernels.o"))
        .arg(&file)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", text(&compiled.stderr));
}

#[test]
fn several_kernels_share_one_unit() {
    let directory = tempfile::tempdir().unwrap();
    let script = "
        let A = tensor([10], \"i32\");
        let B = eq(A, [i] -> [i]);
        let one = build(B).stripmine(1, 4);
        codegen(one);
        codegen(one);
        codegen(build(B), \"two\");
    ";
    let path = write(directory.path(), "script.rhai", script);
    let output = teml(&["emit", path.to_str().unwrap()]).output().unwrap();
    let c = text(&output.stdout);
    for function in ["void one(", "void one_2(", "void two("] {
        assert_eq!(c.matches(function).count(), 1, "{c}");
    }
    assert_eq!(c.matches("#include <stdint.h>").count(), 1, "{c}");
}

#[test]
fn a_name_of_a_kernel_is_not_a_file() {
    let directory = tempfile::tempdir().unwrap();
    for (name, helps) in [("mm", true), ("mmm", false)] {
        let output = teml(&["run", name])
            .current_dir(&directory)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let errors = text(&output.stderr);
        assert!(errors.contains(&format!("cannot read {name}")), "{errors}");
        assert_eq!(
            errors.contains("`teml bench --kernel mm`"),
            helps,
            "{errors}"
        );
    }
}

#[test]
fn schedules_are_made_for_the_threads_that_are_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let script = "
        let A = tensor([300, 300]); let B = tensor([300, 300]);
        let C = contract(A, B, [2, 1]);
        codegen(schedules::gemm(build(C)));
    ";
    let path = write(directory.path(), "script.rhai", script);
    let c = |threads: &str| {
        let arguments = ["emit", path.to_str().unwrap(), "--threads", threads];
        let output = teml(&arguments).output().unwrap();
        text(&output.stdout)
    };
    assert!(c("2").contains("#pragma omp parallel"));
    assert!(!c("1").contains("#pragma omp parallel"));
}

#[test]
fn exit_codes_tell_what_happened() {
    let code = |arguments: &[&str]| {
        let output = teml(arguments).stdin(Stdio::null()).output().unwrap();
        output.status.code()
    };
    assert_eq!(code(&["--version"]), Some(0));
    assert_eq!(code(&["--help"]), Some(0));
    assert_eq!(code(&["run"]), Some(2));
    assert_eq!(code(&["frobnicate"]), Some(2));
    assert_eq!(code(&["run", "no/such/file.rhai"]), Some(1));
    assert_eq!(code(&["run", MAIN, "--threads", "0"]), Some(2));
    assert_eq!(code(&["emit", MAIN, "--set", "n"]), Some(2));
    assert_eq!(code(&["emit", MAIN, "--set", "m=3"]), Some(2));
    // A name that the script cannot ask for is found before anything runs.
    let output = teml(&["run", MAIN, "--set", "m=3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty(), "{output:?}");
    assert_eq!(code(&["emit", MAIN, "--set", "n=x"]), Some(1));
    assert_eq!(
        code(&["emit", MAIN, "-o", "/no/such/directory/k.c"]),
        Some(1)
    );
    assert_eq!(code(&["repl"]), Some(0));
}

#[test]
fn a_full_disk_is_an_error() {
    let output = teml(&["emit", MAIN, "-o", "/dev/full"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("cannot write the C"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_script_without_code_emits_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "script.rhai", "print(1);");
    let output = teml(&["emit", path.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("neither codegen nor compare"));
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let mut child = teml(&["emit", MAIN])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        !text(&output.stderr).contains("panicked"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn no_compiler() {
    fails_with(SMALL, &[("CC", "/no/such/cc")], &[], "no C compiler found");
}

#[test]
fn a_compiler_that_fails() {
    let directory = tempfile::tempdir().unwrap();
    // A compiler that sees another program than it was given.
    let script = "#!/bin/sh\nexec cc \"$@\" -Ddouble=nonsense\n";
    let path = write(directory.path(), "cc", script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let cc = path.to_str().unwrap().to_owned();
    fails_with(SMALL, &[("CC", &cc)], &[], "refused kernel `variant_1`");
}

#[test]
fn a_kernel_that_crashes() {
    let script = "
let A = tensor([4], \"i32\");
let B = tensor([4], \"i32\");
init(B, 0);
let C = div(A, B, [[i], [i]] -> [i]);
compare(build(C));
";
    fails_with(script, &[], &[], "division by zero");
}

#[test]
fn a_kernel_that_never_ends() {
    fails_with(
        ENDLESS,
        &[],
        &["--time-limit", "1"],
        "still running after 1s",
    );
}

#[test]
fn a_wrong_variant_is_shown_and_not_timed() {
    // Fused, the consumer reads what the producer writes in a later iteration.
    let script = "
let a = tensor([8]);
let b = eq(a, [i] -> [i]);
let c = eq(b, [i] -> [7 - i]);
let d = eq(c, [i] -> [i]);
let apart = [build(c), build(d)];
let wrong = fuse_outer(build(c), build(d), 1).assume(\"not so\");
compare([apart, wrong]);
";
    fails_with(script, &[], &[], "`wrong` computes a wrong d");
}

#[test]
fn what_is_assumed_says_so() {
    let script = "
let a = tensor([8]);
let s = sum(a, [1]);
let plain = build(s);
let assumed = plain.reverse(1).assume(\"the order does not matter here\");
compare([plain, assumed]);
print(codegen(assumed));
";
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "script.rhai", script);
    let mut command = teml(&["run", path.to_str().unwrap()]);
    command.env("TEML_CACHE_DIR", directory.path().join("cache"));
    let output = command.output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let said = "assumed, not proved, to be correct: the order does not matter here";
    assert!(shown.contains(&format!("\nassumed: {said}\n")), "{shown}");
    assert!(shown.contains(&format!("\n// {said}\n")), "{shown}");
}

#[test]
fn without_the_polyhedral_library_all_but_proofs_works() {
    let script = "
let a = tensor([8]);
let b = eq(a, [i] -> [i]);
let plain = build(b);
let turned = plain.reverse(1);
let total = sum(a, [1]);
let racing = build(total).parallelize(1);
compare([plain, turned, turned.stripmine(1, 3)]);
print(check(turned).legal == ());
codegen(racing);
";
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "script.rhai", script);
    let mut command = teml(&["run", path.to_str().unwrap()]);
    command.env("TEML_CACHE_DIR", directory.path().join("cache"));
    let output = command.env("TEML_ISL", "/no/such/file").output().unwrap();
    let shown = text(&output.stdout);
    let footnote = "\nturned, variant_3: not proved to be correct: the polyhedral library isl was \
                    not found: install it (`apt install libisl23`";
    assert!(shown.contains(footnote), "{shown}");
    assert!(shown.ends_with("\ntrue\n"), "{shown}");
    let errors = text(&output.stderr);
    let refused =
        "there is no proof that the nests are legal: the polyhedral library isl was not found";
    assert!(errors.contains(refused), "{errors}");
}

#[test]
fn without_the_library_nothing_is_proved_and_check_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let run = |script: &str| {
        let path = write(directory.path(), "script.rhai", script);
        let mut command = teml(&["check", path.to_str().unwrap()]);
        command.env("TEML_CACHE_DIR", directory.path().join("cache"));
        command.env("TEML_ISL", "/no/such/file").output().unwrap()
    };
    let script = "
let a = tensor([8]);
let b = eq(a, [i] -> [i]);
let plain = build(b);
";
    let output = run(&format!("{script}compare([plain, plain.reverse(1)]);"));
    let (shown, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(shown.contains("plain: legal"), "{shown}");
    assert!(
        shown.contains("not proved to be correct: the polyhedral library"),
        "{shown}"
    );
    assert_eq!(output.status.code(), Some(1), "{shown}{errors}");
    assert!(
        errors.contains("nothing proves 1 of 2 variants"),
        "{errors}"
    );
    // The nests of `build` need no proof.
    let output = run(&format!("{script}compare([plain]);"));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn texts_have_definitions_of_their_own() {
    let script = "
let A = tensor([8, 8]); let B = tensor([8, 8]);
let C = einsum(\"ik,kj->ij\", A, B);
let naive = build(C);
fn by_hand(A, B, from) {
    nest(`
  ${A}
  ${B}
  f64 C[8][8]
  fill C[0..8][0..8] = 0
  for k in ${from}..8
    for i in 0..8
      for j in 0..8
        C[i][j] += A[i][k] * B[k][j]
`)
}
let mine = by_hand(A, B, 0);
let wrong = by_hand(A, B, 1);
";
    let directory = tempfile::tempdir().unwrap();
    let run = |line: &str| {
        let path = write(directory.path(), "script.rhai", &format!("{script}{line}"));
        let mut command = teml(&["run", path.to_str().unwrap()]);
        command.env("TEML_CACHE_DIR", directory.path().join("cache"));
        let output = command.output().unwrap();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (code, shown, errors) = run("compare([naive, mine]);");
    assert_eq!(code, Some(0), "{errors}");
    let proved = "mine: a definition of its own; proved equal to `naive`, in each of 64 elements";
    assert!(shown.contains(proved), "{shown}");
    let (code, _, errors) = run("compare([naive, wrong]);");
    assert_eq!(code, Some(1), "{errors}");
    assert!(!errors.contains("please report"), "{errors}");
    for said in [
        "`wrong` and `naive` have different definitions",
        "64 of 64 elements differ",
        "`wrong` is a text",
        "proved different from `naive`: C[0][0]",
        "ends with the same update in both, `C[0][0] += A[0][7] * B[7][0]`",
        "check(wrong, naive)",
    ] {
        assert!(errors.contains(said), "{said}: {errors}");
    }
    let (code, shown, errors) = run(
        "print(check(mine, naive).legal); print(check(wrong, naive)); \
         print(check(wrong, naive).legal); print(check(wrong).legal);",
    );
    assert_eq!(code, Some(0), "{errors}");
    assert!(shown.starts_with("true\nnot equal: C[0][0]"), "{shown}");
    assert!(shown.ends_with("false\ntrue\n"), "{shown}");
}

#[test]
fn without_the_library_what_reads_other_elements_has_a_temporary() {
    let script = "
let x = tensor([8]);
x = eq(vmul(x, 2, [[i + 1], ()]), [i], [8]);
print(build(x));
let y = tensor([8]);
y = eq(vmul(y, 2, [[i], ()]), [i]);
print(build(y));
compare([build(x)]);
";
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "script.rhai", script);
    let mut command = teml(&["run", path.to_str().unwrap()]);
    command.env("TEML_CACHE_DIR", directory.path().join("cache"));
    let output = command.env("TEML_ISL", "/no/such/file").output().unwrap();
    let shown = text(&output.stdout);
    assert!(shown.contains("local f64 x_tmp[8]"), "{shown}");
    assert!(!shown.contains("y_tmp"), "{shown}");
    assert!(shown.contains("checked: all 8 elements"), "{shown}");
    // The nests of `build` need no proof.
    assert!(!shown.contains("not proved"), "{shown}");
}

#[test]
fn tensors_that_read_each_other_are_compared() {
    // Each is read by the other's assignment; the final contents of `a` are the result.
    let script = "
let a = tensor([8]);
let b = eq(a, [i] -> [7 - i]);
a = eq(b, [i] -> [i]);
let apart = [build(b), build(a)];
let wrong = fuse_outer(build(b), build(a), 1).assume(\"not so\");
compare([apart, wrong]);
";
    fails_with(script, &[], &[], "`wrong` computes a wrong a");
}

#[test]
fn results_that_cannot_be_written() {
    let script = "
let A = tensor([4]);
let B = eq(A, [i] -> [i]);
save(codegen(build(B)), \"/no/such/directory/k.c\");
";
    fails_with(script, &[], &[], "cannot be written");
}

#[test]
fn a_bundle_checks_and_times_without_teml() {
    let directory = tempfile::tempdir().unwrap();
    let bundle = directory.path().join("bundle");
    let script = format!(
        "
let A = tensor([9, 8]);
let B = tensor([8, 7], \"f64\");
let C = tensor([9, 7]);
C = add(C, vmul(A, B, [[i, k], [k, j]]), [[i, j], ] -> [i, j]);
let naive = build(C);
let plan = naive.interchange(2, 3).stripmine(1, 4).parallelize(1).vectorize(4);
init(B, |i, j| i - 0.5 * j);
bundle([plan, naive.interchange(1, 2)], {:?});
",
        bundle.to_str().unwrap()
    );
    let path = write(directory.path(), "script.rhai", &script);
    let output = teml(&["run", path.to_str().unwrap()]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));

    let make = || {
        let flags = "CFLAGS=-std=c11 -O2 -fopenmp -Wall -Wextra -Werror";
        let output = Command::new("make")
            .arg("run")
            .arg(flags)
            .current_dir(&bundle)
            .output();
        let output = output.unwrap();
        (
            output.status.success(),
            text(&output.stdout) + text(&output.stderr).as_str(),
        )
    };
    let (succeeded, shown) = make();
    assert!(succeeded, "{shown}");
    for variant in ["plan", "variant_2"] {
        assert!(shown.lines().any(|l| l.starts_with(variant)), "{shown}");
    }

    // The check can fail.
    let kernels = bundle.join("kernels.c");
    let c = fs::read_to_string(&kernels).unwrap();
    let (before, plan) = c.split_once("// plan computes").unwrap();
    let wrong = plan.replacen("+= A[", "-= A[", 1);
    assert_ne!(wrong, plan);
    let wrong = format!("{before}// plan computes{wrong}");
    write(&bundle, "kernels.c", &wrong);
    let (succeeded, shown) = make();
    assert!(
        !succeeded && shown.contains("plan computes a wrong C"),
        "{shown}"
    );
    assert!(!shown.contains("median"), "{shown}");
}

/// Starts a script, waits until it prints `started`, and until the process of that number works, and
/// presses Ctrl-C.
fn interrupt(script: &str, environment: &[(&str, &str)], works: impl Fn(&str)) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "script.rhai", script);
    let mut child = teml(&["run", path.to_str().unwrap()])
        .env("TEML_CACHE_DIR", directory.path().join("cache"))
        .envs(environment.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "started\n");
    let id = child.id().to_string();
    works(&id);
    let pressed = Instant::now();
    let kill = Command::new("kill").args(["-INT", &id]).status();
    assert!(kill.unwrap().success());
    let _ = stdout.read_to_string(&mut String::new());
    let output = child.wait_with_output().unwrap();
    assert!(pressed.elapsed() < Duration::from_secs(20), "it went on");
    output
}

fn is_interrupted(output: &Output) {
    let shown = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{shown}");
    assert!(shown.contains("interrupted"), "{shown}");
}

#[test]
fn ctrl_c_stops_a_script() {
    is_interrupted(&interrupt(
        "print(\"started\"); let n = 0; loop { n += 1; }",
        &[],
        wait_for_work,
    ));
}

#[test]
fn ctrl_c_stops_a_kernel() {
    is_interrupted(&interrupt(ENDLESS, &[], wait_for_a_kernel));
}

#[test]
fn ctrl_c_stops_a_compiler() {
    let directory = tempfile::tempdir().unwrap();
    // Answers questions about itself at once and takes forever to compile.
    let begun = directory.path().join("begun");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *-shared*) touch '{}'; sleep 1000;; *) exec cc \"$@\";; esac\n",
        begun.display()
    );
    let path = write(directory.path(), "cc", &script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let script = format!("print(\"started\");{SMALL}");
    let environment = [("CC", path.to_str().unwrap())];
    let compiles = |_: &str| assert!(eventually(|| begun.exists()));
    is_interrupted(&interrupt(&script, &environment, compiles));
}

#[test]
fn ctrl_c_stops_a_comparison() {
    let script = "
let A = tensor([100, 100]);
let B = tensor([100, 100]);
let C = eq(vsum(vmul(A, B, [[i, k], [k, j]]), [k]), [i, j]);
let variants = [];
for n in 0..200 { variants.push(build(C)); }
print(\"started\");
compare(variants);
";
    is_interrupted(&interrupt(script, &[], wait_for_work));
}

#[test]
fn variants_are_checked_without_running_them() {
    let directory = tempfile::tempdir().unwrap();
    let check = |script: &str, arguments: &[&str]| {
        let path = write(directory.path(), "script.rhai", script);
        let mut command = teml(&["check", path.to_str().unwrap()]);
        command.args(arguments).env("CC", "/nonexistent/cc");
        let output = command.output().unwrap();
        let shown = (text(&output.stdout), text(&output.stderr));
        (output.status.code(), shown.0, shown.1)
    };
    let row_sums = "let n = param(\"n\", 400);\nlet A = tensor([n, n]);\nlet x = tensor([n]);\n\
         let s = eq(vsum(vmul(A, x, [[i, j], [j]]), [j]), [i]);\nlet naive = build(s);\n";
    let legal =
        format!("{row_sums}let plan = naive.interchange(\"i\", \"j\");\ncompare([naive, plan]);");
    let (code, shown, errors) = check(&legal, &[]);
    assert_eq!(
        (code, shown.as_str()),
        (Some(0), "naive: legal\nplan: legal\n"),
        "{errors}"
    );
    let (code, shown, errors) = check(&legal, &["--exhaustive", "--set", "n=5"]);
    let expected =
        "naive: legal; all 5 elements are equal\nplan: legal; all 5 elements are equal\n";
    assert_eq!((code, shown.as_str()), (Some(0), expected), "{errors}");

    // At the likely size there is a term for each slot.
    let parts = "let A = tensor([size(\"N\")], \"i64\"); let s = sum(A);
         let n = build(s).stripmine(\"i1\", 32).stripmine(\"i1_i\", 8);
         let n = n.interchange(\"i1_o\", \"i1_i_o\").rfactor(\"i1_i_o\");
         let early = n.place_init(\"i1_i_o\", \"s_i1_i_o\");
         compare([n, early]);";
    let (code, shown, errors) = check(parts, &[]);
    assert_eq!(code, Some(1), "{shown}{errors}");
    assert!(shown.contains("n: legal"), "{shown}");
    assert!(
        shown.contains("early: illegal: ") && shown.contains("at N = 0"),
        "{shown}"
    );

    let illegal = format!("{row_sums}let plan = naive.reverse(\"j\");\nmeasure([naive, plan]);");
    let (code, shown, errors) = check(&illegal, &["--exhaustive", "--set", "n=3"]);
    assert_eq!(code, Some(1), "{shown}{errors}");
    assert!(shown.contains("plan: illegal: "), "{shown}");
    assert!(
        shown.contains("; s[0] has another value than in the definition"),
        "{shown}"
    );
    let relaxed = format!("reductions(\"reassoc\");\n{illegal}");
    let (code, shown, _) = check(&relaxed, &["--exhaustive", "--set", "n=3"]);
    assert_eq!(code, Some(0), "{shown}");
    let assumed = illegal.replace("measure([", "plan = plan.assume(\"exact\");\nmeasure([");
    let (code, shown, _) = check(&assumed, &[]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("plan: assumed, not proved"), "{shown}");

    let (code, _, errors) = check(&legal, &["--exhaustive", "--set", "n=2000"]);
    assert_eq!(code, Some(1), "{errors}");
    let (code, _, errors) = check(row_sums, &[]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("gives no variant"), "{errors}");
}

#[test]
fn shells_complete_kernels_searches_and_targets() {
    for shell in ["bash", "zsh", "fish"] {
        let output = teml(&["completions", shell]).output().unwrap();
        let shown = text(&output.stdout);
        for name in ["mttkrp", "evolution", "avx512", "slurm", "mini"] {
            assert!(shown.contains(name), "{shell} does not complete {name}");
        }
    }
}
