//! The compiler, its complaints, and the cache.

use crate::runtime::workshop::*;
use crate::waiting::eventually;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use teml::codegen::Kernel;
use teml::runtime::{Compiler, Control, Data, Options, RuntimeError, Scalar, compile, run_once};

/// A shell script that passes for a compiler.
fn script(directory: &Path, body: &str) -> Compiler {
    let path = directory.join("fake-cc");
    let version = "[ \"$1\" = --version ] && { echo fake 1; exit; }";
    std::fs::write(&path, format!("#!/bin/sh\n{version}\n{body}\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    // A thread that forks at the same time may still hold the script open for writing.
    assert!(eventually(|| Compiler::from_path(&path, &control()).is_ok()));
    Compiler::from_path(&path, &control()).unwrap()
}

fn with_cache(directory: &Path) -> Control {
    Control {
        cache_dir: Some(directory.to_owned()),
        ..control()
    }
}

#[test]
fn a_missing_compiler_names_the_remedy() {
    let error = Compiler::from_path(Path::new("/nonexistent/cc"), &control()).unwrap_err();
    let text = error.to_string();
    for part in ["/nonexistent/cc", "apt install gcc", "CC"] {
        assert!(text.contains(part), "{text}");
    }
    let error = Compiler::from_path(Path::new("/bin/false"), &control()).unwrap_err();
    assert!(matches!(error, RuntimeError::NoCompiler { .. }));
}

#[test]
fn the_compiler_is_found_with_its_version() {
    let compiler = Compiler::find(&control()).unwrap();
    assert!(!compiler.version().is_empty());
    assert!(!compiler.program().as_os_str().is_empty());
}

#[test]
fn errors_show_the_c() {
    let kernel = on_x("broken", "", "x[0] = 1;\n  x[1] = undeclared;\nx[2] = 3;");
    let error = compile(&kernel, &Options::default(), &control()).unwrap_err();
    let RuntimeError::CompileFailed { line, report, .. } = &error else {
        panic!("{error}");
    };
    let source = kernel.source();
    let at = |text: &str| 1 + source.lines().position(|line| line.contains(text)).unwrap();
    let wrong = at("undeclared");
    assert_eq!(*line, Some(wrong));
    let place = format!("broken.c:{wrong}:10: error:");
    assert!(report.contains(&place), "{report}");
    let (before, after) = (wrong - 1, wrong + 1);
    let excerpt = format!("   {before} | x[0] = 1;\n   {wrong} |   x[1] = undeclared;\n");
    assert!(report.contains(&excerpt), "{report}");
    let rest = format!("\n      |          ^\n   {after} | x[2] = 3;\n");
    assert!(report.contains(&rest), "{report}");
}

#[test]
fn functions_that_do_not_exist_are_errors_when_compiling() {
    for source in [
        "x[0] = no_such(1);",
        "extern int no_such(int); x[0] = no_such(1);",
    ] {
        let error = compile(&on_x("lost", "", source), &Options::default(), &control());
        let text = error.unwrap_err().to_string();
        assert!(text.contains("no_such"), "{text}");
    }
}

#[test]
fn what_was_compiled_is_not_compiled_again() {
    let directory = tempfile::tempdir().unwrap();
    let control = with_cache(&directory.path().join("new"));
    let kernel = on_x("cached", "", "x[0] = 5;");
    let build = |options: &Options| compile(&kernel, options, &control).unwrap();
    let first = build(&Options::default());
    let second = build(&Options::default());
    assert!(!first.was_cached() && second.was_cached());
    assert_eq!(first.path(), second.path());
    let other = build(&Options {
        fp_contract: false,
        ..Options::default()
    });
    assert!(!other.was_cached() && other.path() != first.path());
    // A truncated file is rebuilt.
    std::fs::write(first.path(), &std::fs::read(first.path()).unwrap()[..100]).unwrap();
    let third = build(&Options::default());
    assert!(!third.was_cached());
    run_once(&third, &[Data::Unset], &control).unwrap();
    let left = std::fs::read_dir(directory.path().join("new"))
        .unwrap()
        .count();
    assert_eq!(left, 2, "only the two shared objects stay");
}

#[test]
fn kernels_of_a_batch_are_found_where_each_is_looked_for() {
    let directory = tempfile::tempdir().unwrap();
    let control = with_cache(directory.path());
    let compiler = Compiler::find(&control).unwrap();
    let options = Options::default();
    let together = |kernels: &[Kernel]| {
        compiler.compile_batch(kernels, &options, &control).unwrap();
    };
    let found = |kernel: &Kernel| compile(kernel, &options, &control);
    let sets = |symbol: &str, value: &str| on_x(symbol, "", &format!("x[0] = {value};"));
    // The last one compiles with other flags.
    let kernels = [
        sets("one", "1"),
        sets("two", "2"),
        sets("three", "x[1] > 0 ? 3 : 0"),
    ];
    together(&kernels);
    for (kernel, expected) in kernels.iter().zip([1.0, 2.0, 3.0]) {
        let compiled = found(kernel).unwrap();
        assert_eq!(compiled.was_cached(), expected < 3.0);
        let run = run_once(&compiled, &[Data::Constant(1.0.into())], &control).unwrap();
        let first = run.outputs.get("x").unwrap().view().get(0);
        assert_eq!(first, Some(Scalar::Float(expected)));
    }
    // Only the failing one is blamed.
    let (bad, good) = (sets("bad", ""), sets("good", "4"));
    together(&[bad.clone(), good.clone()]);
    let error = found(&bad).unwrap_err();
    assert!(
        matches!(&error, RuntimeError::CompileFailed { kernel, .. } if kernel == "bad"),
        "{error}"
    );
    assert!(!found(&good).unwrap().was_cached());
}

#[test]
fn a_cache_that_cannot_be_written_is_done_without() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    for place in [file.join("cache"), PathBuf::from("/proc/teml")] {
        let control = with_cache(&place);
        let kernel = on_x("homeless", "", "x[0] = 6;");
        let compiled = compile(&kernel, &Options::default(), &control).unwrap();
        run_once(&compiled, &[Data::Unset], &control).unwrap();
        let path = compiled.path().to_owned();
        assert!(path.exists());
        drop(compiled);
        assert!(!path.exists());
    }
}

#[test]
fn a_full_disk_is_not_the_kernels_fault() {
    let directory = tempfile::tempdir().unwrap();
    let full = script(
        directory.path(),
        "echo 'x: No space left on device' >&2; exit 1",
    );
    let control = with_cache(&directory.path().join("cache"));
    let error = full.compile(&on_x("full", "", ""), &Options::default(), &control);
    match error.unwrap_err() {
        RuntimeError::NoStorage { tried } => assert_eq!(tried.len(), 2),
        other => panic!("{other}"),
    }
}

#[test]
fn a_slow_compiler_is_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let pid = directory.path().join("pid");
    let slow = script(
        directory.path(),
        &format!("sleep 600 & echo $! > {}\nwait", pid.display()),
    );
    let gone = || {
        let child = std::fs::read_to_string(&pid).unwrap();
        assert!(eventually(|| !alive(&child)));
        std::fs::remove_file(&pid).unwrap();
    };
    let started = || std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n'));
    let kernel = on_x("slow", "", "");

    let mut control = with_cache(&directory.path().join("cache"));
    control.compile_limit = Duration::from_secs(2);
    let error = slow
        .compile(&kernel, &Options::default(), &control)
        .unwrap_err();
    assert!(
        matches!(error, RuntimeError::CompileTimedOut { .. }),
        "{error}"
    );
    gone();

    control.compile_limit = Duration::from_secs(600);
    let interrupt = Arc::clone(&control.interrupt);
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            assert!(eventually(started));
            interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        slow.compile(&kernel, &Options::default(), &control)
            .unwrap_err()
    });
    let during = "compiling kernel `slow`".to_owned();
    assert_eq!(error, RuntimeError::Interrupted { during });
    gone();
}

#[test]
fn a_killed_compiler_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let killed = script(directory.path(), "kill -9 $$");
    let control = with_cache(&directory.path().join("cache"));
    let error = killed
        .compile(&on_x("k", "", ""), &Options::default(), &control)
        .unwrap_err();
    assert!(matches!(
        error,
        RuntimeError::CompilerKilled {
            signal: "SIGKILL",
            ..
        }
    ));
}
