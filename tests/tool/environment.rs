//! The environment of the command line: streams with unexpected behavior, environment variables,
//! and where scripts may write.

use expectrl::{Eof, Expect, Session};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const SMALL: &str = "
let A = tensor([4]);
let B = eq(A, [i] -> [i]);
print(\"words\");
compare(build(B));
";

/// `teml`, with what it keeps in `place`.
fn teml(place: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teml"));
    command.args(arguments).current_dir(place);
    command.env("TEML_CACHE_DIR", place.join("cache"));
    for name in ["CC", "CFLAGS", "NO_COLOR"] {
        command.env_remove(name);
    }
    command
}

fn write(place: &Path, name: &str, text: &str) -> PathBuf {
    let path = place.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn shown(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// An error as a terminal shows it.
fn on_terminal(variables: &[(&str, &str)]) -> String {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), "wrong.rhai", "nothing(1);");
    let mut command = teml(place.path(), &["run", "wrong.rhai"]);
    command.env("TERM", "xterm").envs(variables.iter().copied());
    let mut session = Session::spawn(command).unwrap();
    session.set_expect_timeout(Some(Duration::from_secs(60)));
    let rest = session.expect(Eof).unwrap();
    String::from_utf8_lossy(rest.as_bytes()).into_owned()
}

#[test]
fn errors_have_colors_where_they_are_wanted() {
    assert!(on_terminal(&[]).contains("\u{1b}["));
    assert!(on_terminal(&[("NO_COLOR", "")]).contains("\u{1b}["));
    for unwanted in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let text = on_terminal(&[unwanted]);
        assert!(text.contains("there is no function `nothing`"), "{text}");
        assert!(!text.contains('\u{1b}'), "{unwanted:?}: {text:?}");
    }
}

#[test]
fn what_cannot_be_printed_is_an_error() {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), "small.rhai", SMALL);
    write(place.path(), "quiet.rhai", "let n = 1;");
    let code = |arguments: &[&str]| {
        let mut command = teml(place.path(), arguments);
        command.stdin(File::open(place.path().join("quiet.rhai")).unwrap());
        // The machine is measured once.
        command.env(
            "TEML_CACHE_DIR",
            concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"),
        );
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).output().unwrap();
        (output.status.code(), shown(&output).1)
    };
    for arguments in [
        &["run", "small.rhai"][..],
        &["check", "small.rhai"],
        &["emit", "small.rhai"],
        &["bench", "--size", "mini", "small.rhai"],
        &["machine"],
        &["--help"],
        &["--version"],
    ] {
        let (code, errors) = code(arguments);
        assert_eq!(code, Some(1), "{arguments:?}: {errors}");
        let said = errors.contains("cannot write to standard output: No space left");
        assert!(said, "{arguments:?}: {errors}");
    }
    // Where nothing is printed, nothing is wrong.
    assert_eq!(code(&["run", "quiet.rhai"]).0, Some(0));
    assert_eq!(code(&["repl"]).0, Some(0));
    write(place.path(), "quiet.rhai", "40 + 2\n1 + 1");
    let (code, errors) = code(&["repl"]);
    assert_eq!(code, Some(1), "{errors}");
    assert_eq!(errors.matches("cannot write").count(), 1, "{errors}");
}

#[test]
fn a_script_can_come_from_standard_input() {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), "lib.rhai", "fn twice(x) { 2 * x }");
    let run = |arguments: &[&str], script: &[u8]| {
        let mut command = teml(place.path(), arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(script).unwrap();
        let output = child.wait_with_output().unwrap();
        let (out, errors) = shown(&output);
        (output.status.code(), out, errors)
    };
    let (code, out, errors) = run(
        &["run", "-"],
        b"import \"lib\" as lib;\nprint(lib::twice(21));",
    );
    assert_eq!((code, out.as_str()), (Some(0), "42\n"), "{errors}");
    let (code, out, errors) = run(&["check", "-"], SMALL.as_bytes());
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.contains("variant_1: legal"), "{out}");
    let (code, out, errors) = run(&["emit", "-"], SMALL.as_bytes());
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.contains("void variant_1("), "{out}");
    let (code, _, errors) = run(&["run", "-"], b"let n = 1;\n  nothing(n);");
    assert_eq!(code, Some(1));
    assert!(errors.contains("<stdin>:2:3"), "{errors}");
    let (code, _, errors) = run(&["run", "-"], b"\xff");
    assert_eq!(code, Some(1));
    assert!(
        errors.contains("cannot read <stdin>: it is not UTF-8"),
        "{errors}"
    );
}

