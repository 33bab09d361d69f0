//! The support code of kernels: each name does what `support.c` says of it, element by element, on all
//! targets that this machine supports.
//!
//! Functions of vectors are tested by `functions.rs`, and those of devices by `device`.

use super::functions::targets;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::process::Command;

/// The headers without functions of vectors, in the order in which C includes them.
const HEADERS: &[&str] = &[
    include_str!("../../src/codegen/base.h"),
    include_str!("../../src/codegen/locals.h"),
    include_str!("../../src/codegen/loops.h"),
    include_str!("../../src/codegen/support.h"),
    include_str!("../../src/codegen/numbers.h"),
    include_str!("../../src/codegen/powers.h"),
    include_str!("../../src/codegen/vectors.h"),
    include_str!("../../src/codegen/registers.h"),
    include_str!("../../src/codegen/parts.h"),
    include_str!("../../src/codegen/apart.h"),
    include_str!("../../src/codegen/casts.h"),
];

const CHECKS: &str = include_str!("support.c");

/// Names that only help to define others.
const PARTS_OF_OTHERS: &[&str] = &[
    "TEML_ANY",
    "TEML_AUTO",
    "TEML_EACH_LANE",
    "TEML_FIRST_ROW",
    "TEML_HELD",
    "TEML_LET",
    "TEML_MASK_F32",
    "TEML_MASK_F64",
    "TEML_NO_IVOPTS",
    "TEML_PART_AS",
    "TEML_PAST",
    "TEML_PRAGMA",
    "TEML_PUT_LANES",
    "TEML_RESTRICT",
    "TEML_SET_AS",
    "TEML_UNSET",
    "TEML_VECTOR",
    "TEML_WIDEST",
    "TEML_ZERO",
    "teml_16",
    "teml_32",
    "teml_64",
    "teml_any",
    "teml_lane",
    "teml_lane32",
    "teml_longs",
    "teml_mask_f32",
    "teml_mask_f64",
    "teml_stream",
];

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The names that a header defines: macros, functions, types and constants of this project.
fn defined(header: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for line in header.lines() {
        let macros = line.trim_start().strip_prefix("#define ");
        let name = macros.map(|rest| rest.split(|c| !is_of_name(c)).next().unwrap());
        names.extend(name.filter(|name| !name.contains("POISON") && !name.contains("MOVNT")));
        if !line.starts_with([' ', '#', '/']) {
            let words = line.split(|c| !is_of_name(c));
            names.extend(words.filter(|word| word.starts_with("teml_")));
        }
    }
    names
}

/// The checks, with the names that their macros paste.
fn pasted() -> String {
    let elems = ["f64", "f32", "i64", "i32"].map(|elem| {
        let upper = format!("{}XN", elem.to_uppercase());
        let text = CHECKS.replace("##ELEM##", &upper).replace("##elem##", elem);
        text.replace("elem##", elem)
    });
    let powers = (2..=8).map(|n| CHECKS.replace("##n", &n.to_string()));
    elems.into_iter().chain(powers).collect()
}

#[test]
fn every_name_of_the_support_code_has_a_check() {
    let checks = pasted();
    let checked: BTreeSet<&str> = checks.split(|c| !is_of_name(c)).collect();
    let names = HEADERS.iter().flat_map(|header| defined(header));
    let others = names.filter(|name| !PARTS_OF_OTHERS.contains(name));
    let missing: Vec<&str> = others.filter(|name| !checked.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn support_code_does_what_it_says() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("support.c");
    let system = "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n";
    std::fs::write(&file, format!("{system}{}{CHECKS}", HEADERS.join("\n"))).unwrap();
    let targets: Vec<Vec<&str>> = targets();
    let all = targets.iter().enumerate();
    let all = all.flat_map(|(k, flags)| ["-O0", "-O2"].map(|level| (k, flags, level)));
    let all: Vec<(usize, &Vec<&str>, &str)> = all.collect();
    all.par_iter().for_each(|(k, flags, level)| {
        let program = directory.path().join(format!("support{k}{level}"));
        let mut compiler = Command::new("cc");
        compiler
            .args(["-std=gnu11", "-Wno-psabi", level])
            .args(*flags);
        compiler.arg(&file).arg("-o").arg(&program).arg("-lm");
        let compiled = compiler.output().unwrap();
        let errors = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{flags:?}: {errors}");
        let run = Command::new(&program).output().unwrap();
        let found = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "{flags:?} {level}: {found}");
    });
}
