//! The page that lists the library, `stdlib/README.md`, is made from the comments in it:
//! `TEML_BLESS=1 cargo test --test library` writes it anew.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const OPENING: &str = "\
# The library

Functions composed in Rhai from the operations of the core language, available in every script,
as functions and as methods. `teml repl` shows what `:help NAME` knows: shapes, the equation of
the TeML paper that a function implements, and an example.

This page is made from the comments in the files: `TEML_BLESS=1 cargo test --test library`.
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

fn page() -> String {
    let mut files: Vec<PathBuf> = fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "rhai"))
        .collect();
    files.sort();
    let mut page = OPENING.to_owned();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let title = text.lines().next().and_then(|l| l.strip_prefix("//! "));
        let title = title.unwrap_or_else(|| panic!("{name} does not say what it is about"));
        writeln!(page, "\n## {}\n", title.trim_end_matches('.')).unwrap();
        for (function, sentence) in entries(&text) {
            let starts = format!("`{function}(");
            assert!(sentence.starts_with(&starts), "{name}: {sentence}");
            writeln!(page, "- {sentence}").unwrap();
        }
    }
    page
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

#[test]
fn every_function_has_a_comment_or_is_internal() {
    for entry in fs::read_dir(directory()).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let described: Vec<String> = entries(&text).into_iter().map(|(name, _)| name).collect();
        for line in text.lines().filter_map(|l| l.strip_prefix("fn ")) {
            let name = line.split('(').next().unwrap();
            let is_internal = name.starts_with("std_");
            assert_ne!(described.iter().any(|d| d == name), is_internal, "{name}");
        }
    }
}