#[test]
fn time_limits_have_fractions_of_seconds() {
    let place = tempfile::tempdir().unwrap();
    let endless = "
        let a = tensor([100000]);
        let s = eq(vsum(vmul(vmul(a, a, [[i], [j]]), a, [(), [k]]), [i, j, k]), []);
        compare(build(s));
    ";
    write(place.path(), "endless.rhai", endless);
    let run = |limit: &str| {
        let mut command = teml(
            place.path(),
            &["run", "endless.rhai", "--time-limit", limit],
        );
        let output = command.output().unwrap();
        (output.status.code(), shown(&output).1)
    };
    let (code, errors) = run("0.3");
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("still running after 300ms"), "{errors}");
    for wrong in ["0", "-1", "1e400", "nan", "soon"] {
        let (code, errors) = run(wrong);
        assert_eq!(code, Some(2), "{wrong}: {errors}");
    }
}

/// A compiler that writes its arguments to a file, a line each, and does the work; `body` comes
/// before.
fn compiler(place: &Path, body: &str) -> PathBuf {
    let log = place.join("log");
    let text = format!(
        "#!/bin/sh\n{body}\nfor a in \"$@\"; do echo \"$a\" >> {}; done\nexec cc \"$@\"\n",
        log.display()
    );
    let path = write(place, "bin/logging-cc", &text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn cflags_override_speed_and_not_results() {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), "small.rhai", SMALL);
    let cc = compiler(place.path(), "");
    let run = |flags: &str| {
        let _ = fs::remove_file(place.path().join("log"));
        let mut command = teml(place.path(), &["run", "small.rhai"]);
        let output = command
            .env("CC", &cc)
            .env("CFLAGS", flags)
            .output()
            .unwrap();
        let objects = fs::read_dir(place.path().join("cache"))
            .into_iter()
            .flatten();
        let objects = objects.filter(|f| {
            f.as_ref()
                .unwrap()
                .path()
                .extension()
                .is_some_and(|e| e == "so")
        });
        let log = fs::read_to_string(place.path().join("log")).unwrap();
        (output.status.code(), shown(&output).1, log, objects.count())
    };
    let (code, errors, log, first) = run("-Os -ffast-math -DNAME='\"two words\"'");
    assert_eq!(code, Some(0), "{errors}");
    let last = |flag: &str| {
        log.lines()
            .collect::<Vec<_>>()
            .iter()
            .rposition(|line| *line == flag)
    };
    let at = |flag: &str| last(flag).unwrap_or_else(|| panic!("no {flag} in\n{log}"));
    assert!(
        at("-O3") < at("-Os") && at("-march=native") < at("-Os"),
        "{log}"
    );
    assert!(at("-ffast-math") < at("-fno-fast-math"), "{log}");
    assert!(at("-Os") < at("-fwrapv"), "{log}");
    at("-DNAME=\"two words\"");
    // Other flags make other objects, and the same flags make no new ones.
    let (_, _, _, same) = run("-Os -ffast-math -DNAME='\"two words\"'");
    assert_eq!(same, first);
    let (_, _, log, other) = run("-O2");
    assert!(other > first && log.contains("-O2\n"));
    let (code, errors, ..) = run("-not-a-flag");
    assert_eq!(code, Some(1));
    assert!(
        errors.contains("CFLAGS adds these flags: -not-a-flag"),
        "{errors}"
    );
    assert!(!errors.contains("report it"), "{errors}");
}

#[test]
fn variables_that_no_compiler_reads_change_nothing() {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), "small.rhai", SMALL);
    let objects = |variable: (&str, &str)| {
        let mut command = teml(place.path(), &["run", "small.rhai"]);
        let output = command.env(variable.0, variable.1).output().unwrap();
        assert!(output.status.success(), "{}", shown(&output).1);
        fs::read_dir(place.path().join("cache")).unwrap().count()
    };
    let before = objects(("SOME_VARIABLE", "1"));
    assert_eq!(objects(("SOME_VARIABLE", "2")), before);
    assert!(objects(("CPATH", "/nonexistent")) > before);
}

