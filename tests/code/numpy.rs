//! Small programs as NumPy users write them, and what NumPy computes: `numpy/programs.py` wrote
//! `numpy/expected.txt`.

use crate::data::run;
use crate::folder::scripts;
use rayon::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/code/numpy")
}

/// An input that a script declares.
struct Input<'s> {
    name: &'s str,
    extents: Vec<usize>,
    is_integer: bool,
    /// How many values the entries have that index others.
    values: Option<usize>,
    is_increasing: bool,
}

fn inputs(script: &str) -> Vec<Input<'_>> {
    let declaration = |line| -> Option<Input> {
        let (name, declared) = str::strip_prefix(line, "let ")?.split_once(" = ")?;
        let (what, rest) = declared.split_once("([")?;
        let (extents, rest) = rest.split_once(']')?;
        let extents = extents.split(", ").map(|extent| extent.parse().unwrap());
        let values = rest.split([',', ')']).nth(1).map(str::trim);
        (["tensor", "indices"].contains(&what)).then(|| Input {
            name,
            extents: extents.collect(),
            is_integer: line.contains("\"i64\""),
            values: (what == "indices").then(|| values.unwrap().parse().unwrap()),
            is_increasing: line.contains("\"increasing\""),
        })
    };
    let statements = script.split(';').map(str::trim);
    statements.filter_map(declaration).collect()
}

/// The script with the contents of its inputs, and a digest of the elements of `Y`.
fn with_digest(script: &str, output: &str) -> String {
    let mut text = script.to_owned();
    for (k, input) in inputs(script).into_iter().enumerate() {
        let (name, extents) = (input.name, &input.extents);
        let names = &["a", "b", "c"][..extents.len()];
        let place = names.iter().zip(extents);
        let place = place.fold("0".to_owned(), |flat, (name, extent)| {
            format!("({flat}) * {extent} + {name}")
        });
        let step = format!("7 * ({place}) + 13 * {k}");
        let value = match (input.values, input.is_integer) {
            (Some(n), _) if input.is_increasing => {
                format!("({place}) * {} / {}", n - 1, extents[0] - 1)
            }
            (Some(n), _) => format!("({step}) % {n}"),
            (None, true) => format!("({step}) % 101 - 50"),
            (None, false) => format!("({step}) % 101 / 101.0 - 0.5"),
        };
        text.push_str(&format!("init({name}, |{}| {value});\n", names.join(", ")));
    }
    text.push_str(&format!(
        "let k = 0; let all = 0.0; let weighted = 0.0; let least = 1e300; let most = -1e300;\n\
         for x in run({output}).Y {{\n\
         let x = x + 0.0; all += x; weighted += x * (k * 7 % 11 - 5); k += 1;\n\
         least = min(least, x); most = max(most, x);\n\
         }}\n\
         print(`${{k}} ${{all}} ${{weighted}} ${{least}} ${{most}}`);\n"
    ));
    text
}

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect()
}

fn check(name: &str, expected: &[f64]) {
    let script = fs::read_to_string(directory().join(format!("{name}.rhai"))).unwrap();
    for output in ["Y", "schedules::optimize(Y)"] {
        let place = tempfile::tempdir().unwrap();
        let printed = run(place.path(), &with_digest(&script, output));
        let printed = printed.unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = numbers(printed.lines().last().unwrap());
        assert_eq!(found.len(), expected.len(), "{name}: {printed}");
        for (found, expected) in found.iter().zip(expected) {
            let allowed = 1e-9 * expected.abs().max(1.0);
            let error = (found - expected).abs();
            assert!(error <= allowed, "{name}: {found}, not {expected}");
        }
    }
}

#[test]
fn small_programs_compute_what_numpy_computes() {
    let expected = fs::read_to_string(directory().join("expected.txt")).unwrap();
    let expected: Vec<(&str, Vec<f64>)> = expected
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(name, rest)| (name, numbers(rest)))
        .collect();
    assert!(expected.len() >= 40);
    assert_eq!(scripts(directory()).len(), expected.len());
    expected
        .par_iter()
        .for_each(|(name, numbers)| check(name, numbers));
}

#[test]
fn scripts_are_hardly_longer_than_those_of_numpy() {
    let python = fs::read_to_string(directory().join("programs.py")).unwrap();
    let functions = python.split("\n\n\ndef ").skip(1);
    let mut known = 0;
    for function in functions {
        let name = function.split('(').next().unwrap();
        let Ok(script) = fs::read_to_string(directory().join(format!("{name}.rhai"))) else {
            continue;
        };
        known += 1;
        let body = function.split("\n\n").next().unwrap();
        let (own, python) = (script.lines().count(), body.lines().count());
        assert!(
            own <= python + 2,
            "{name}: {own} lines, and {python} in Python"
        );
    }
    assert!(known >= 40);
}
