//! The C that others compile and call: the ten kernels with gcc, clang and as C++, under
//! sanitizers, with poisoned local tensors, on tensors that malloc put anywhere, and with any
//! names.
//!
//! `TEML_SIZE=bench cargo test --release --test code emitted` does the same at the sizes of the
//! bench.

use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use teml::codegen::Preamble;
use teml::script::Session;
use teml::trial::{self, Collect};
use teml::verbs::{Size, Workbench};

const KERNELS: [&str; 10] = [
    "mm", "tmm", "bmm", "gconv", "mttkrp", "sddmm", "interp", "helm", "blur", "coars",
];

/// Writes the `bundle` of the comparison of a kernel's script.
fn bundle(kernel: &str, directory: &Path) {
    let size = match std::env::var("TEML_SIZE").as_deref() {
        Ok("bench") => Size::Bench,
        _ => Size::Mini,
    };
    let workbench = Workbench {
        runner: Arc::new(Collect),
        size,
        ..Workbench::default()
    };
    let mut session = Session::new(Box::new(std::io::sink()), workbench)
        .ok()
        .unwrap();
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let script = scripts.join(kernel).with_extension("rhai");
    if let Err(error) = session.run_file(&script) {
        panic!("{}", error.render(false));
    }
    let comparisons = session.bench().lock().kept.comparisons.clone();
    let comparison = comparisons.last().unwrap();
    let preamble = Preamble::default();
    let (inputs, settings) = (&comparison.inputs, &comparison.settings);
    let files = trial::export(&comparison.variants, inputs, settings, &preamble);
    for file in files.unwrap() {
        std::fs::write(directory.join(&file.name), &file.contents).unwrap();
    }
}

/// The installed compilers with OpenMP, for C and for C++.
fn compilers() -> Vec<(PathBuf, PathBuf)> {
    let pairs = [
        ("gcc", "g++"),
        ("clang", "clang++"),
        ("clang-16", "clang++-16"),
        ("clang-19", "clang++-19"),
    ];
    let place = tempfile::tempdir().unwrap();
    let links = |program: &str| links_with(Path::new(program), "-fopenmp", place.path());
    pairs
        .into_iter()
        .filter(|(c, plus)| links(c) && links(plus))
        .map(|(c, plus)| (c.into(), plus.into()))
        .collect()
}

fn text(output: &Output) -> String {
    let shown = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    shown.concat()
}

fn succeeds(command: &mut Command, what: &str) -> String {
    let output = command.output().unwrap();
    let shown = text(&output);
    assert!(output.status.success(), "{what}: {shown}");
    shown
}

/// Rebuilds the driver of a bundle and runs its checks.
fn checks(directory: &Path, compiler: &Path, flags: &str) {
    let what = format!("{} {flags} in {}", compiler.display(), directory.display());
    std::fs::remove_file(directory.join("driver")).ok();
    succeeds(
        Command::new("make")
            .args(["run", "RUNS=0"])
            .arg(format!("CC={}", compiler.display()))
            .arg(format!("EXTRA={flags}"))
            // One thread, so that the driver sees its floating-point exceptions.
            .env("OMP_NUM_THREADS", "1")
            .env("ASAN_OPTIONS", "detect_leaks=0")
            .current_dir(directory),
        &what,
    );
}

/// The variations of callers: the alignment and the contents of tensors. With `-ftrapping-math`,
/// clang's own vectors do not divide 0 by 0 in inactive lanes, so that floating-point exceptions
/// come from the C.
const CALLERS: [&str; 4] = [
    "-DTEML_OFFSET=8 -DTEML_POISON=1 -ftrapping-math",
    "-DTEML_OFFSET=16 -DTEML_POISON=2 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all",
    "-DTEML_OFFSET=32",
    "-DTEML_ALIGNED_TENSORS -DTEML_POISON=1 -ftrapping-math",
];

/// Like [`CALLERS`], for machines without sanitizers.
fn without_sanitizers(flags: &str) -> String {
    let kept = flags.split(' ').filter(|flag| !flag.contains("sanitize"));
    kept.collect::<Vec<_>>().join(" ")
}

/// Whether a program compiles and links with the flag.
fn links_with(compiler: &Path, flag: &str, directory: &Path) -> bool {
    let file = directory.join("probe.c");
    std::fs::write(&file, "int main(void) { return 0; }\n").unwrap();
    let output = Command::new(compiler)
        .arg(flag)
        .arg(&file)
        .arg("-o")
        .arg(directory.join("probe"))
        .output();
    output.is_ok_and(|o| o.status.success())
}

/// Runs a check of each kernel, several at a time.
fn for_each_kernel(check: impl Fn(&str) + Sync) {
    KERNELS
        .par_iter()
        .with_max_len(1)
        .for_each(|kernel| check(kernel));
}

#[test]
fn every_kernel_computes_the_same_whoever_compiles_and_calls_it() {
    let root = tempfile::tempdir().unwrap();
    let sanitizers = "-fsanitize=address,undefined";
    let compilers = compilers().into_iter().map(|(compiler, _)| {
        let sanitized = links_with(&compiler, sanitizers, root.path());
        (compiler, sanitized)
    });
    let compilers: Vec<_> = compilers.collect();
    assert!(!compilers.is_empty());
    for_each_kernel(|kernel| {
        let directory = root.path().join(kernel);
        std::fs::create_dir_all(&directory).unwrap();
        bundle(kernel, &directory);
        for (compiler, sanitized) in &compilers {
            for flags in CALLERS {
                match sanitized {
                    true => checks(&directory, compiler, flags),
                    false => checks(&directory, compiler, &without_sanitizers(flags)),
                }
            }
        }
    });
}

#[test]
fn every_kernel_is_cpp_too() {
    let root = tempfile::tempdir().unwrap();
    let compilers = compilers();
    let targets: &[&str] = if cfg!(target_arch = "x86_64") {
        &["x86-64", "x86-64-v3", "x86-64-v4"]
    } else {
        &["native"]
    };
    for_each_kernel(|kernel| {
        let directory = root.path().join(kernel);
        std::fs::create_dir_all(&directory).unwrap();
        bundle(kernel, &directory);
        let user = "#include <vector>\n#include \"kernels.h\"\n";
        std::fs::write(directory.join("user.cpp"), user).unwrap();
        for (_, compiler) in &compilers {
            let compiles = |file: &str, target: &str| {
                let mut command = Command::new(compiler);
                let flags = ["-std=c++17", "-x", "c++", "-fopenmp", "-Wall", "-Wextra"];
                command
                    .args(flags)
                    .args(["-Wno-unused-function", "-Werror", "-fsyntax-only"]);
                command.arg(format!("-march={target}")).arg(file);
                let what = format!("{} {target} {kernel}/{file}", compiler.display());
                succeeds(command.current_dir(&directory), &what);
            };
            compiles("user.cpp", targets[0]);
            targets
                .iter()
                .for_each(|target| compiles("kernels.c", target));
        }
    });
}