#[test]
fn without_openmp_loops_run_on_one_thread() {
    let place = tempfile::tempdir().unwrap();
    let script = "
        let A = tensor([40, 40]);
        let B = eq(A, [i, j] -> [i, j]);
        let naive = build(B);
        let plan = naive.parallelize(\"i\");
        compare([naive, plan]);
    ";
    write(place.path(), "parallel.rhai", script);
    let missing = "for a in \"$@\"; do [ \"$a\" = -fopenmp ] && { \
                   echo \"cannot read spec file 'libgomp.spec'\" >&2; exit 1; }; done";
    let cc = compiler(place.path(), missing);
    let mut command = teml(place.path(), &["run", "parallel.rhai", "--threads", "2"]);
    let output = command.env("CC", cc).output().unwrap();
    let (out, errors) = shown(&output);
    assert!(output.status.success(), "{errors}");
    assert!(out.contains("1 thread in parallel loops"), "{out}");
    let said = errors.contains("has no OpenMP, so parallel loops run on one thread");
    assert!(said && errors.contains("apt install"), "{errors}");
    assert_eq!(errors.matches("warning").count(), 1, "{errors}");
}

const LIBRARY: &str = "
fn keep(code, path) { save(code, path); }
fn pack(nests, path) { bundle(nests, path); }
fn hand(code, f) { f.call(code) }
";

#[test]
fn imported_modules_write_where_they_may() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    let (work, out) = (root.join("work"), root.join("out"));
    fs::create_dir(&work).unwrap();
    fs::create_dir(&out).unwrap();
    write(root, "project/lib.rhai", LIBRARY);
    let run = |line: &str, more: &[&str]| {
        let script = format!(
            "import \"lib\" as lib;\nlet A = tensor([4]);\n\
             let B = eq(A, [i] -> [i]);\nlet l = build(B);\n\
             let out = {:?};\n{line}\n",
            out.display().to_string()
        );
        let script = write(root, "project/main.rhai", &script);
        let mut command = teml(root, &["run", script.to_str().unwrap()]);
        let output = command.args(more).current_dir(&work).output().unwrap();
        (output.status.code(), shown(&output).1)
    };
    let allowed = |line: &str, more: &[&str], made: &str| {
        let (code, errors) = run(line, more);
        assert_eq!(code, Some(0), "{line}: {errors}");
        assert!(root.join(made).exists(), "{line}");
    };
    // The script itself, also where a module calls what it says.
    allowed("save(codegen(l), out + \"/1.c\");", &[], "out/1.c");
    allowed(
        "lib::hand(codegen(l), |c| save(c, out + \"/2.c\"));",
        &[],
        "out/2.c",
    );
    allowed("bundle([l], out + \"/b\");", &[], "out/b/driver.c");
    // Modules in the working directory, and where the user says.
    allowed("lib::keep(codegen(l), \"3.c\");", &[], "work/3.c");
    allowed("lib::pack([l], \"deep/b\");", &[], "work/deep/b/driver.c");
    let more = ["--allow-write", out.to_str().unwrap()];
    allowed("lib::keep(codegen(l), out + \"/4.c\");", &more, "out/4.c");
    for (line, made) in [
        ("lib::keep(codegen(l), out + \"/5.c\");", "out/5.c"),
        ("lib::keep(codegen(l), \"../5.c\");", "5.c"),
        ("lib::pack([l], out + \"/6\");", "out/6"),
    ] {
        let (code, errors) = run(line, &[]);
        assert_eq!(code, Some(1), "{line}: {errors}");
        assert!(
            errors.contains("imported modules may not write"),
            "{errors}"
        );
        assert!(errors.contains("--allow-write"), "{errors}");
        assert!(!root.join(made).exists(), "{line}");
        // Commands that write nothing are not refused.
        let mut command = teml(root, &["emit", "project/main.rhai"]);
        let output = command.current_dir(root).output().unwrap();
        let errors = shown(&output).1;
        assert!(!errors.contains("may not write"), "{errors}");
    }
    let project = root.join("project");
    let more = ["--allow-write", project.to_str().unwrap()];
    let (code, _) = run("lib::keep(codegen(l), out + \"/7.c\");", &more);
    assert_eq!(code, Some(1));
}

