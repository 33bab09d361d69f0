//! The Python package `teml`, as its users run it: `python/session.py` is a session as in
//! a notebook, and `python/programs.py` traces programs of NumPy's users.

use crate::kernels::{python, succeeds};
use std::path::{Path, PathBuf};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/python")
}

/// The output of a Python program. The program `teml` is the one that this test built.
fn shown(python: &str, arguments: &[&str], place: &Path) -> String {
    let package = format!("PYTHONPATH={}", directory().display());
    let program = format!("TEML_PROGRAM={}", env!("CARGO_BIN_EXE_teml"));
    let start = ["PYTHONDONTWRITEBYTECODE=1", &package, &program, python];
    succeeds("env", &[&start, arguments].concat(), place)
}

fn runs(program: &str) {
    let Some(python) = python() else {
        return eprintln!("no Python with NumPy is installed: {program} does not run");
    };
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/code/python");
    let file = tests.join(program).display().to_string();
    let place = tempfile::tempdir().unwrap();
    let shown = shown(&python, &[&file], place.path());
    // Libraries that are not installed are named before it, and warnings of Python come after it.
    eprint!("{shown}");
    assert!(shown.contains("all is well\n"), "{shown}");
}

#[test]
fn session() {
    runs("session.py");
}

/// The second process takes the library of the first one, and compiles nothing.
#[test]
fn a_kernel_is_compiled_once() {
    let Some(python) = python() else {
        return eprintln!("no Python with NumPy is installed: no kernel is kept");
    };
    let directory_of_test = tempfile::tempdir().unwrap();
    let place = directory_of_test.path();
    let program = "import numpy as np, teml\n\
                   @teml.kernel\n\
                   def scaled(A, x): return 2 * A @ x + 1\n\
                   print(scaled(np.ones((3, 4)), np.ones(4)))\n";
    std::fs::write(place.join("scaled.py"), program).unwrap();
    let compiler = place.join("compiler");
    let log = place.join("log").display().to_string();
    let forwards = format!("#!/bin/sh\necho \"$*\" >> {log}\nexec cc \"$@\"\n");
    std::fs::write(&compiler, forwards).unwrap();
    succeeds("chmod", &["+x", "compiler"], place);
    let compiled = || {
        let _ = std::fs::remove_file(&log);
        let compiler = format!("CC={}", compiler.display());
        let environment = [&*compiler, "TEML_CACHE_DIR=kept", &python, "scaled.py"];
        assert_eq!(shown("env", &environment, place), "[9. 9. 9.]\n");
        let calls = std::fs::read_to_string(&log).unwrap();
        calls.lines().filter(|call| call.contains(" -o ")).count()
    };
    assert!(compiled() > 0);
    assert_eq!(compiled(), 0);
}

#[test]
fn arrays_of_other_libraries() {
    runs("libraries.py");
}

#[test]
fn programs_of_numpy() {
    runs("programs.py");
}

/// The examples of the package's page run one after the other, in an installed package.
#[test]
fn an_installed_package_runs_its_page() {
    let Some(python) = python() else {
        return eprintln!("no Python with NumPy is installed: the package is not installed");
    };
    let page = std::fs::read_to_string(directory().join("README.md")).unwrap();
    let blocks = page.split("```python\n").skip(1);
    let blocks: Vec<&str> = blocks.map(|b| b.split("```").next().unwrap()).collect();
    assert!(blocks.len() >= 4);
    let directory_of_test = tempfile::tempdir().unwrap();
    let place = directory_of_test.path();
    std::fs::write(place.join("page.py"), blocks.join("\n")).unwrap();
    let venv = ["-m", "venv", "--system-site-packages", "fresh"];
    succeeds(&python, &venv, place);
    let program = format!("TEML_PROGRAM={}", env!("CARGO_BIN_EXE_teml"));
    let source = directory().display().to_string();
    let install = ["-m", "pip", "install", "--no-index", "--no-deps", "-q"];
    let start = [&program, "fresh/bin/python"];
    succeeds("env", &[&start[..], &install, &[&source]].concat(), place);
    // From here on, the program is the one in the package.
    let shown = succeeds("fresh/bin/python", &["-I", "page.py"], place);
    assert!(shown.contains("| plan "), "{shown}");
    let version = succeeds("fresh/bin/teml", &["--version"], place);
    assert_eq!(version, concat!("teml ", env!("CARGO_PKG_VERSION"), "\n"));
}
