//! The page that lists the library, `stdlib/README.md`, is made from the comments in it:
//! `TEML_BLESS=1 cargo test --test tool library` writes it anew.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const OPENING: &str = "\
# The library

Functions written in Rhai on top of the core operations. Every script can call them as functions
and, if their name has no `::`, as methods. In `teml repl`, `:help NAME` shows shapes, the equation
of the TeML paper that a function implements, and an example.

Schedules use public operations only, with sizes from `machine()`. `schedules::optimize` chooses one
by what a nest computes. `print(path(plan, #{unfold: true}))` shows the steps that a schedule took, as
a script that you can change.

This page is made from the comments in the files: `TEML_BLESS=1 cargo test --test tool library`.
";

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("stdlib")
}

/// The first paragraph of each comment, with the name of the function below it.
fn entries(text: &str) -> Vec<(String, String)> {
    let mut entries = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("///") {
            comment.push(rest.trim());
        } else if let Some(rest) = line.strip_prefix("fn ") {
            let name = rest.split('(').next().unwrap();
            let first: Vec<&str> = comment
                .drain(..)
                .take_while(|line| !line.is_empty())
                .collect();
            if !first.is_empty() {
                entries.push((name.to_owned(), first.join(" ")));
            }
        }
    }
    entries
}

/// The files of the library, each with the folder that it is in: the functions in there are called
/// with its name and `::` before theirs.
fn files() -> Vec<(String, PathBuf)> {
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    let mut folders = vec![(String::new(), directory())];
    while let Some((namespace, folder)) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push((format!("{stem}::"), path));
            } else if path.extension().is_some_and(|e| e == "rhai") {
                found.push((namespace.clone(), path));
            }
        }
    }
    found.sort();
    found
}

fn page() -> String {
    let mut page = OPENING.to_owned();
    for (namespace, file) in files() {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let title = text.lines().next().and_then(|l| l.strip_prefix("//! "));
        let title = title.unwrap_or_else(|| panic!("{name} does not say what it is about"));
        let entries = entries(&text);
        if entries.is_empty() {
            continue;
        }
        writeln!(page, "\n## {}\n", title.trim_end_matches('.')).unwrap();
        for (function, sentence) in entries {
            let starts = format!("`{namespace}{function}(");
            assert!(sentence.starts_with(&starts), "{name}: {sentence}");
            writeln!(page, "- {sentence}").unwrap();
        }
    }
    writeln!(page, "{CLOSING}\n```rhai\n{}```", worked_example()).unwrap();
    page
}

const CLOSING: &str = "
## A schedule of your own

Every step says what it made: `made(nest)` has the new loops and buffers, as handles. They are
accepted wherever names are, and follow their loops through later steps. This is
[`scripts/mm_with_handles.rhai`](../scripts/mm_with_handles.rhai), a matrix product in the loops that
Van Zee and van de Geijn describe (BLIS, 2015):
";

fn worked_example() -> String {
    fs::read_to_string(directory().join("../scripts/mm_with_handles.rhai")).unwrap()
}

/// `tests/tool/scripts.rs` runs it.
#[test]
fn a_schedule_of_ones_own_is_short() {
    let script = worked_example();
    assert!(script.lines().count() <= 60);
    assert!(script.contains(".made()"));
}