/// Function values of a module, however they are made.
const VALUES: &str = r#"
fn pointer() { Fn("save") }
fn spelled() { Fn("sa" + "ve") }
fn curried(code, path) { Fn("save").curry(code).curry(path) }
fn in_text(code, path) { let f = (); let t = `${f = Fn("save").curry(code).curry(path)}`; f }
fn closure(code, path) { || save(code, path) }
fn wrapped(code, path) { let f = Fn("save"); || f.call(code, path) }
fn packing(nests, path) { Fn("bundle").curry(nests).curry(path) }
fn recording(path) { Fn("tune").curry(#{x: [1]}).curry(|p| ()).curry(#{records: path}) }
fn in_map(code, path) { #{save: Fn("save").curry(code).curry(path), run: Fn("save")} }
fn handed(f, code, path) { f.call(code, path) }
"#;

/// A function value in Rhai is only a name, which is resolved where it is called.
const SHADOW: &str = r#"
fn save(a, b) { "not the native one" }
fn named(code, path) { let f = save; f.curry(code).curry(path) }
"#;

#[test]
fn function_values_keep_their_origin() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    let (work, out) = (root.join("work"), root.join("out"));
    fs::create_dir(&work).unwrap();
    fs::create_dir(&out).unwrap();
    write(root, "project/lib.rhai", VALUES);
    write(root, "project/shadow.rhai", SHADOW);
    let run = |lines: &str| {
        let script = format!(
            "import \"lib\" as lib; import \"shadow\" as shadow;\nlet A = tensor([4]);\n\
             let B = eq(A, [i] -> [i]);\nlet l = build(B); let c = codegen(l);\n\
             let out = {:?};\n{lines}\n",
            out.display().to_string()
        );
        let script = write(root, "project/main.rhai", &script);
        let mut command = teml(root, &["run", script.to_str().unwrap()]);
        let output = command.current_dir(&work).output().unwrap();
        let made = fs::read_dir(&out).unwrap().count();
        let (printed, errors) = shown(&output);
        (printed, errors, made)
    };
    let refused = [
        "lib::pointer().call(c, p);",
        "c.call(lib::pointer(), p);",
        "call(lib::pointer(), c, p);",
        "let f = lib::spelled(); f.curry(c).curry(p).call();",
        "lib::curried(c, p).call();",
        "lib::in_text(c, p).call();",
        "lib::closure(c, p).call();",
        "lib::wrapped(c, p).call();",
        "lib::packing([l], p).call();",
        "lib::recording(p).call();",
        "let m = lib::in_map(c, p); m.save();",
        "let m = lib::in_map(c, p); let f = m.run; f.call(c, p);",
        "shadow::named(c, p).call();",
        "let f = lib::pointer(); [p].map(|to| f.call(c, to));",
        "let f = lib::pointer().curry(c); [p].for_each(f);",
        "let f = lib::closure(c, p); unless_refused(|n| { f.call(); n }, l);",
        "let f = lib::curried(c, p); unless_refused(|n| { f.call(); n }, l);",
        // The value is back in the module that made it.
        "lib::handed(lib::pointer(), c, p);",
    ];
    let tried = |line: &&str| {
        format!("try {{ let p = out + \"/f\"; {line} }} catch (e) {{ print(e.message); }}\n")
    };
    let (printed, errors, made) = run(&refused.iter().map(tried).collect::<String>());
    assert_eq!(made, 0, "{printed}{errors}");
    let said = printed.matches("imported modules may not write").count();
    assert!(said >= 10, "{said}: {printed}{errors}");
    assert!(
        printed.contains("its name alone is not a value"),
        "{printed}"
    );
    // The user's own values write wherever they are called.
    let allowed = [
        "Fn(\"save\").call(c, p);",
        "let f = Fn(\"save\").curry(c); f.call(p);",
        "lib::handed(Fn(\"save\"), c, p);",
        "lib::handed(|c, p| save(c, p), c, p);",
        "[p].map(|to| save(c, to));",
        "Fn(\"bundle\").call([l], p);",
    ];
    let numbered = allowed.iter().enumerate();
    let each = |(k, line): (usize, &&str)| format!("{{ let p = out + \"/{k}\"; {line} }}\n");
    let (printed, errors, made) = run(&numbered.map(each).collect::<String>());
    assert_eq!(made, allowed.len(), "{printed}{errors}");
    let others = "print(Fn(\"build\").call(B)); print(Fn(\"save\").name); Fn(\"save\").call(c);";
    let (printed, errors, _) = run(others);
    assert!(printed.ends_with("save\n"), "{printed}{errors}");
    assert!(
        errors.contains("save: does not take 1 argument"),
        "{errors}"
    );
}

#[test]
fn a_script_that_a_module_imports_has_the_rights_of_a_module() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    let path = root.join("stolen.c").display().to_string();
    write(
        root,
        "project/lib.rhai",
        "fn use_main(code, path) { import \"main\" as main; main::export_it(code, path) }",
    );
    let script = format!(
        "fn export_it(c, path) {{ save(c, path) }}\n\
         let A = tensor([4]); let B = eq(A, [i] -> [i]); let c = codegen(build(B));\n\
         import \"lib\" as lib;\ntry {{ lib::use_main(c, {path:?}); }} catch (e) {{ print(e.message); }}\n"
    );
    write(root, "project/main.rhai", &script);
    fs::create_dir(root.join("work")).unwrap();
    let mut command = teml(root, &["run", "../project/main.rhai"]);
    let output = command.current_dir(root.join("work")).output().unwrap();
    assert!(!root.join("stolen.c").exists(), "{}", shown(&output).1);
}

#[test]
fn files_of_others_are_not_overwritten() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    let script = "let A = tensor([4]);\nlet B = eq(A, [i] -> [i]);\nlet l = build(B);\n\
                  export_kernel(l, \"copy\");\nlet what = param(\"what\", \"\");\n\
                  if what == \"save\" { save(codegen(l), \"k.c\"); }\n\
                  if what == \"npy\" { save(run(l).B, \"b.npy\"); }\n\
                  if what == \"bundle\" { bundle([l], \"b\"); }\n\
                  if what == \"\" { codegen(l); }\n";
    write(root, "main.rhai", script);
    fs::create_dir(root.join("b")).unwrap();
    fs::create_dir_all(root.join("pkg/include")).unwrap();
    for (arguments, file) in [
        (&["run", "main.rhai", "--set", "what=save"][..], "k.c"),
        (&["run", "main.rhai", "--set", "what=npy"], "b.npy"),
        (&["run", "main.rhai", "--set", "what=bundle"], "b/Makefile"),
        (&["emit", "main.rhai", "-o", "e.c"], "e.c"),
        (
            &["build", "main.rhai", "--out", "pkg"],
            "pkg/include/main.h",
        ),
    ] {
        let file = root.join(file);
        let run = |more: &[&str]| {
            let output = teml(root, arguments).args(more).current_dir(root).output();
            let output = output.unwrap();
            (output.status.code(), shown(&output).1)
        };
        fs::write(&file, "mine").unwrap();
        let (code, errors) = run(&[]);
        assert_eq!(code, Some(1), "{arguments:?}: {errors}");
        assert!(errors.contains("--allow-write"), "{errors}");
        assert_eq!(fs::read(&file).unwrap(), b"mine", "{arguments:?}");
        let allowed = ["--allow-write", file.to_str().unwrap()];
        let (code, errors) = run(&allowed);
        assert_eq!(code, Some(0), "{arguments:?}: {errors}");
        assert_ne!(fs::read(&file).unwrap(), b"mine", "{arguments:?}");
        // teml overwrites its own files.
        let (code, errors) = run(&[]);
        assert_eq!(code, Some(0), "{arguments:?}: {errors}");
    }
}

