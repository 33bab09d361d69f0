//! A schedule depends on the computation of a nest, not on the names of its iterators.

use crate::computations;
use crate::config;
use crate::dialog;
#[allow(dead_code)]
use config::config;
use dialog::string;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use teml::ir::Nest;
use teml::script::Session;
use teml::trial::Collect;
use teml::verbs::{Size, Workbench};

/// Definitions with the iterators `$0`, `$1` … and the target `Z`.
const KERNELS: &[&str] = &[
    "let A = tensor([37, 29]); let B = tensor([29, 41]);
     let Z = eq(vsum(vmul(A, B, [[$0, $2], [$2, $1]]), [$2]), [$0, $1]);",
    "let A = tensor([29, 37]); let B = tensor([41, 29]);
     let Z = eq(vsum(vmul(A, B, [[$2, $0], [$1, $2]]), [$2]), [$0, $1]);",
    "let A = tensor([2000, 510]); let W = tensor([5, 2000]);
     let Z = eq(vsum(vmul(A, W, [[$0, $1 + 2*$2], [$2, $0]]), [$0, $2]), [$1]);",
    "let I = tensor([3, 4, 19, 23]); let W = tensor([8, 4, 3, 3]);
     let Z = eq(vsum(vmul(I, W, [[$0, $1, $3 + $5, $4 + $6], [$2, $1, $5, $6]]), [$1, $5, $6]),
         [$0, $2, $3, $4]);",
    "let A = tensor([9, 13, 29]); let B = tensor([9, 29, 17]);
     let Z = eq(vsum(vmul(A, B, [[$3, $0, $2], [$3, $2, $1]]), [$2]), [$3, $0, $1]);",
    "let A = tensor([60, 70]);
     let Z = eq(vadd(A, A, [[$0 - 1, $1], [$0 + 1, $1]]), [$0, $1], [60, 70], 0.0);",
    "let A = tensor([50, 60]); let B = tensor([60, 50]);
     let Z = eq(vadd(A, B, [[$0, $1], [$1, $0]]), [$0, $1]);",
    "let A = tensor([50, 60]); let x = tensor([60]);
     let Z = eq(vsum(vmul(A, x, [[$0, $1], [$1]]), [$1]), [$0]);",
    "let A = tensor([50, 60]); let x = tensor([50]);
     let Z = eq(vsum(vmul(A, x, [[$0, $1], [$0]]), [$0]), [$1]);",
    "let A = tensor([20, 21, 22]); let B = tensor([22, 19]); let C = tensor([21, 19]);
     let Z = eq(vsum(vmul(vmul(A, B, [[$0, $2, $3], [$3, $1]]), C, [(), [$2, $1]]), [$2, $3]), [$0, $1]);",
    "let A = tensor([7, 30]); let B = tensor([5, 7, 30]);
     let Z = eq(vsum(vmul(A, B, [[$3, $2], [$0, $3, $1]]), [$3]), [$0, $2, $1]);",
    "let A = tensor([60, 72]); let W = tensor([3, 3]);
     let Z = eq(vsum(vmul(A, W, [[$0 + $2, $1 + $3], [$2, $3]]), [$2, $3]), [$0, $1]);",
    "let A = tensor([96, 50]); let C = tensor([96, 96]);
     let Z = @C: eq(vadd(C, vsum(vmul(A, A, [[$0, $2], [$1, $2]]), [$2]), [[$0, $1], ()]), [$0, $1],
         #{$1: 0..$0 + 1});",
];

/// Some of the names are prefixes or suffixes of others.
const NAMES: &[&str] = &[
    "i", "j", "k", "kh", "kw", "jk", "h", "w", "n2", "n", "ik", "p",
];

/// The words of a text, and what is between them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest
            .find(|c| is_part(c) != is_part(first))
            .unwrap_or(rest.len());
        let (word, others) = rest.split_at(end);
        rest = others;
        Some(word)
    })
}

/// A text with renamed iterators; the loops that steps make of them are renamed as well.
fn with_names(text: &str, name: &dyn Fn(&str) -> Option<String>) -> String {
    let renamed = words(text).map(|word| {
        let (head, suffix) = word.split_at(word.find('_').unwrap_or(word.len()));
        name(head).map_or(word.to_owned(), |head| head + suffix)
    });
    renamed.collect()
}

/// The plan of a kernel whose iterators `$0`, `$1` … get these names.
fn plan(kernel: &str, names: &[&str]) -> String {
    let numbered = names.iter().enumerate();
    let script = numbered.fold(kernel.to_owned(), |script, (k, name)| {
        script.replace(&format!("${k}"), name)
    });
    let plan = string(&script, "schedules::optimize(build(Z)).to_string()");
    let number = |head: &str| Some(format!("${}", names.iter().position(|n| *n == head)?));
    sorted(&with_names(&plan, &number))
}

/// The terms of all indices and bounds in a canonical order, since they are printed by name.
fn sorted(plan: &str) -> String {
    let pieces = plan.split_inclusive(|c: char| "[](),.=:\n".contains(c));
    let pieces = pieces.map(|piece| {
        let (sum, end) = piece.split_at(piece.len() - 1);
        let sum = sum.replace(" - ", " + -");
        let mut terms: Vec<&str> = sum.split(" + ").map(str::trim).collect();
        terms.sort_unstable();
        terms.join(" + ") + end
    });
    pieces.collect()
}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn names_do_not_matter(names in Just(NAMES.to_vec()).prop_shuffle()) {
        for kernel in KERNELS {
            prop_assert_eq!(plan(kernel, NAMES), plan(kernel, &names), "{}", kernel);
        }
    }
}

