//! Consumers that are computed as soon as their operands are finished: the elements, the loops, and
//! their names.

use crate::teml::trees::{computes_both, level, loops, named, nest, transform};
use teml::transform::Arg;
use teml::transform::nest::reverse_compute_at::REVERSE_COMPUTE_AT;

/// Applies the transformation, checks that the result computes what both nests do one after the
/// other, and compares it as it prints.
fn becomes(producer: &[&str], consumer: &[&str], places: &[&str], after: &[&str]) {
    let [producer, consumer] = [producer, consumer].map(nest);
    let place = match places {
        [] => level(0),
        [one] => named(one),
        several => loops(several),
    };
    let args = [
        Arg::Nest(producer.clone()),
        Arg::Nest(consumer.clone()),
        place,
    ];
    let result = transform(&REVERSE_COMPUTE_AT, &args).unwrap_or_else(|e| panic!("{e}"));
    let lines: Vec<String> = result.lines().iter().map(ToString::to_string).collect();
    assert_eq!(lines, after);
    computes_both(&result, &producer, &consumer);
}

const SCALED: &[&str] = &[
    "f64 B[10][12], T[10][12], x[12]",
    "for i in 0..10",
    "  for j in 0..12",
    "    B[i][j] = T[i][j] * x[j]",
];

#[test]
fn the_last_tiles_finish_less() {
    becomes(
        &[
            "f64 A[10][12], T[10][12]",
            "for i_o in 0..4",
            "  for j in 0..12",
            "    for i in 3*i_o..min(3*i_o + 3, 10)",
            "      T[i][j] = A[i][j]",
        ],
        SCALED,
        &["i_o"],
        &[
            "for i_o in 0..4",
            "  for j in 0..12",
            "    for i in 3*i_o..min(3*i_o + 3, 10)",
            "      T[i][j] = A[i][j]",
            "  for i_2 in 3*i_o..min(3*i_o + 3, 10)",
            "    for j_2 in 0..12",
            "      B[i_2][j_2] = T[i_2][j_2] * x[j_2]",
        ],
    );
}

#[test]
fn the_last_block_of_terms_finishes_all() {
    let product = [
        "fill T[0..10][0..12] = 0",
        "for k in 0..6",
        "  for i in 0..10",
        "    for j in 0..12",
        "      T[i][j] += A[i][k] * C[k][j]",
        "for i_2 in 0..10",
        "  for j_2 in 0..12",
        "    T[i_2][j_2] += A[i_2][6] * C[6][j_2]",
    ];
    let declared = "f64 A[10][7], C[7][12], T[10][12]";
    let finished = "    B[i_2][j_2] = T[i_2][j_2] * x[j_2]";
    becomes(
        &[&[declared], &product[..]].concat(),
        SCALED,
        &["j_2"],
        &[&product[..], &[finished]].concat(),
    );
}

#[test]
fn several_loops_finish_a_part_each() {
    becomes(
        &[
            "f64 A[10][12], T[10][12]",
            "for i in 0..8",
            "  for j in 0..12",
            "    T[i][j] = A[i][j]",
            "for i_b in 8..10",
            "  for j_2 in 0..12",
            "    T[i_b][j_2] = A[i_b][j_2]",
        ],
        SCALED,
        &["i", "i_b"],
        &[
            "for i in 0..8",
            "  for j in 0..12",
            "    T[i][j] = A[i][j]",
            "  for j_3 in 0..12",
            "    B[i][j_3] = T[i][j_3] * x[j_3]",
            "for i_b in 8..10",
            "  for j_2 in 0..12",
            "    T[i_b][j_2] = A[i_b][j_2]",
            "  for j_4 in 0..12",
            "    B[i_b][j_4] = T[i_b][j_4] * x[j_4]",
        ],
    );
}

#[test]
fn indices_may_be_apart_and_constant() {
    // Of T, B reads rows 1 to 8 of one column.
    becomes(
        &[
            "f64 A[10][12], T[10][12]",
            "for i in 0..10",
            "  for j in 0..12",
            "    T[i][j] = A[i][j]",
        ],
        &[
            "f64 B[3][8], T[10][12], x[3]",
            "for n in 0..3",
            "  for i in 0..8",
            "    B[n][i] = x[n] - T[i + 1][4]",
        ],
        &[],
        &[
            "for i in 0..10",
            "  for j in 0..12",
            "    T[i][j] = A[i][j]",
            "for n in 0..3",
            "  for i_2 in 0..8",
            "    B[n][i_2] = x[n] - T[i_2 + 1][4]",
        ],
    );
    becomes(
        &["f64 A[10], T[10]", "for i in 0..10", "  T[i] = A[i]"],
        &[
            "f64 B[3][10], T[10], x[3]",
            "vector for n in 0..3",
            "  for y in 0..10",
            "    B[n][y] = x[n] - T[y]",
        ],
        &["i"],
        &[
            "for i in 0..10",
            "  T[i] = A[i]",
            "  vector for n in 0..3",
            "    B[n][i] = x[n] - T[i]",
        ],
    );
}

#[test]
fn no_more_is_finished_than_the_consumer_reads() {
    becomes(
        &[
            "f64 A[10], T[10]",
            "for o in 0..5",
            "  for i in 2*o..2*o + 2",
            "    T[i] = A[i]",
        ],
        &["f64 B[10], T[10]", "for y in 3..8", "  B[y] = T[y] + T[y]"],
        &["o"],
        &[
            "for o in 0..5",
            "  for i in 2*o..2*o + 2",
            "    T[i] = A[i]",
            "  for y in max(2*o, 3)..min(2*o + 2, 8)",
            "    B[y] = T[y] + T[y]",
        ],
    );
}

#[test]
fn sums_begin_before_the_producer() {
    becomes(
        &[
            "f64 A[10][12], T[10][12]",
            "for i in 0..10",
            "  for j in 0..12",
            "    T[i][j] = A[i][j]",
        ],
        &[
            "f64 y[10], T[10][12]",
            "fill y[0..10] = 0",
            "for i in 0..10",
            "  for k in 0..12",
            "    y[i] += T[i][k]",
        ],
        &["i"],
        &[
            "fill y[0..10] = 0",
            "for i in 0..10",
            "  for j in 0..12",
            "    T[i][j] = A[i][j]",
            "  for k in 0..12",
            "    y[i] += T[i][k]",
        ],
    );
}

#[test]
fn scalars_are_finished_once() {
    becomes(
        &["f64 x[5], s", "fill s = 0", "for i in 0..5", "  s += x[i]"],
        &["f64 y[4], s", "for j in 0..4", "  y[j] = s * s"],
        &[],
        &[
            "fill s = 0",
            "for i in 0..5",
            "  s += x[i]",
            "for j in 0..4",
            "  y[j] = s * s",
        ],
    );
}