/// A compiler that turns sums into differences if its arguments match the shell pattern `wrong`.
fn erring(place: &Path, wrong: &str) -> PathBuf {
    let body = format!(
        "case \" $* \" in *--version*) ;; {wrong}) for a in \"$@\"; do case $a in *.c) sed -i 's/ += / -= /' \"$a\";; esac; done;; esac"
    );
    compiler(place, &body)
}

const SUMS: &str = "
let A = tensor([40, 50]); let B = tensor([50, 30]);
let C = contract(A, B, [2, 1]);
let naive = build(C);
";

/// The untransformed nest is compiled like the plan, and as wrong as the plan.
#[test]
fn what_a_compiler_gets_wrong_is_compiled_otherwise() {
    let place = tempfile::tempdir().unwrap();
    let run = |stub: &Path, last: &str| {
        let path = write(place.path(), "script.rhai", &format!("{SUMS}{last}"));
        let output = teml(place.path(), &["run", path.to_str().unwrap()])
            .env("CC", stub)
            // The reference gets other flags all the same.
            .env("CFLAGS", "-O3")
            .output()
            .unwrap();
        let (printed, errors) = shown(&output);
        (output.status.code(), printed, errors)
    };
    // With optimizations.
    let stub = erring(place.path(), "*' -O1 '*) ;; *");
    let cured = "compiled with -O1 -fno-tree-vectorize, since cc";
    let (code, printed, errors) = run(&stub, "compare([naive, naive.interchange(2, 3)]);");
    assert_eq!(code, Some(0), "{printed}{errors}");
    assert!(printed.contains(&format!("naive: {cured}")), "{printed}");
    assert!(printed.contains("all 1200 elements equal"), "{printed}");
    let (code, printed, errors) = run(&stub, "let out = run(naive.interchange(2, 3));");
    assert_eq!(code, Some(0), "{printed}{errors}");
    assert!(printed.contains(cured), "{printed}");
    // A wrong result of an unproved nest is blamed on its path, not on the compiler.
    let assumed = "compare([naive, assume(naive.reverse(3), \"trust me\")]);";
    let (code, printed, errors) = run(&stub, assumed);
    assert_eq!(code, Some(1), "{printed}{errors}");
    assert!(errors.contains("computes a wrong C"), "{errors}");
    // The mildest flag that helps is taken.
    fs::remove_dir_all(place.path().join("cache")).unwrap();
    let stub = erring(place.path(), "*-fno-tree-forwprop*|*' -O1 '*) ;; *");
    let (_, printed, errors) = run(&stub, "compare([naive]);");
    assert!(
        printed.contains("compiled with -fno-tree-forwprop, since"),
        "{printed}{errors}"
    );
}

