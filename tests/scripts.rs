//! The scripts in `scripts/`, at sizes that take no time and that neither tiles nor vectors
//! divide: every variant is checked against the definition, and the C compiles without warnings.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use teml::ir::Nest;
use teml::script::{Mode, Session, Workbench};
use teml::transform::trace;

/// Each script with its sizes.
const SCRIPTS: &[(&str, &[&str])] = &[
    ("blur", &["h=29", "w=31"]),
    ("bmm", &["b=5", "m=9", "n=11", "k=7"]),
    ("coars", &["h=29", "w=31"]),
    (
        "gconv",
        &["n=2", "g=3", "f=2", "c=3", "h=5", "w=6", "kh=3", "kw=3"],
    ),
    ("helm", &["e=7", "n=5"]),
    ("interp", &["e=13", "n=5"]),
    ("mm", &["m=17", "n=19", "k=23"]),
    ("mttkrp", &["i=7", "j=11", "k=9", "l=13"]),
    ("optimize_mttkrp", &["n=9"]),
    ("sddmm", &["m=17", "n=19", "k=23"]),
    ("tune_tiles", &["m=12", "n=70", "k=64"]),
    ("tmm", &["m=17", "n=19", "k=23"]),
];

fn path(script: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    directory.join(script).with_extension("rhai")
}

fn teml(command: &str, script: &str, sizes: &[&str], cache: &Path) -> Output {
    let mut teml = Command::new(env!("CARGO_BIN_EXE_teml"));
    teml.arg(command).arg(path(script));
    for size in sizes {
        teml.args(["--set", size]);
    }
    let output = teml.env("TEML_CACHE_DIR", cache).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{script}: {shown}");
    // A size that the script does not ask for is a warning.
    assert!(!shown.contains("warning"), "{script}: {shown}");
    output
}

#[test]
fn every_script_is_listed() {
    for entry in std::fs::read_dir(path("mm").parent().unwrap()).unwrap() {
        let name = entry.unwrap().path().with_extension("");
        let name = name.file_name().unwrap().to_string_lossy().into_owned();
        assert!(SCRIPTS.iter().any(|(s, _)| *s == name), "{name}");
    }
}

#[test]
fn every_script_computes_the_same_in_every_variant() {
    let directory = tempfile::tempdir().unwrap();
    for (script, sizes) in SCRIPTS {
        let output = teml("run", script, sizes, directory.path());
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(shown.contains("equal the"), "{script}: {shown}");
        assert!(shown.contains("1.00x"), "{script}: {shown}");
    }
}

#[test]
fn what_every_script_emits_compiles_without_warnings() {
    let directory = tempfile::tempdir().unwrap();
    for (script, sizes) in SCRIPTS {
        let output = teml("emit", script, sizes, directory.path());
        let file = directory.path().join(script).with_extension("c");
        std::fs::write(&file, output.stdout).unwrap();
        let compiled = Command::new("cc")
            .args(["-O2", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-c"])
            .arg(&file)
            .arg("-o")
            .arg(file.with_extension("o"))
            .output()
            .unwrap();
        let shown = String::from_utf8_lossy(&compiled.stderr).into_owned();
        assert!(compiled.status.success(), "{script}: {shown}");
    }
}

/// The nests that a script compares, and those from which they were made.
fn nests(script: &str, sizes: &[&str]) -> Vec<Nest> {
    let sizes = sizes.iter().filter_map(|size| size.split_once('='));
    let sizes: Vec<_> = sizes.map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
    let workbench = Workbench {
        mode: Mode::Emit,
        parameters: sizes.into(),
        ..Workbench::default()
    };
    let mut session = Session::new(Box::new(std::io::sink()), workbench)
        .ok()
        .unwrap();
    if let Err(error) = session.run_file(&path(script)) {
        panic!("{}", error.render(false));
    }
    let mut found: Vec<Nest> = Vec::new();
    for nest in session.shared().lock().workbench.nests.drain(..) {
        let before = (1..).map_while(|steps| trace::undo(&nest, steps).ok());
        let all = before.chain([nest.clone()]);
        found.extend(all.filter(|n| !found.contains(n)).collect::<Vec<_>>());
    }
    found
}

#[test]
fn every_path_of_every_script_makes_its_nest_again() {
    for (script, sizes) in SCRIPTS {
        let nests = nests(script, sizes);
        assert!(nests.len() > 1, "{script}");
        for nest in nests {
            let path = trace::script(&nest).unwrap();
            let mut session = Session::new(Box::new(std::io::sink()), Workbench::default())
                .ok()
                .unwrap();
            match session.eval_line(&path) {
                Ok(shown) => assert_eq!(shown, Some(nest.to_string()), "{script}\n{path}"),
                Err(error) => panic!("{script}\n{path}\n{}", error.render(false)),
            }
            let json = trace::to_json(&nest).unwrap();
            assert_eq!(trace::from_json(&json).unwrap(), nest, "{script}\n{json}");
            let built = (1..)
                .map_while(|steps| trace::undo(&nest, steps).ok())
                .last();
            let again = trace::replay(nest.path(), &built.unwrap_or(nest.clone())).unwrap();
            assert_eq!(again, nest, "{script}\n{path}");
        }
    }
}
