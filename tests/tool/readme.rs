//! README.md keeps its promises: its scripts and commands run, and print what it shows.
//!
//! In tables of times, numbers are masked; everything else has to be equal. Slow kernels are
//! measured at tiny sizes, which changes nothing but numbers.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A block of code, and the text between it and the one before.
struct Block {
    language: String,
    before: String,
    code: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

fn blocks(text: &str) -> Vec<Block> {
    let parts: Vec<&str> = text.split("```").collect();
    assert_eq!(parts.len() % 2, 1, "a block has no end");
    let pairs = parts.chunks_exact(2);
    pairs
        .map(|pair| {
            let (language, code) = pair[1].split_once('\n').unwrap();
            Block {
                language: language.to_owned(),
                before: pair[0].to_owned(),
                code: code.to_owned(),
            }
        })
        .collect()
}

/// The code in sentences.
fn spans(text: &str) -> Vec<String> {
    let outside = text.split("```").step_by(2).collect::<Vec<_>>().join("\n");
    let spans = outside.split('`').skip(1).step_by(2);
    spans.map(str::to_owned).collect()
}

/// Runs `teml` in a directory, with a cache of its own.
fn teml(arguments: &[&str], directory: &Path, cache: &Path) -> Output {
    let mut teml = Command::new(env!("CARGO_BIN_EXE_teml"));
    let teml = teml.args(arguments).current_dir(directory);
    teml.env("TEML_CACHE_DIR", cache).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn succeeds(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Output without the parts that differ between runs: the numbers and units in tables of times, and
/// in the line below with the number of runs and threads.
fn masked(output: &str) -> String {
    let varies = |line: &str| line.starts_with('|') || line.starts_with("timed: ");
    let mask = |word: &str| match word {
        "ms" | "µs" | "ns" => "s".to_owned(),
        "threads" => "thread".to_owned(),
        _ if word.contains(|c: char| c.is_ascii_digit()) => "#".to_owned(),
        // The width of a column follows from its numbers.
        _ if word.starts_with("|-") => word.replace('-', ""),
        _ => word.to_owned(),
    };
    let line = |line: &str| {
        if varies(line) {
            let words: Vec<String> = line.split_whitespace().map(mask).collect();
            words.join(" ").replace("# to #", "#")
        } else {
            line.to_owned()
        }
    };
    // Interference during a test is not the test's fault.
    let lines = output
        .lines()
        .filter(|line| !line.starts_with("disturbed: "));
    lines.map(line).collect::<Vec<_>>().join("\n")
}

/// Writes the scripts that a page asks its readers to save.
fn save_scripts(page: &[Block], directory: &Path) {
    let scripts: Vec<&Block> = page.iter().filter(|b| b.language == "rhai").collect();
    assert!(!scripts.is_empty());
    for script in scripts {
        let names = spans(&script.before);
        let name = names.iter().rfind(|name| name.ends_with(".rhai")).unwrap();
        fs::write(directory.join(name), &script.code).unwrap();
    }
}

#[test]
fn it_fits_on_two_screens() {
    let lines = page("README.md").lines().count();
    assert!(lines <= 170, "{lines} lines");
}

#[test]
fn the_two_commands_work() {
    let cache = tempfile::tempdir().unwrap();
    let blocks = blocks(&page("README.md"));
    let commands = blocks.iter().find(|b| b.language == "sh").unwrap();
    let commands: Vec<&str> = commands.code.lines().collect();
    let [first, second] = commands.as_slice() else {
        panic!("{commands:?}")
    };
    let arguments = first.strip_prefix("cargo run --release -- ").unwrap();
    let arguments: Vec<&str> = arguments.split(' ').chain(["--size", "mini"]).collect();
    let shown = succeeds(&teml(&arguments, root(), cache.path()));
    for variant in ["naive", "transposed", "plan"] {
        assert!(shown.contains(&format!("\n| {variant} ")), "{shown}");
    }
    // A test cannot run all tests, but it can check the commands that do.
    let changes = fs::read_to_string(root().join(".ci/run")).unwrap();
    assert!(changes.lines().any(|line| line.contains(second)));
}

#[test]
fn what_is_shown_is_what_is_printed() {
    let directory = tempfile::tempdir().unwrap();
    let cache = tempfile::tempdir().unwrap();
    let readme = page("README.md");
    let blocks = blocks(&readme);
    save_scripts(&blocks, directory.path());
    let consoles: Vec<&Block> = blocks.iter().filter(|b| b.language == "console").collect();
    assert_eq!(consoles.len(), 2);
    for console in consoles {
        let (command, expected) = console.code.split_once('\n').unwrap();
        let arguments = command.strip_prefix("$ teml ").unwrap();
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let output = teml(&arguments, directory.path(), cache.path());
        let shown = text(&output.stdout) + text(&output.stderr).as_str();
        assert_eq!(masked(&shown), masked(expected), "{command}");
        assert_eq!(
            output.status.success(),
            !shown.contains("error:"),
            "{command}"
        );
    }
    // The C is a part of what is emitted.
    let emit = spans(&readme)
        .into_iter()
        .find(|s| s.starts_with("teml emit"));
    let emit = emit.unwrap();
    let arguments: Vec<&str> = emit.split(' ').skip(1).collect();
    succeeds(&teml(&arguments, directory.path(), cache.path()));
    let emitted = fs::read_to_string(directory.path().join(arguments.last().unwrap())).unwrap();
    let shown = blocks.iter().find(|b| b.language == "c").unwrap();
    assert!(emitted.contains(&shown.code), "{emitted}");
}

#[test]
fn the_table_of_speed_has_what_the_bench_measures() {
    let directory = tempfile::tempdir().unwrap();
    let readme = page("README.md");
    let command = spans(&readme)
        .into_iter()
        .find(|s| s.starts_with("teml bench"));
    let command = command.unwrap();
    let rows: Vec<Vec<&str>> = readme
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip_while(|line| !line.starts_with("| kernel |"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let kernels: Vec<String> = rows[1..].iter().map(|row| row[1].to_owned()).collect();
    let measured = teml::bench::scripts();
    let measured: Vec<String> = measured.into_iter().map(|script| script.name).collect();
    assert_eq!(kernels, measured);

    let tiny = ["--size", "mini", "--kernel", "mm"];
    let arguments: Vec<&str> = command.split(' ').skip(1).chain(tiny).collect();
    let shown = succeeds(&teml(&arguments, directory.path(), directory.path()));
    for column in &rows[0][2..rows[0].len() - 1] {
        let is_row = shown.contains(&format!("\n| {column} "));
        // The width of a column depends on the measured numbers.
        let heads = shown.lines().filter(|line| line.starts_with("| variant "));
        let mut heads = heads.flat_map(|line| line.split('|'));
        let is_head = heads.any(|head| head.trim() == *column);
        // A library that is not installed here.
        let is_absent = shown.contains(&format!("\n{column}: absent: "));
        // The bench searches for it at real sizes only.
        let is_search = *column == "pluto_best";
        assert!(
            is_row || is_head || is_absent || is_search,
            "{column}: {shown}"
        );
    }
}

#[test]
fn what_it_refers_to_exists() {
    let directory = tempfile::tempdir().unwrap();
    let readme = page("README.md");
    let (_, list) = readme.split_once("## Where to read on").unwrap();
    let paths = spans(list);
    let paths: Vec<&String> = paths.iter().filter(|span| span.contains('/')).collect();
    assert!(paths.len() >= 5, "{paths:?}");
    for path in paths {
        assert!(root().join(path).exists(), "{path}");
    }
    let help = succeeds(&teml(&["--help"], directory.path(), directory.path()));
    for command in ["run", "check", "emit", "bench", "machine", "repl"] {
        assert!(list.contains(&format!("`{command}`")), "{command}");
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
    }
    let run = succeeds(&teml(
        &["run", "--help"],
        directory.path(),
        directory.path(),
    ));
    assert!(readme.contains("--allow-write DIR") && run.contains("--allow-write <PATH>"));
    let header = fs::read_to_string(root().join("src/codegen/vectors.h")).unwrap();
    assert!(readme.contains("-DTEML_ALIGNED_TENSORS"));
    assert!(header.contains("defined(TEML_ALIGNED_TENSORS)"));
}

#[test]
fn options_of_the_bench_are_those_it_has() {
    let directory = tempfile::tempdir().unwrap();
    let help = ["bench", "--help"];
    let help = succeeds(&teml(&help, directory.path(), directory.path()));
    let known: Vec<&str> = help.split_whitespace().collect();
    let page = page("benches/README.md");
    let commands = blocks(&page).into_iter().find(|b| b.language == "sh");
    let commands = commands.unwrap().code;
    let options = commands.split_whitespace().filter(|w| w.starts_with("--"));
    let options: Vec<&str> = options.collect();
    assert!(options.len() > 5, "{options:?}");
    for option in options {
        assert!(known.contains(&option), "{option}");
    }
}

#[test]
fn readers_know_what_the_baselines_are() {
    let mut repl = Command::new(env!("CARGO_BIN_EXE_teml"))
        .arg("repl")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = repl.stdin.take().unwrap();
    input.write_all(b":help pluto\n").unwrap();
    drop(input);
    let help = succeeds(&repl.wait_with_output().unwrap());
    for text in [help, page("README.md"), page("benches/README.md")] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for reason in [
            "pluto_c",
            "plain loops with the pragmas that pluto emits",
            "pluto's own c",
            "parts without guards",
            "proved",
            "atax",
            "gconv",
        ] {
            assert!(text.to_lowercase().contains(reason), "{reason}: {text}");
        }
    }
}

#[test]
fn masks_hide_numbers_and_nothing_else() {
    let row = "| naive |  2.122 s | 0.7 % |   1.00x |       0 |";
    let other = "| naive | 818.5 ms | 12.9 % | 2.52x | 1.6e-15 |";
    assert_eq!(masked(row), masked(other));
    assert_ne!(masked(row), masked(&row.replace("naive", "plan")));
    assert_ne!(masked(row), masked(&row.replace(" 2.122 s |", "")));
    assert_ne!(masked("for i in 0..4"), masked("for i in 0..5"));
    let runs = "timed: 5 to 14 interleaved runs each, 2 threads in parallel loops";
    let fewer = "timed: 2 interleaved runs each, 1 thread in parallel loops";
    assert_eq!(masked(runs), masked(fewer));
}