/// Only C that ran is written: it is compiled with other flags, with a note, or there is no output.
#[test]
fn nothing_wrong_is_written() {
    let place = tempfile::tempdir().unwrap();
    let script = format!(
        "{SUMS} let plan = naive.interchange(2, 3); export_kernel(plan, \"mm\"); codegen(plan, \"mm\"); bundle([plan], {:?});",
        place.path().join("bundle")
    );
    let path = write(place.path(), "script.rhai", &script);
    let path = path.to_str().unwrap();
    let teml = |stub: &Path, arguments: &[&str]| {
        let mut command = teml(place.path(), arguments);
        let output = command.env("CC", stub).output().unwrap();
        let (printed, errors) = shown(&output);
        (output.status.code(), printed, errors)
    };
    let slp = erring(place.path(), "*-fno-tree-slp-vectorize*|*' -O1 '*) ;; *");
    let pragma = "#pragma GCC optimize(\"no-tree-slp-vectorize\")";
    let (code, printed, errors) = teml(&slp, &["build", path, "--out", "out", "--name", "sums"]);
    assert_eq!(code, Some(0), "{printed}{errors}");
    assert!(
        errors.contains("miscompiles `sums` without -fno-tree-slp-vectorize"),
        "{errors}"
    );
    let source = fs::read_to_string(place.path().join("out/src/sums.c")).unwrap();
    assert!(
        source.contains(pragma) && source.contains("`mm` ran: all 1200"),
        "{source}"
    );
    let (code, printed, errors) = teml(&slp, &["emit", "--verify", path]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(
        printed.contains(pragma) && printed.contains("`mm` ran: all 1200"),
        "{printed}"
    );
    let (code, printed, errors) = teml(&slp, &["run", path]);
    assert_eq!(code, Some(0), "{printed}{errors}");
    let makefile = fs::read_to_string(place.path().join("bundle/Makefile")).unwrap();
    let kernels = makefile
        .lines()
        .find(|line| line.starts_with("CFLAGS"))
        .unwrap();
    assert!(kernels.contains("-fno-tree-slp-vectorize"), "{makefile}");

    // The stub miscompiles under any flags, but only the files that are written.
    let always = erring(place.path(), "*' sums.c'*|*' kernels.c'*");
    let (code, _, errors) = teml(
        &always,
        &["build", path, "--out", "never", "--name", "sums"],
    );
    assert_eq!(code, Some(1), "{errors}");
    assert!(
        errors.contains("nothing is written: `mm` computes a wrong C"),
        "{errors}"
    );
    assert!(!place.path().join("never").exists());
    let (code, printed, errors) = teml(&always, &["emit", "--verify", path]);
    assert_eq!((code, printed.as_str()), (Some(1), ""), "{errors}");
    // C that cannot run here has a warning.
    let (code, printed, errors) = teml(
        Path::new("cc"),
        &["emit", "--verify", "--target", "neon", path],
    );
    if cfg!(target_arch = "x86_64") {
        assert_eq!(code, Some(0), "{errors}");
        assert!(
            errors.contains("warning: `mm` was not verified"),
            "{errors}"
        );
        assert!(printed.contains("// `mm` was not verified"), "{printed}");
    }
}

/// A script whose kernel was cached, and the objects in the cache.
fn cached(place: &Path) -> Vec<PathBuf> {
    write(place, "small.rhai", SMALL);
    let output = teml(place, &["run", "small.rhai"]).output().unwrap();
    assert!(output.status.success(), "{:?}", shown(&output));
    objects(place)
}

fn objects(place: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.join("cache")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|end| end == "so"))
        .collect()
}

