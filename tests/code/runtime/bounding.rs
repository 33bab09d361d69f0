//! Compilers that sleep, write without end, leave processes behind or ignore signals. They are
//! stopped with all their children.

use crate::runtime::workshop::*;
use crate::waiting::eventually;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use teml::runtime::{Compiler, Control, Options, RuntimeError};

/// A shell script; `$here` in it is the directory.
fn stub(directory: &Path, body: &str) -> PathBuf {
    let path = directory.join("stub-cc");
    let here = directory.display();
    let text = format!("#!/bin/sh\n[ \"$1\" = --try ] && exit\nhere={here}\n{body}\n");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    // A thread that forks at the same time may still hold the script open for writing.
    let starts = || Command::new(&path).arg("--try").status().is_ok();
    assert!(eventually(starts));
    path
}

/// Writes its process id to the file `pid`, starts a child that does the same, and waits for it.
const HANG: &str = "echo $$ > $here/pid\nsh -c 'trap \"\" TERM INT; echo $$ > '$here'/child; \
                    while :; do sleep 600; done' &\nwait";

fn numbers(directory: &Path) -> Vec<String> {
    let read = |name: &str| std::fs::read_to_string(directory.join(name)).ok();
    let numbers = ["pid", "child"].into_iter().filter_map(read);
    numbers.filter(|text| text.ends_with('\n')).collect()
}

/// Not even as zombies.
fn gone(number: &str) -> bool {
    !Path::new("/proc").join(number.trim()).exists()
}

fn all_gone(directory: &Path) {
    let numbers = numbers(directory);
    assert_eq!(numbers.len(), 2, "it did not start");
    assert!(
        eventually(|| numbers.iter().all(|n| gone(n))),
        "{numbers:?}"
    );
}

fn quick(directory: &Path) -> Control {
    Control {
        answer_limit: Duration::from_millis(500),
        compile_limit: Duration::from_millis(1500),
        cache_dir: Some(directory.join("cache")),
        ..control()
    }
}

/// A compiler's answer to `--version`.
const VERSION: &str = "[ \"$1\" = --version ] && { echo stub 1; exit; }";

fn reason(error: RuntimeError) -> String {
    match error {
        RuntimeError::NoCompiler { tried } => tried.join("\n"),
        other => panic!("{other}"),
    }
}

#[test]
fn a_compiler_that_does_not_tell_its_version_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let control = quick(directory.path());
    let asked = stub(directory.path(), HANG);
    let why = reason(Compiler::from_path(&asked, &control).unwrap_err());
    assert!(
        why.contains("--version`: it gave no answer in 500ms"),
        "{why}"
    );
    all_gone(directory.path());

    let endless = stub(directory.path(), "exec yes");
    let patient = Control {
        answer_limit: Duration::from_secs(600),
        ..control
    };
    let why = reason(Compiler::from_path(&endless, &patient).unwrap_err());
    assert!(why.contains("it wrote more than 64.0 MiB"), "{why}");
}

#[test]
fn what_a_compiler_leaves_behind_is_ended_and_not_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let patient = Control {
        answer_limit: Duration::from_secs(600),
        ..quick(directory.path())
    };
    // The child holds the pipes open.
    let body = HANG.replace(
        "\nwait",
        "\nwhile [ ! -s $here/child ]; do :; done\necho stub 1",
    );
    let compiler = Compiler::from_path(&stub(directory.path(), &body), &patient).unwrap();
    assert_eq!(compiler.version(), "stub 1");
    all_gone(directory.path());
}

