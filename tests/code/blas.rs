//! `teml build --abi blas`: the BLAS in `scripts/blas` passes the tests of the reference BLAS.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// `teml build --abi blas` of a script or of a directory of scripts, for tiny likely sizes.
fn build(scripts: &Path, directory: &Path) -> Output {
    let mut teml = Command::new(env!("CARGO_BIN_EXE_teml"));
    let options = ["--abi", "blas", "--size", "mini", "--out", "out"];
    teml.arg("build").arg(scripts).args(options);
    if scripts.is_dir() {
        // Single precision differs in nothing but the type.
        teml.args(["--set", "both=0"]);
    }
    teml.current_dir(directory);
    teml.env("TEML_CACHE_DIR", directory.join("cache"));
    teml.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The directory of Debian's package `libblas-test`, if it is installed.
fn tests_of_reference() -> Option<PathBuf> {
    let places = std::fs::read_dir("/usr/lib").ok()?;
    let places = places.filter_map(|entry| Some(entry.ok()?.path().join("blas")));
    places.into_iter().find(|p| p.join("xdcblat3").exists())
}

/// Runs a program of the tests over the library, with what it reads.
fn tested(directory: &Path, tests: &Path, program: &str, input: Option<&str>) -> String {
    let input = match input {
        Some(name) => Stdio::from(std::fs::File::open(tests.join(name)).unwrap()),
        None => Stdio::null(),
    };
    let output = Command::new(tests.join(program))
        .current_dir(directory)
        .env("LD_LIBRARY_PATH", directory.join("out/lib"))
        .stdin(input)
        .output()
        .unwrap();
    let shown = text(&output.stdout) + text(&output.stderr).as_str();
    assert!(output.status.success(), "{program}: {shown}");
    shown
}

#[test]
fn the_tests_of_the_reference_pass() {
    let Some(tests) = tests_of_reference() else {
        eprintln!("`libblas-test` is not installed: nothing is tested");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/blas");
    let output = build(&scripts, here);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // Each program says for each routine, and each order of storage, that it passed.
    let programs = [
        ("xblat1d", None, None, 13),
        ("xblat2d", Some("dblat2.in"), Some("dblat2.out"), 32),
        ("xblat3d", Some("dblat3.in"), Some("dblat3.out"), 12),
        ("xdcblat1", None, None, 10),
        ("xdcblat2", Some("din2"), None, 48),
        ("xdcblat3", Some("din3"), None, 18),
    ];
    for (program, input, written, count) in programs {
        let mut shown = tested(here, &tests, program, input);
        if let Some(file) = written {
            shown = std::fs::read_to_string(here.join(file)).unwrap();
        }
        let passed = shown.matches("PASSED THE").count() + shown.matches("-- PASS --").count();
        assert_eq!(passed, count, "{program}: {shown}");
        let wrong = ["FAIL", "FATAL", "SUSPECT"];
        assert!(
            !wrong.iter().any(|w| shown.contains(w)),
            "{program}: {shown}"
        );
    }
}

const COPIES: &str = r#"
let x = tensor([size("N")], "f64", "x");
let y = eq(1.0 * x, [i] -> [i]);
export_kernel(build(y), "dcopy");
"#;

#[test]
fn kernels_that_no_routine_calls_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let refused = |script: &str| {
        let file = here.join("copies.rhai");
        std::fs::write(&file, script).unwrap();
        let output = build(&file, here);
        assert!(!output.status.success());
        assert!(!here.join("out").exists());
        text(&output.stderr)
    };
    let says = |what: &str| format!("error: nothing is written: {what}\n");
    let one = refused(COPIES);
    let missing = "routines of BLAS that call the kernel `dcopy` also call `dcopy_inc`";
    assert_eq!(one, says(missing));
    let other = refused(&COPIES.replace("dcopy", "dcopies"));
    let unknown = "no routine of BLAS calls a kernel `dcopies`";
    assert_eq!(other, says(unknown));
    let sized = COPIES.replace("size(\"N\")", "size(\"P\")");
    let both = refused(&(sized + "export_kernel(build(y), \"dcopy_inc\");"));
    let argument = "`dcopy` has an argument `P`, which routines of BLAS do not have";
    assert_eq!(both, says(argument));
}