#[test]
fn what_others_could_have_put_into_the_cache_is_not_loaded() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let planted = place.join("planted");
    let source = format!(
        "#include <stdio.h>\n__attribute__((constructor)) static void f(void) {{ fclose(fopen({planted:?}, \"w\")); }}\n"
    );
    write(place, "evil.c", &source);
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "evil.c", "-o", "evil.so"])
        .current_dir(place)
        .status();
    assert!(made.unwrap().success());
    let mut evil = fs::read(place.join("evil.so")).unwrap();
    let hash = blake3::hash(&evil);
    evil.extend_from_slice(hash.as_bytes());
    let mode = |path: &Path, bits: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
    };
    let runs = |what: &str| {
        let output = teml(place, &["run", "small.rhai"]).output().unwrap();
        let (printed, errors) = shown(&output);
        assert!(output.status.success(), "{what}: {printed}{errors}");
        assert!(!planted.exists(), "{what}: a planted object was loaded");
        errors
    };
    // A file that others can write.
    for object in cached(place) {
        fs::write(&object, &evil).unwrap();
        mode(&object, 0o777);
    }
    assert_eq!(runs("a file"), "");
    // It was replaced.
    for object in objects(place) {
        fs::write(&object, &evil).unwrap();
        mode(&object, 0o755);
    }
    // A directory into which others can write.
    for bits in [0o777, 0o775] {
        mode(&place.join("cache"), bits);
        let errors = runs("a directory");
        assert_eq!(errors.matches("warning:").count(), 1, "{errors}");
        assert!(errors.contains("can be written by others"), "{errors}");
    }
    mode(&place.join("cache"), 0o700);
    // Nothing waits for a pipe.
    for object in objects(place) {
        fs::remove_file(&object).unwrap();
        assert!(
            Command::new("mkfifo")
                .arg(&object)
                .status()
                .unwrap()
                .success()
        );
    }
    assert_eq!(runs("a pipe"), "");
}

#[test]
fn garbage_is_not_kept() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    write(place, "small.rhai", SMALL);
    let run = |body: &str| {
        let stub = compiler(place, body);
        let output = teml(place, &["run", "small.rhai"]).env("CC", stub).output();
        let output = output.unwrap();
        (output.status.code(), shown(&output).1)
    };
    for garbage in ["echo garbage", "true", "head -c 3000 /bin/ls"] {
        let body =
            format!("case \" $* \" in *' kernel.so '*) {garbage} > kernel.so; exit 0;; esac");
        let (code, errors) = run(&body);
        assert_eq!(code, Some(1), "{garbage}: {errors}");
        assert!(errors.contains("shared object"), "{garbage}: {errors}");
        assert!(!place.join("cache").exists() || objects(place).is_empty());
    }
    let (code, errors) = run("");
    assert_eq!(code, Some(0), "{errors}");
}