#[test]
fn a_compiler_that_writes_without_end_is_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let patient = Control {
        compile_limit: Duration::from_secs(600),
        ..quick(directory.path())
    };
    let endless = stub(directory.path(), &format!("{VERSION}\nexec yes >&2"));
    let compiler = Compiler::from_path(&endless, &patient).unwrap();
    let error = compiler.compile(&on_x("endless", "", ""), &Options::default(), &patient);
    match error.unwrap_err() {
        RuntimeError::CompileFailed { report, .. } => {
            assert!(report.contains("it wrote more than 64.0 MiB"), "{report}");
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_compiler_that_writes_and_then_sleeps_is_stopped_with_its_children() {
    let directory = tempfile::tempdir().unwrap();
    let control = quick(directory.path());
    let body = format!("{VERSION}\nhead -c 3000000 /dev/zero >&2\n{HANG}");
    let compiler = Compiler::from_path(&stub(directory.path(), &body), &control).unwrap();
    let error = compiler.compile(&on_x("sleepy", "", ""), &Options::default(), &control);
    let error = error.unwrap_err();
    assert!(
        matches!(error, RuntimeError::CompileTimedOut { .. }),
        "{error}"
    );
    all_gone(directory.path());
}

/// Starts `teml` on a small comparison with a compiler.
fn teml(directory: &Path, compiler: &Path) -> Child {
    let script = "let A = tensor([4]); let B = eq(A, [i] -> [i]); compare(build(B));";
    std::fs::write(directory.join("script.rhai"), script).unwrap();
    std::fs::create_dir_all(directory.join("tmp")).unwrap();
    Command::new(env!("CARGO_BIN_EXE_teml"))
        .arg("run")
        .arg(directory.join("script.rhai"))
        .env("CC", compiler)
        .env("TEML_CACHE_DIR", directory.join("cache"))
        .env("TMPDIR", directory.join("tmp"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let kill = Command::new("kill").args([name, &id]).status();
    assert!(kill.unwrap().success());
}

/// The output of `teml` when a signal arrives while its compiler hangs.
fn interrupted(directory: &Path, body: &str, name: &str) -> Output {
    let child = teml(directory, &stub(directory, body));
    assert!(eventually(|| numbers(directory).len() == 2));
    signal(&child, name);
    let output = child.wait_with_output().unwrap();
    all_gone(directory);
    output
}

/// The files of a directory, except those with this prefix.
fn left(directory: &Path, except: &str) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| except.is_empty() || !name.starts_with(except))
        .collect()
}

#[test]
fn signals_end_the_search_for_a_compiler() {
    for (name, code) in [("-TERM", 143), ("-INT", 130)] {
        let directory = tempfile::tempdir().unwrap();
        let output = interrupted(directory.path(), HANG, name);
        let shown = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{shown}");
        assert!(
            shown.contains("interrupted while looking for a C compiler"),
            "{shown}"
        );
        assert_eq!(left(&directory.path().join("tmp"), ""), [] as [&str; 0]);
    }
}

#[test]
fn signals_end_a_compiler_and_what_it_wrote() {
    for (name, code) in [("-TERM", 143), ("-INT", 130)] {
        let directory = tempfile::tempdir().unwrap();
        // Answers questions about itself at once.
        let body = format!(
            "case \"$*\" in *-shared*) ;; *) exec cc \"$@\";; esac\n\
             echo > ${{TMPDIR:-/tmp}}/cc_stub.s\n{HANG}"
        );
        let output = interrupted(directory.path(), &body, name);
        let shown = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{shown}");
        assert!(shown.contains("interrupted while compiling"), "{shown}");
        assert_eq!(left(&directory.path().join("tmp"), ""), [] as [&str; 0]);
        assert_eq!(
            left(&directory.path().join("cache"), "measuring"),
            [] as [&str; 0]
        );
    }
}

#[test]
fn a_compiler_dies_with_the_program_that_started_it() {
    let compiling = format!("case \"$*\" in *-shared*) ;; *) exec cc \"$@\";; esac\n{HANG}");
    for body in [HANG, &compiling] {
        let directory = tempfile::tempdir().unwrap();
        let mut child = teml(directory.path(), &stub(directory.path(), body));
        assert!(eventually(|| numbers(directory.path()).len() == 2));
        signal(&child, "-KILL");
        child.wait().unwrap();
        let numbers = numbers(directory.path());
        assert!(
            eventually(|| numbers.iter().all(|n| !alive(n))),
            "{numbers:?}"
        );
    }
}

#[test]
fn a_compiler_that_tells_of_itself_without_end_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let child = teml(directory.path(), &stub(directory.path(), "exec yes"));
    let output = child.wait_with_output().unwrap();
    let shown = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(shown.contains("no C compiler found"), "{shown}");
    assert!(shown.contains("it wrote more than"), "{shown}");
}
