//! C for other machines: the ten kernels and the scripts in `tests/code/lanes` for each target,
//! compiled with its flags, run and compared with the reference; and targets in files and on the
//! command line.

use crate::folder::scripts;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use teml::codegen::Preamble;
use teml::script::Session;
use teml::target::Target;
use teml::trial::{self, Collect, Emit, Runner};
use teml::verbs::{Size, Workbench};

const KERNELS: [&str; 10] = [
    "mm", "tmm", "bmm", "gconv", "mttkrp", "sddmm", "interp", "helm", "blur", "coars",
];

fn session(script: &Path, target: &Target, runner: Arc<dyn Runner>) -> Session {
    let mut settings = trial::Settings::default();
    settings.options.target = target.clone();
    let workbench = Workbench {
        runner,
        settings,
        size: Size::Mini,
        ..Workbench::default()
    };
    let mut session = Session::new(Box::new(std::io::sink()), workbench)
        .ok()
        .unwrap();
    if let Err(error) = session.run_file(script) {
        panic!("{}", error.render(false));
    }
    session
}

fn script(kernel: &str) -> PathBuf {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    scripts.join(kernel).with_extension("rhai")
}

/// Writes what `bundle` writes of the comparison of a script.
fn bundle(script: &Path, target: &Target, directory: &Path) {
    let session = session(script, target, Arc::new(Collect));
    let comparisons = session.bench().lock().kept.comparisons.clone();
    let comparison = comparisons.last().unwrap();
    let preamble = Preamble::default();
    let (inputs, settings) = (&comparison.inputs, &comparison.settings);
    let files = trial::export(&comparison.variants, inputs, settings, &preamble);
    std::fs::create_dir_all(directory).unwrap();
    for file in files.unwrap() {
        std::fs::write(directory.join(&file.name), &file.contents).unwrap();
    }
}

fn succeeds(command: &mut Command, what: &str) -> Output {
    let output = command.output().unwrap();
    let shown = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{what}: {}", shown.concat());
    output
}

/// Makes the driver of each kernel with `make`, and runs its checks with `run` before it.
fn check(target: &str, make: &[&str], run: &[&str]) {
    let root = tempfile::tempdir().unwrap();
    let target = Target::named(target).unwrap();
    let kernels: Vec<PathBuf> = KERNELS.iter().map(|kernel| script(kernel)).collect();
    let all = [kernels, scripts("tests/code/lanes")].concat();
    all.par_iter().with_max_len(1).for_each(|script| {
        let kernel = script.file_stem().unwrap().to_str().unwrap();
        let what = format!("{kernel} for {}", target.name);
        let directory = root.path().join(kernel);
        bundle(script, &target, &directory);
        let mut driver = Command::new("make");
        succeeds(
            driver.arg("driver").args(make).current_dir(&directory),
            &what,
        );
        let line: Vec<&str> = run.iter().copied().chain(["./driver", "0"]).collect();
        let mut checks = Command::new(line[0]);
        checks.args(&line[1..]).env("OMP_NUM_THREADS", "2");
        succeeds(checks.current_dir(&directory), &what);
    });
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::check;

    #[test]
    fn sse2() {
        check("sse2", &[], &[]);
    }

    #[test]
    fn avx2() {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            check("avx2", &[], &[]);
        }
    }

    #[test]
    fn avx512() {
        if is_x86_feature_detected!("avx512vl") && is_x86_feature_detected!("avx512dq") {
            check("avx512", &[], &[]);
        }
    }

    /// C for wide registers also works on narrow ones, as loops over several registers.
    #[test]
    fn wide_vectors_on_narrow_registers() {
        let reference = "REFERENCE_CFLAGS=-std=c11 -O1 -march=x86-64 -fwrapv -fopenmp";
        check("avx512", &["EXTRA=-march=x86-64", reference], &[]);
    }
}

const ARM: (&str, &str) = ("aarch64-linux-gnu-gcc", "qemu-aarch64");

#[test]
fn neon() {
    let answers = |program: &str| {
        let output = Command::new(program).arg("--version").output();
        output.is_ok_and(|o| o.status.success())
    };
    if !answers(ARM.0) || !answers(ARM.1) {
        eprintln!("{} or {} is missing: NEON is not tested", ARM.0, ARM.1);
        return;
    }
    let compiler = format!("CC={}", ARM.0);
    check("neon", &[&compiler, "EXTRA=-static"], &[ARM.1]);
}

fn c(kernel: &str, target: &Target) -> String {
    session(&script(kernel), target, Arc::new(Emit::default()))
        .emitted()
        .unwrap()
}

#[test]
fn tiles_follow_from_the_registers_of_the_target() {
    let tile = |target: &str| {
        let text = c("mm", &Target::named(target).unwrap());
        let line = text.lines().find(|line| line.contains("C_tile")).unwrap();
        line.trim().to_owned()
    };
    insta::assert_snapshot!(
        ["sse2", "avx2", "avx512", "neon"]
            .map(|target| format!("{target}: {}", tile(target)))
            .join("\n"),
        @r"
    sse2: TEML_LOCAL(double, C_tile, [6][4]);
    avx2: TEML_LOCAL(double, C_tile, [6][8]);
    avx512: TEML_LOCAL(double, C_tile, [9][24]);
    neon: TEML_LOCAL(double, C_tile, [9][4]);
    "
    );
}

#[test]
fn a_file_describes_a_target() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("laptop.json");
    let emit = |target: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teml"));
        command.args(["emit", "--size", "mini", "--target"]);
        command.arg(target).arg(script("mm")).output().unwrap()
    };
    std::fs::write(&file, r#"{"name": "laptop", "instructions": "avx2"}"#).unwrap();
    let (described, named) = (emit(&file), emit(Path::new("avx2")));
    assert!(described.status.success());
    assert_eq!(described.stdout, named.stdout);

    std::fs::write(&file, r#"{"name": "laptop"}"#).unwrap();
    let refused = emit(&file);
    assert_eq!(refused.status.code(), Some(2));
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(error.contains("missing field `instructions`"), "{error}");
    let unknown = emit(Path::new("avx3"));
    let error = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(
        error.contains(
            "expected one of sse2, avx, avx2, avx512, neon, portable, cuda, opencl, hip, native"
        ),
        "{error}"
    );
}
