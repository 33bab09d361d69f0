//! Every program in `scripts/papers` runs, like a reader of the paper would run it, and is compared
//! with the reference, if it computes anything. Programs that a paper calls wrong are rejected by
//! the rule that it names.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Values of the sizes that the papers leave open.
const SIZES: &[(&str, &str)] = &[("l", "6"), ("m", "5"), ("n", "4"), ("k", "3"), ("h", "7")];

fn files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in std::fs::read_dir("scripts/papers").unwrap() {
        let folder = folder.unwrap().path();
        if folder.is_dir() {
            found.extend(
                std::fs::read_dir(folder)
                    .unwrap()
                    .map(|f| f.unwrap().path()),
            );
        }
    }
    found.sort();
    found
}

/// The program with tiny extents, so that a test is fast.
fn shrunken(text: &str) -> String {
    let small = [
        ("3000", "12"),
        ("1000", "12"),
        ("300", "6"),
        ("400", "7"),
        ("500", "5"),
        ("40", "8"),
        ("30", "9"),
    ];
    small.iter().fold(text.to_owned(), |text, (large, small)| {
        text.replace(large, small)
    })
}

fn run(path: &Path) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(path.file_name().unwrap());
    let text = std::fs::read_to_string(path).unwrap();
    let is_script = path.extension().is_some_and(|e| e == "rhai");
    let small = if is_script {
        text.clone()
    } else {
        shrunken(&text)
    };
    std::fs::write(&file, small).unwrap();
    let used = |name: &str| {
        let words = |c: char| !c.is_alphanumeric() && c != '_';
        text.lines()
            .filter(|l| !l.starts_with("//"))
            .any(|l| l.split(words).any(|w| w == name))
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_teml"));
    command.arg("run").arg(&file).env("NO_COLOR", "1");
    if is_script {
        command.args(["--size", "mini"]);
    } else {
        for (name, size) in SIZES.iter().filter(|(name, _)| used(name)) {
            command.args(["--set", &format!("{name}={size}")]);
        }
    }
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(text(&output.stderr))
    }
}

#[test]
fn programs_of_the_papers_run() {
    let files = files();
    assert!(files.len() >= 20, "only {} files", files.len());
    for file in files {
        let ran = run(&file);
        let is_wrong = file
            .file_stem()
            .unwrap()
            .to_str()
            .unwrap()
            .ends_with("_wrong");
        match ran {
            Ok(text) => {
                assert!(!is_wrong, "{} is accepted", file.display());
                let program = std::fs::read_to_string(&file).unwrap();
                let computes = program.contains('=');
                let is_checked = text.contains("checked: all");
                assert_eq!(is_checked, computes, "{}: {text}", file.display());
            }
            Err(message) => {
                assert!(is_wrong, "{}: {message}", file.display());
                assert!(
                    message.contains("error[t-"),
                    "{}: {message}",
                    file.display()
                );
            }
        }
    }
}

/// The table of the README names every file, and no other.
#[test]
fn the_table_names_every_program() {
    let table = std::fs::read_to_string("scripts/papers/README.md").unwrap();
    for file in files() {
        let name = file
            .strip_prefix("scripts/papers")
            .unwrap()
            .display()
            .to_string();
        assert!(
            table.contains(&format!("({name})")),
            "{name} is not in the table"
        );
    }
}

/// `teml build` makes a library of a program in a notation, with a function of the file's name.
#[test]
fn programs_of_the_papers_are_built() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("two-steps.tml");
    let text = "var input A : [5 7]\nvar input B : [5 7]\nvar output C : [5 7]\n\
                var output D : [7 5]\nC = A * B\nD = C ^ [1 2]\n";
    std::fs::write(&program, text).unwrap();
    let out = folder.path().join("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_teml"));
    command.arg("build").arg(&program).arg("--out").arg(&out);
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let header = std::fs::read_to_string(out.join("include/two_steps.h")).unwrap();
    assert!(header.contains("void two_steps("), "{header}");
    let python = out.join("python/two_steps/__init__.py");
    let python = std::fs::read_to_string(python).unwrap();
    assert!(python.contains("return C, D"), "{python}");
}