/// Steps on `j` make a loop `j_o`: schedules rename a loop that has the name already.
#[test]
fn names_that_steps_derive_do_not_matter() {
    let plan = |terms: &str| {
        let script = KERNELS[0]
            .replace("$2", terms)
            .replace("$0", "i")
            .replace("$1", "j");
        let options = "#{threads: 1, l1: 64, mc: 16, nc: 32, kc: 16}";
        let gemm = string(
            &script,
            &format!("schedules::gemm(build(Z), {options}).to_string()"),
        );
        let any = string(&script, "schedules::optimize(build(Z)).to_string()");
        [gemm, any]
    };
    assert_eq!(plan("j_o"), plan("l1"));
    assert_eq!(plan("i_i"), plan("l1"));
}

/// Another name for each of some names.
type Names = BTreeMap<String, String>;

/// A script with other iterators: words, and letters of the texts that `einsum` takes.
fn renamed(script: &str, names: &Names) -> String {
    let name = |old: &str| names.get(old).cloned();
    let pieces = script.split('"').enumerate();
    let pieces = pieces.map(|(k, piece)| {
        if k % 2 == 1 && piece.contains("->") {
            let letters = piece.chars().map(|c| c.to_string());
            letters.map(|c| name(&c).unwrap_or(c)).collect()
        } else {
            with_names(piece, &name)
        }
    });
    pieces.collect::<Vec<_>>().join("\"")
}

/// Other names for the iterators of `nests`, some of them prefixes or suffixes of others; letters
/// for `einsum`. Names that the script uses otherwise are excluded.
fn other_names(script: &str, nests: &[Nest], seed: usize) -> Names {
    let untransformed = nests.iter().flat_map(Nest::untransformed);
    let loops = untransformed.flat_map(|nest| {
        let loops = nest.loops();
        loops
            .iter()
            .map(|(_, l)| l.name.to_string())
            .collect::<Vec<_>>()
    });
    let own: BTreeSet<String> = loops.collect();
    let used: BTreeSet<&str> = words(script).collect();
    let free = |name: &&str| own.contains(*name) || !used.contains(*name);
    let pool: Vec<&str> = if script.contains("einsum") {
        "zyxwvutsrqponmlkjihgfedcba".split("").collect()
    } else {
        NAMES.to_vec()
    };
    let mut pool: Vec<&str> = pool
        .into_iter()
        .filter(|n| !n.is_empty())
        .filter(free)
        .collect();
    let turned = seed % pool.len();
    pool.rotate_left(turned);
    // The iterators that `contract` names are not in the script.
    let numbered = |n: &String| n.len() > 1 && n[1..].chars().all(|c| c.is_ascii_digit());
    let own = own.into_iter().filter(|n| !numbered(n));
    let names: Names = own.zip(pool.iter().map(|n| (*n).to_owned())).collect();
    assert!(names.is_empty() || names.iter().any(|(old, new)| old != new));
    names
}

/// The nests that a script at mini sizes compares, with the text of each.
fn compared(script: &str) -> Vec<Nest> {
    let workbench = Workbench {
        runner: Arc::new(Collect),
        size: Size::Mini,
        ..Workbench::default()
    };
    let session = Session::new(Box::new(std::io::sink()), workbench);
    let mut session = session.unwrap_or_else(|e| panic!("{}", e.render(false)));
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("script.rhai");
    std::fs::write(&file, script).unwrap();
    if let Err(error) = session.run_file(&file) {
        panic!("{}\n{script}", error.render(false));
    }
    let comparisons = session.bench().lock().kept.comparisons.clone();
    let variants = comparisons
        .iter()
        .flat_map(|comparison| &comparison.variants);
    variants.flat_map(|variant| variant.nests.clone()).collect()
}

/// The plans of a script are the same for any names of its iterators.
fn names_do_not_matter_in(script: &str) {
    let nests = compared(script);
    let text = |nests: &[Nest], name: &dyn Fn(&str) -> Option<String>| {
        let texts = nests
            .iter()
            .map(|nest| sorted(&with_names(&nest.to_string(), name)));
        texts.collect::<Vec<_>>().join("\n")
    };
    let expected = text(&nests, &|_| None);
    for seed in [1, 4, 7] {
        let names = other_names(script, &nests, seed);
        let others = compared(&renamed(script, &names));
        let back = |new: &str| {
            let old = names.iter().find(|(_, n)| *n == new);
            old.map(|(old, _)| old.clone())
        };
        assert_eq!(text(&others, &back), expected, "{names:?}\n{script}");
    }
}

#[test]
fn names_do_not_matter_to_the_schedules_of_the_kernels() {
    for (declared, nests, expected) in computations::KERNELS {
        names_do_not_matter_in(&format!(
            "{declared}\ncompare([{nests}, schedules::optimize({nests}), {expected}]);"
        ));
    }
}

#[test]
fn names_do_not_matter_in_the_ten_scripts() {
    for kernel in [
        "mm", "tmm", "bmm", "gconv", "mttkrp", "sddmm", "interp", "helm", "blur", "coars",
    ] {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
        let script = std::fs::read_to_string(scripts.join(kernel).with_extension("rhai"));
        names_do_not_matter_in(&script.unwrap());
    }
}
