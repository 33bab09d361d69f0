//! Searches the texts for users, and all comments, for wordings that read as if translated, and
//! proposes a better one for each. Comments also have short sentences.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use teml::repl::{Outcome, Repl};
use teml::script::Session;
use teml::transform::OPERATORS;
use teml::verbs::Workbench;

/// Words that reveal such a wording.
struct Wording {
    found: &'static [&'static str],
    /// Contexts in which the same words are fine.
    but_not: &'static [&'static str],
    better: &'static str,
}

const fn wording(found: &'static [&'static str], better: &'static str) -> Wording {
    Wording {
        found,
        but_not: &[],
        better,
    }
}

const WORDINGS: &[Wording] = &[
    Wording {
        found: &["is no", "are no", "was no", "were no"],
        but_not: &[
            "there is no",
            "There is no",
            "there are no",
            "There are no",
            "is there no",
            "is no longer",
            "are no longer",
        ],
        better: "`x` is not a y",
    },
    wording(
        &["is none of", "are none of", "and 0 is none"],
        "B has no dimension 0: its dimensions are 1 and 2",
    ),
    wording(&["any more"], "is no longer"),
    wording(
        &["stand", "stands", "stood", "standing"],
        "appears in, is listed below, marks a band, comes before, can be used",
    ),
    wording(
        &["and nothing more"],
        "fresh from `build` (no transformations applied)",
    ),
    wording(
        &["What", "Whatever"],
        "a noun as the subject: partial tiles get their own loops; epilogues run inside the tiles",
    ),
    wording(
        &["what is left", "what others", "what they have"],
        "the remainder, other compilers and libraries",
    ),
    wording(&["Else"], "Otherwise"),
    wording(
        &[", too.", ", too,", ", too;", ", too:", ", too)"],
        "also, before the verb",
    ),
    wording(
        &["as ever", "meanwhile"],
        "nothing, or: whose value is dead",
    ),
    wording(&["dialog"], "REPL"),
    wording(&["takes no time", "take no time"], "a tiny size for tests"),
    wording(
        &["can be parallel", "cannot be parallel"],
        "can run in parallel, cannot be parallelized",
    ),
    wording(
        &["can be vector", "cannot be vector"],
        "can be vectorized, cannot be vectorized",
    ),
    wording(
        &["does not count", "do not count"],
        "an untimed warm-up call",
    ),
    wording(&["not in common"], "where two paths differ"),
    Wording {
        found: &["of which"],
        but_not: &[
            "one of which",
            "some of which",
            "any of which",
            "neither of which",
        ],
        better: "two sentences, or: only two thirds of them",
    },
    wording(
        &["those that", "those which"],
        "the noun: the loops that, the elements that",
    ),
    wording(&["the one, then"], "applies `first`, then `second`"),
    wording(
        &["divides nothing", "divide nothing"],
        "any sizes, divisible or not",
    ),
    wording(&["its 1 dimensions"], "its 1 dimension"),
    wording(
        &["its kin", "their kin", "and its like"],
        "the names, in a table",
    ),
    wording(&["others use"], "on a shared machine"),
    wording(
        &["has the rate", "have the rate"],
        "uses the rate measured between the variants",
    ),
    wording(
        &["Which default holds", "The longest that"],
        "a verb: which default unset parameters take; kill a run after this many seconds",
    ),
    wording(
        &[
            "takes no sum",
            "fills no",
            "limits is",
            "holds is",
            "touches is",
        ],
        "the noun: partial tiles, memory-bound kernels, footprints",
    ),
    wording(&["no business of"], "internal"),
    wording(
        &["for which the paper asks", "as the paper does"],
        "the section of the paper",
    ),
    wording(
        &["asks of", "asked of"],
        "requires, needs, or the noun: dependences",
    ),
    wording(&["for whoever"], "for schedulers, for callers"),
    wording(
        &["and so are they", "and so is it"],
        "also, before the verb",
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A text without blocks of code, and with one word in place of code in sentences.
fn without_code(text: &str) -> String {
    let outside = text.split("```").step_by(2).collect::<Vec<_>>().join(" ");
    let sentences: Vec<&str> = outside.split('`').step_by(2).collect();
    sentences.join("`x`")
}

/// The prose of a text on one line, without code.
fn prose(text: &str) -> String {
    let words = without_code(text);
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Positions of the words `found`, as whole words.
fn places(text: &str, found: &str) -> Vec<usize> {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let apart = |at: &usize| {
        let before = text[..*at].chars().last();
        let after = text[at + found.len()..].chars().next();
        let goes_on = found.starts_with(char::is_alphabetic) && is_part(before)
            || found.ends_with(char::is_alphabetic) && is_part(after);
        !goes_on
    };
    let all = text.match_indices(found).map(|(at, _)| at);
    all.filter(apart).collect()
}

/// The wordings in a text, each with the words around it.
fn wordings(text: &str) -> Vec<String> {
    let text = prose(text);
    let mut all = Vec::new();
    for wording in WORDINGS {
        for found in wording.found {
            for at in places(&text, found) {
                let fine = wording.but_not.iter().any(|fine| {
                    let mut starts = text.match_indices(fine).map(|(start, _)| start);
                    starts.any(|start| start <= at && at < start + fine.len())
                });
                if !fine {
                    let words: Vec<&str> = text[..at].split(' ').rev().take(6).collect();
                    let before: Vec<&str> = words.into_iter().rev().collect();
                    let after: Vec<&str> = text[at..].split(' ').take(8).collect();
                    let (before, after) = (before.join(" "), after.join(" "));
                    let better = wording.better;
                    all.push(format!("\"… {before}{after} …\": better {better}"));
                }
            }
        }
    }
    all
}

/// The most words that a sentence of a comment has.
const MOST_WORDS: usize = 25;

/// Whether a line begins a paragraph: a heading, an item of a list, a row of a table.
fn begins_paragraph(line: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let after = line.trim_start_matches(is_digit);
    let is_numbered = line.starts_with(is_digit) && after.starts_with(". ");
    line.is_empty() || line.starts_with(['#', '-', '*', '|']) || is_numbered
}

/// The sentences of a text that have too many words.
fn long_sentences(text: &str) -> Vec<String> {
    let text = without_code(text);
    let mut paragraphs = vec![Vec::new()];
    for line in text.lines().map(str::trim) {
        if begins_paragraph(line) {
            paragraphs.push(Vec::new());
        }
        paragraphs
            .last_mut()
            .unwrap()
            .extend(line.split_whitespace());
    }
    let ends = |word: &&str| word.ends_with(['.', ';', ':', '!', '?']);
    let sentences = paragraphs
        .iter()
        .flat_map(|words| words.split_inclusive(ends));
    let long = sentences.filter(|words| words.len() > MOST_WORDS);
    long.map(|words| format!("{} words, split it: \"{}\"", words.len(), words.join(" ")))
        .collect()
}

/// The comments of a text, each with the number of its first line. Lines that follow each other
/// are one comment.
fn comments_of(code: &str) -> Vec<(usize, String)> {
    let mut all: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (line, text) in (1..).zip(code.lines()) {
        let comment = text.trim_start().strip_prefix("//");
        if let Some(comment) = comment {
            let comment = comment.strip_prefix(['/', '!']).unwrap_or(comment);
            match all.last_mut() {
                Some((_, block)) if goes_on => {
                    block.push('\n');
                    block.push_str(comment);
                }
                _ => all.push((line, comment.to_owned())),
            }
        }
        goes_on = comment.is_some();
    }
    all
}

fn check(texts: impl IntoIterator<Item = (String, String)>) {
    let mut wrong = Vec::new();
    for (place, text) in texts {
        wrong.extend(wordings(&text).iter().map(|w| format!("{place}: {w}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn files(folder: &str, ending: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == ending) {
                let place = path.strip_prefix(root()).unwrap().to_string_lossy();
                found.push((place.into_owned(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

/// The strings in code without its tests and comments.
fn strings(code: &str) -> Vec<String> {
    let code = code.split("#[cfg(test)]").next().unwrap_or("");
    let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n").replace("'\"'", "");
    let code = code.replace("\\\"", "'").replace("\\n", " ");
    let strings = code.split('"').skip(1).step_by(2);
    strings.map(|s| s.replace("\\\n", " ")).collect()
}

#[test]
fn help_in_the_repl() {
    let session = Session::new(Box::new(std::io::sink()), Workbench::default()).unwrap();
    let mut repl = Repl::new(session);
    let functions = repl.session().functions().into_iter();
    let mut names: Vec<String> = functions.map(|(name, _)| name).collect();
    names.extend(OPERATORS.iter().map(|op| op.name.to_owned()));
    names.extend(["import".to_owned(), String::new()]);
    names.sort();
    names.dedup();
    assert!(names.len() > 150, "only {names:?}");
    check(names.into_iter().map(|name| {
        let line = format!(":help {name}");
        match repl.handle_line(&line) {
            Outcome::Text(text) => (line, text),
            other => panic!("{line}: {other:?}"),
        }
    }));
}

#[test]
fn help_on_the_command_line() {
    let commands = [
        "",
        "run",
        "emit",
        "check",
        "build",
        "bench",
        "repl",
        "machine",
        "doc",
        "definitions",
        "completions",
        "man",
    ];
    check(commands.map(|command| {
        let mut teml = Command::new(env!("CARGO_BIN_EXE_teml"));
        let words = command.split_whitespace().chain(["--help"]);
        let output = teml.args(words).output().unwrap();
        assert!(output.status.success(), "{command}");
        let text = String::from_utf8(output.stdout).unwrap();
        (format!("teml {command} --help"), text)
    }));
}

#[test]
fn pages_and_messages() {
    let page = |name: &str| {
        let text = fs::read_to_string(root().join(name)).unwrap();
        (name.to_owned(), text)
    };
    let folders = ["", "benches/", "scripts/", "src/", "src/python/", "stdlib/"];
    check(folders.map(|folder| page(&format!("{folder}README.md"))));
    check(files("src/script/concepts", "md"));
    check(files("tests/tool/gallery/messages", "snap"));
    let in_code = |(place, code): (String, String)| {
        let strings = strings(&code).into_iter();
        strings
            .map(|text| (place.clone(), text))
            .collect::<Vec<_>>()
    };
    check(files("src", "rs").into_iter().flat_map(in_code));
    // Rhai has a second mark around strings.
    let library = files("stdlib", "rhai").into_iter();
    let library = library.map(|(place, code)| (place, code.replace('`', "\"")));
    check(library.flat_map(in_code));
}

#[test]
fn comments() {
    let folders = [
        ("src", "rs"),
        ("tests", "rs"),
        ("benches", "rs"),
        ("stdlib", "rhai"),
        ("scripts", "rhai"),
    ];
    let mut wrong = Vec::new();
    let texts = folders.map(|(folder, ending)| files(folder, ending));
    for (place, code) in texts.into_iter().flatten() {
        for (line, comment) in comments_of(&code) {
            let found = wordings(&comment)
                .into_iter()
                .chain(long_sentences(&comment));
            wrong.extend(found.map(|found| format!("{place}:{line}: {found}")));
        }
    }
    wrong.sort();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn long_sentences_are_found_and_others_are_not() {
    let words = |count: usize| vec!["word"; count].join(" ");
    let (half, most) = (words(13), words(MOST_WORDS));
    for wrong in [
        words(MOST_WORDS + 1),
        format!("Short. {half}\n{half}. Short."),
        format!("- {most}"),
        format!("1. {half}, 0.5 and\n0.25 {half}"),
        format!("{half} `a b. c` {half}."),
    ] {
        assert_eq!(long_sentences(&wrong).len(), 1, "{wrong}");
    }
    for right in [
        most.clone(),
        format!("{half}: {half}; {half}\n? {half}! {half}."),
        format!("{half}\n- {half}\n* {half}\n| {half}\n12. {half}\n# {half}\n\n{half}"),
        format!("{half} `{half}\n{half}` {}", words(11)),
        format!("{half}\n```text\n{half}\n```\n{}", words(12)),
    ] {
        assert!(long_sentences(&right).is_empty(), "{right}");
    }
}

#[test]
fn comments_are_blocks_of_lines() {
    let code = "//! One,\n//! two.\n\n/// Three.\nlet x = 4; // five\n    // Six,\n    //seven";
    let expected = [(1, " One,\n two."), (4, " Three."), (6, " Six,\nseven")];
    let found = comments_of(code);
    let found: Vec<(usize, &str)> = found.iter().map(|(n, text)| (*n, text.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn wordings_are_found_and_others_are_not() {
    for wrong in [
        "a nest is no iterator",
        "Done. Else it is\nstored.",
        "It is stored, too.",
        "the iterators,\nof which one is summed",
    ] {
        assert_eq!(wordings(wrong).len(), 1, "{wrong}");
    }
    for right in [
        "there is no level 9, and it is no longer an argument",
        "standard, understand, elsewhere",
        "`is no` and ```text\nstands\n```",
    ] {
        assert!(wordings(right).is_empty(), "{right}");
    }
}
