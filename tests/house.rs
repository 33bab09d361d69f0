//! The house: rooms import what `src/README.md` says, and nothing else.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

struct Room {
    imports: BTreeSet<String>,
    crates: BTreeSet<String>,
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The rows of the table: room, imports, crates.
fn rooms() -> BTreeMap<String, Room> {
    let text = fs::read_to_string(src().join("README.md")).unwrap();
    let set = |cell: &str| -> BTreeSet<String> {
        let names = cell.split(',').map(|name| name.trim().to_owned());
        names.filter(|name| name != "–").collect()
    };
    text.lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.strip_prefix("| `")?.split('|').collect();
            let [name, imports, crates, ..] = cells.as_slice() else {
                return None;
            };
            let name = name.trim().trim_end_matches('`').to_owned();
            Some((
                name,
                Room {
                    imports: set(imports),
                    crates: set(crates),
                },
            ))
        })
        .collect()
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false if path.extension().is_some_and(|e| e == "rs") => found.push(path),
            false => {}
        }
    }
    found
}

/// The code of a file: without comments, and without unit tests, which may look at anything.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap_or("");
    let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The words that follow `before` in `code`.
fn after<'a>(code: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    code.split(before).skip(1).map(move |rest| {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        &rest[..end]
    })
}

#[test]
fn every_room_is_in_the_table() {
    let listed: BTreeSet<String> = rooms().into_keys().collect();
    let entries = fs::read_dir(src()).unwrap().map(|e| e.unwrap());
    let present: BTreeSet<String> = entries
        .filter(|e| e.path().is_dir())
        .map(|e| e.file_name().into_string().unwrap())
        .collect();
    assert_eq!(listed, present);
}

#[test]
fn rooms_import_only_what_the_table_says() {
    let rooms = rooms();
    let mut wrong = Vec::new();
    for (name, room) in &rooms {
        for file in files(&src().join(name)) {
            for import in after(&code(&file), "crate::") {
                let is_room = rooms.contains_key(import);
                if is_room && import != name && !room.imports.contains(import) {
                    wrong.push(format!("{} imports {import}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_import_goes_up() {
    // The order of the rows is the order of the data.
    let text = fs::read_to_string(src().join("README.md")).unwrap();
    let order: Vec<String> = text
        .lines()
        .filter_map(|l| Some(l.strip_prefix("| `")?.split('`').next()?.to_owned()))
        .collect();
    for (name, room) in rooms() {
        let own = order.iter().position(|n| *n == name).unwrap();
        for import in &room.imports {
            let other = order.iter().position(|n| n == import).unwrap();
            assert!(other < own, "{name} imports {import}, which comes after it");
        }
    }
}

#[test]
fn rooms_use_only_the_crates_that_the_table_says() {
    let rooms = rooms();
    let crates: BTreeSet<String> = rooms.values().flat_map(|r| r.crates.clone()).collect();
    let mut wrong = Vec::new();
    for (name, room) in &rooms {
        for file in files(&src().join(name)) {
            let code = code(&file);
            for used in crates.iter().filter(|c| !room.crates.contains(*c)) {
                if code.contains(&format!("{used}::")) && !code.contains(&format!("crate::{used}"))
                {
                    wrong.push(format!("{} uses {used}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn unsafe_code_stays_in_two_rooms() {
    let safe = |name: &str| !["poly", "runtime"].contains(&name);
    for (name, _) in rooms().iter().filter(|(name, _)| safe(name)) {
        for file in files(&src().join(name)) {
            assert!(!code(&file).contains("unsafe "), "{}", file.display());
        }
    }
}

#[test]
fn the_core_does_no_input_or_output() {
    for name in [
        "ir",
        "poly",
        "interp",
        "analysis",
        "lower",
        "transform",
        "codegen",
        "diag",
        "report",
    ] {
        for file in files(&src().join(name)) {
            let code = code(&file);
            for forbidden in [
                "std::fs",
                "std::process",
                "std::net",
                "println!",
                "eprintln!",
            ] {
                assert!(
                    !code.contains(forbidden),
                    "{} uses {forbidden}",
                    file.display()
                );
            }
        }
    }
}
