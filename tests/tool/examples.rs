//! The examples in the headers of operations and in the library: each `rhai` block prints what
//! the `text` block after it shows.

use crate::output::Output;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use teml::Target;
use teml::runtime::Control;
use teml::script::{Concept, Session};
use teml::transform::{OPERATORS, OPS};
use teml::verbs::Workbench;

/// The pairs of blocks in comment lines that start with `marker`.
fn examples(text: &str, marker: &str) -> Vec<(String, String)> {
    let mut examples = Vec::new();
    let mut script: Option<String> = None;
    let mut open: Option<(&str, String)> = None;
    for line in text.lines() {
        let Some(line) = line.strip_prefix(marker) else {
            continue;
        };
        let line = line.strip_prefix(' ').unwrap_or(line);
        match (line.strip_prefix("```"), open.take()) {
            (Some(language), None) => open = Some((language, String::new())),
            (Some(_), Some(("rhai", body))) => script = Some(body),
            (Some(_), Some(("text", body))) => {
                if let Some(script) = script.take() {
                    examples.push((script, body));
                }
            }
            (Some(_), Some(_)) => {}
            (None, Some((language, body))) => open = Some((language, body + line + "\n")),
            (None, None) => {}
        }
    }
    examples
}

fn check(place: &str, script: &str, expected: &str) {
    let printed = printed(place, script, Target::native());
    assert_eq!(printed, expected, "{place}\n{script}");
}

/// The processor of examples of the library: schedules follow the facts of one.
const PROCESSOR: &str = r#"{
    "name": "example", "instructions": "avx512", "l1": 32768, "l2": 1048576, "l3": 33554432,
    "threads": 2
}"#;

fn printed(place: &str, script: &str, target: Target) -> String {
    let output = Output::default();
    // Examples show what schedules do where nothing was measured.
    let nothing = tempfile::tempdir().unwrap();
    let control = Control {
        cache_dir: Some(nothing.path().to_owned()),
        ..Control::default()
    };
    let mut workbench = Workbench {
        control,
        ..Workbench::default()
    };
    workbench.settings.options.target = target;
    let mut session = Session::new(Box::new(output.clone()), workbench)
        .unwrap_or_else(|e| panic!("{}", e.render(false)));
    if let Err(error) = session.run_text(place, script) {
        panic!("{}", error.render(false));
    }
    output.text()
}

#[test]
fn every_operation_has_an_example_that_holds() {
    for op in OPS.iter().chain(OPERATORS) {
        let examples = examples(op.file, "//!");
        assert!(!examples.is_empty(), "{} has no example", op.name);
        for (script, expected) in examples {
            check(op.name, &script, &expected);
        }
    }
}

#[test]
fn every_function_of_the_library_has_an_example_that_holds() {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("stdlib")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path)
            } else {
                files.push(path)
            }
        }
    }
    for file in files
        .iter()
        .filter(|f| f.extension().is_some_and(|e| e == "rhai"))
    {
        let text = fs::read_to_string(file).unwrap();
        // Functions of one name differ in their number of arguments and share a comment.
        let functions = text.lines().filter_map(|l| l.strip_prefix("fn "));
        let functions: BTreeSet<&str> = functions
            .filter_map(|l| l.split('(').next())
            .filter(|name| !name.starts_with("std_"))
            .collect();
        let examples = examples(&text, "///");
        assert_eq!(
            examples.len(),
            functions.len(),
            "{}: one example per function",
            file.display()
        );
        for (script, expected) in examples {
            let (place, target) = (file.display().to_string(), Target::parse(PROCESSOR));
            let printed = printed(&place, &script, target.unwrap());
            assert_eq!(printed, expected, "{place}\n{script}");
        }
    }
}

#[test]
fn every_header_says_what_the_house_asks_for() {
    for op in OPS.iter().chain(OPERATORS) {
        let header = op.doc();
        for part in ["Source: ", "Refuses: "] {
            assert!(header.contains(part), "{}: no `{part}`", op.name);
        }
    }
}

/// `TEML_BLESS=1 cargo test --test tool concepts` writes what the examples print.
#[test]
fn every_concept_fits_a_screen_and_has_an_example_that_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/script/concepts");
    let mut pages: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    pages.sort();
    assert_eq!(pages.len(), Concept::all().count());
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let (before, rest) = text.split_once("```rhai\n").unwrap();
        let (script, rest) = rest.split_once("```\n\n```text\n").unwrap();
        let (expected, after) = rest.split_once("```\n").unwrap();
        if std::env::var_os("TEML_BLESS").is_some() {
            let printed = printed("page.rhai", script, Target::native());
            let blessed = format!("{before}```rhai\n{script}```\n\n```text\n{printed}```\n{after}");
            fs::write(&page, blessed).unwrap();
            continue;
        }
        assert!(text.lines().count() <= 55, "{}", page.display());
        check("page.rhai", script, expected);
    }
}

#[test]
fn the_pages_of_folders_have_examples_that_hold() {
    for page in [
        "scripts/README.md",
        "scripts/device/README.md",
        "benches/README.md",
    ] {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
        let lines: Vec<String> = text.lines().map(|line| format!("// {line}")).collect();
        let examples = examples(&lines.join("\n"), "//");
        assert_eq!(examples.len(), text.matches("```rhai").count(), "{page}");
        assert!(!examples.is_empty(), "{page}");
        for (script, expected) in examples {
            check(page, &script, &expected);
        }
    }
}
