//! Refusals to compute consumers where their operands are finished.

use crate::teml::refusals::Case;
use crate::teml::trees::{level, loops, named, nest};
use teml::ir::Nest;
use teml::transform::Arg;
use teml::transform::nest::reverse_compute_at::REVERSE_COMPUTE_AT;

pub fn consumers() -> Vec<Case> {
    let sums = nest(&[
        "f64 A[12][3], T[12], U[12]",
        "fill T[0..12] = 0",
        "for i in 0..12",
        "  for k in 0..3",
        "    T[i] += A[i][k]",
        "for j in 0..12",
        "  U[j] = 1",
    ]);
    let place = |consumer: &[&str], at: Arg, kind: String| {
        let nests = [sums.clone(), nest(consumer)].map(Arg::Nest);
        Case::new(
            &REVERSE_COMPUTE_AT,
            nests.into_iter().chain([at]).collect(),
            kind,
        )
    };
    let reader = ["f64 B[12], T[12]", "for i in 0..12", "  B[i] = T[i]"];
    let not_plain = |index: &str, found: &str| {
        let line = format!("  B[i] = T[{index}]");
        let (role, found) = ("consumer", found.to_owned());
        let kind = format!("the {role} is not one assignment in plain loops: {found}");
        place(&["f64 B[6], T[12]", "for i in 0..6", &line], level(0), kind).at(1)
    };
    let several = "the consumer reads both T[i] and T[i + 1]".to_owned();
    let tensor = || "T".to_owned();
    let shared = format!(
        "iterations of `k` write the same elements of {}, which the last one finishes",
        tensor()
    );
    let not_written = format!("`j` does not write {}", tensor());
    let not_one = |found: &[&str]| match found {
        [] => "the consumer reads nothing that the producer writes".to_owned(),
        found => format!(
            "the consumer reads several tensors that the producer writes: {}",
            found.join(", ")
        ),
    };
    let two = nest(&["f64 B[12], T[12]", "B[0] = T[0]", "B[1] = T[1]"]);
    let beside =
        "the consumer is not one assignment in plain loops: 2 loops or statements are side by side"
            .to_owned();
    let args = |consumer: &Nest| {
        vec![
            Arg::Nest(sums.clone()),
            Arg::Nest(consumer.clone()),
            level(0),
        ]
    };
    vec![
        Case::new(&REVERSE_COMPUTE_AT, args(&two), beside).at(1),
        not_plain("2*i", "T is indexed by `2*i`"),
        place(
            &[
                "f64 B[6], T[12]",
                "for i in 0..6",
                "  B[i] = T[i] + T[i + 1]",
            ],
            level(0),
            several,
        )
        .at(1),
        place(
            &["f64 B[12], A[12][3]", "for i in 0..12", "  B[i] = A[i][0]"],
            level(0),
            not_one(&[]),
        )
        .at(1),
        place(
            &[
                "f64 B[12], T[12], U[12]",
                "for i in 0..12",
                "  B[i] = T[i] + U[i]",
            ],
            level(0),
            not_one(&["T", "U"]),
        )
        .at(1),
        place(
            &reader,
            loops(&[]),
            "there is no loop to compute the consumer in".to_owned(),
        )
        .at(2),
        place(&reader, named("j"), not_written)
            .at(2)
            .because_of(&["j"]),
        place(&reader, named("k"), shared).at(2).because_of(&["k"]),
    ]
}