#[test]
fn the_exit_code_tells_the_signal() {
    let place = tempfile::tempdir().unwrap();
    write(
        place.path(),
        "long.rhai",
        "print(\"here\"); let n = 0; loop { n += 1; }",
    );
    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let mut child = teml(place.path(), &["run", "long.rhai"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 5];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut first)
            .unwrap();
        let process = child.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &process]).status();
        assert!(sent.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
    }
}

/// The reference of a bundle is compiled with other flags than the kernels that it checks.
#[test]
fn a_bundle_does_not_trust_its_compiler() {
    let place = tempfile::tempdir().unwrap();
    let bundle = place.path().join("bundle");
    let script = format!(
        "let x = tensor([200, 16]);
let y = tensor([200, 16]);
y = eq(vadd(x, y, [[i, j], [i, j]]), [i, j]);
let naive = build(y);
bundle([naive, naive.interchange(1, 2)], {:?});
",
        bundle.to_str().unwrap()
    );
    let path = write(place.path(), "script.rhai", &script);
    let output = teml(place.path(), &["run", path.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{:?}", shown(&output));
    let stub = compiler(
        place.path(),
        "case \" $* \" in *' -O3 '*) sed -i 's/ += / -= /' kernels.c;; esac\nexec cc \"$@\"\n",
    );
    let output = Command::new("make")
        .arg("run")
        .arg(format!("CC={}", stub.display()))
        .current_dir(&bundle)
        .output()
        .unwrap();
    let (printed, errors) = shown(&output);
    assert!(!output.status.success(), "{printed}{errors}");
    for variant in ["naive", "variant_2"] {
        assert!(
            printed.contains(&format!("{variant} computes a wrong y")),
            "{printed}{errors}"
        );
    }
    assert!(!printed.contains("median"), "{printed}");
}

/// A limit of the system is neither a bug of the tool nor a compiler that is missing.
#[test]
fn limits_of_the_system_are_named() {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), "small.rhai", SMALL);
    for limit in ["-n 12", "-v 600000"] {
        let limited = format!("ulimit {limit}; exec \"$0\" run small.rhai");
        let mut command = Command::new("sh");
        command.args(["-c", &limited, env!("CARGO_BIN_EXE_teml")]);
        command.current_dir(place.path());
        command.env("TEML_CACHE_DIR", place.path().join("cache"));
        let output = command.output().unwrap();
        let (_, errors) = shown(&output);
        assert_eq!(output.status.code(), Some(1), "{limit}: {errors}");
        assert!(errors.contains("`ulimit -a` shows"), "{limit}: {errors}");
        for wrong in ["report", "install", "internal"] {
            assert!(!errors.contains(wrong), "{limit}: {errors}");
        }
    }
}

/// The memory that a process has, in KiB.
fn resident(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Each line leaves a state to go back to, which shares what did not change.
#[test]
fn a_session_grows_in_proportion_to_its_lines() {
    let place = tempfile::tempdir().unwrap();
    let mut command = teml(place.path(), &["repl"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut session = command.stderr(Stdio::null()).spawn().unwrap();
    let mut input = session.stdin.take().unwrap();
    let mut output = BufReader::new(session.stdout.take().unwrap()).lines();
    writeln!(input, "let A = tensor([20, 20]);").unwrap();
    let mut count = 0;
    let mut after = |lines: u32| {
        while count < lines {
            count += 1;
            let line = format!("let C = stored({count}.5 * A); let n = build(C).stripmine(1, 2);");
            writeln!(input, "{line}").unwrap();
        }
        writeln!(input, "print(\"after {lines}\")").unwrap();
        let said = format!("after {lines}");
        assert!(output.any(|line| line.unwrap().contains(&said)));
        resident(session.id())
    };
    // There is no answer on a machine without /proc.
    let sizes: Option<Vec<u64>> = [100, 200, 400].into_iter().map(&mut after).collect();
    if let Some(&[first, second, third]) = sizes.as_deref() {
        let (early, late) = (second.saturating_sub(first), third.saturating_sub(second));
        // Twice as many lines; four times as much if each line cost as much as all before it.
        assert!(late <= 3 * early + 4096, "{sizes:?}");
    }
    drop(input);
    assert!(session.wait().unwrap().success());
}