#[test]
fn the_page_lists_every_function() {
    let file = directory().join("README.md");
    let expected = page();
    if std::env::var_os("TEML_BLESS").is_some() {
        fs::write(&file, &expected).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(found, expected, "TEML_BLESS=1 writes it anew");
}

/// Steps have handles, accesses and bounds have values, and refusals are expected by name. So
/// schedules glue no names together, compare no lists of loops, parse no texts, and swallow no
/// errors.
#[test]
fn the_library_has_no_string_surgery() {
    let anywhere = [
        "_o\"",
        "_i\"",
        "_o`",
        "_i`",
        "catch",
        "before.contains",
        "known.contains",
        "before = find_loops",
    ];
    let in_schedules = [
        "\"_",
        "}_",
        "sub_string",
        "parse_int",
        "\"*",
        "split(\"",
        "replace(",
        "starts_with(",
        "ends_with(",
    ];
    for (namespace, file) in files() {
        let text = fs::read_to_string(&file).unwrap();
        for line in text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
        {
            let is_schedule = namespace == "schedules::";
            let more = in_schedules.iter().filter(|_| is_schedule);
            // Failing schedules are handled in one place.
            let is_allowed = |part: &&&str| **part != "catch" || !file.ends_with("surely.rhai");
            for part in anywhere.iter().chain(more).filter(is_allowed) {
                assert!(
                    !line.contains(part),
                    "{} has {part} in: {line}",
                    file.display()
                );
            }
        }
    }
}

/// If two functions share a name and a number of parameters, calls from other files may get either.
#[test]
fn functions_have_names_of_their_own() {
    let mut known: HashMap<(String, String, usize), PathBuf> = HashMap::new();
    for (namespace, file) in files() {
        let text = fs::read_to_string(&file).unwrap();
        for line in text.lines().filter_map(|l| l.strip_prefix("fn ")) {
            let (name, parameters) = line.split_once('(').unwrap();
            let parameters = parameters.split(')').next().unwrap();
            let count = parameters.split(',').filter(|p| !p.is_empty()).count();
            let key = (namespace.clone(), name.to_owned(), count);
            if let Some(other) = known.insert(key, file.clone()) {
                panic!("{name} is in {} and in {}", other.display(), file.display());
            }
        }
    }
}

/// The names before each opening parenthesis: of definitions after `fn `, and of calls.
fn names(text: &str) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let (mut defined, mut called) = (BTreeSet::new(), BTreeSet::new());
    for line in text.lines() {
        let code = line.split("//").next().unwrap();
        for (end, _) in code.match_indices('(') {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let before = code[..end].trim_end_matches(is_part);
            let name = &code[before.len()..end];
            if before.ends_with("fn ") {
                defined.insert(name);
            } else {
                called.insert(name);
            }
        }
    }
    (defined, called)
}

/// A file is read without the files that build on it. A name that several files define counts as a
/// call of each of them.
#[test]
fn no_two_files_need_each_other() {
    let texts: Vec<(PathBuf, String)> = files()
        .into_iter()
        .map(|(_, file)| (file.clone(), fs::read_to_string(file).unwrap()))
        .collect();
    let known: Vec<_> = texts
        .iter()
        .map(|(file, text)| (file, names(text)))
        .collect();
    let mut needed: BTreeMap<&PathBuf, BTreeMap<&PathBuf, Vec<&str>>> = BTreeMap::new();
    for (file, (own, called)) in &known {
        let others = known.iter().filter(|(other, _)| other != file);
        let calls = others.filter_map(|(other, (defined, _))| {
            let calls = called
                .difference(own)
                .filter(|name| defined.contains(*name));
            let calls: Vec<&str> = calls.copied().collect();
            (!calls.is_empty()).then_some((*other, calls))
        });
        needed.insert(file, calls.collect());
    }
    // A file that needs no other file, or that none needs, is in no circle.
    loop {
        let count = needed.len();
        let left: BTreeSet<&PathBuf> = needed.keys().copied().collect();
        for calls in needed.values_mut() {
            calls.retain(|other, _| left.contains(other));
        }
        needed.retain(|_, calls| !calls.is_empty());
        let used: BTreeSet<&PathBuf> = needed.values().flat_map(|c| c.keys()).copied().collect();
        needed.retain(|file, _| used.contains(file));
        if needed.len() == count {
            break;
        }
    }
    assert!(needed.is_empty(), "circles of files: {needed:#?}");
}

#[test]
fn files_are_short() {
    for (_, file) in files() {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= 250, "{} has {lines} lines", file.display());
    }
}

#[test]
fn every_function_has_a_comment_or_is_internal() {
    for (_, file) in files() {
        let text = fs::read_to_string(file).unwrap();
        let described: Vec<String> = entries(&text).into_iter().map(|(name, _)| name).collect();
        for line in text.lines().filter_map(|l| l.strip_prefix("fn ")) {
            let name = line.split('(').next().unwrap();
            let is_internal = name.starts_with("std_");
            assert_ne!(described.iter().any(|d| d == name), is_internal, "{name}");
        }
    }
}
