//! What a schedule does follows from what a nest computes, and not from the names of its iterators.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "properties/config.rs"]
mod config;
#[allow(dead_code)]
mod dialog;

use config::config;
use dialog::string;
use proptest::prelude::*;

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

/// Names of which some begin or end as others do.
const NAMES: &[&str] = &[
    "i", "j", "k", "kh", "kw", "jk", "h", "w", "n2", "n", "ik", "p",
];

/// What is planned for a kernel whose iterators have these names, which are then `$0`, `$1` …
fn plan(kernel: &str, names: &[&str]) -> String {
    let numbered = names.iter().enumerate();
    let script = numbered.fold(kernel.to_owned(), |script, (k, name)| {
        script.replace(&format!("${k}"), name)
    });
    let plan = string(&script, "schedules::optimize(build(Z)).to_string()");
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut rest = plan.as_str();
    while let Some(first) = rest.chars().next() {
        let end = rest
            .find(|c| is_part(c) != is_part(first))
            .unwrap_or(rest.len());
        let (word, others) = rest.split_at(end);
        let (head, suffix) = word.split_at(word.find('_').unwrap_or(word.len()));
        words.push(match names.iter().position(|name| *name == head) {
            Some(k) => format!("${k}{suffix}"),
            None => word.to_owned(),
        });
        rest = others;
    }
    sorted(&words.concat())
}

/// The terms of all indices and bounds in one order: they are printed in that of the names.
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
