//! Operations that split loops, at the limits: one iteration, none, factors that do not divide,
//! bounds that vary. Every result still computes the same numbers.

use crate::teml::trees::{becomes, level, line_becomes, named, nest, transform, word};
use teml::codegen::generate;
use teml::legality::Reductions;
use teml::transform::nest::at::focus;
use teml::transform::nest::peel::PEEL;
use teml::transform::nest::stripmine::STRIPMINE;
use teml::transform::nest::unroll::UNROLL;
use teml::transform::nest::unroll_and_jam::UNROLL_AND_JAM;
use teml::transform::{Arg, LoopRef};

#[test]
fn stripmine_cuts() {
    let by = |range, factor, after: &[&str]| {
        line_becomes(&STRIPMINE, range, &[Arg::Int(factor), word("cut")], after);
    };
    let blocks = [
        "for i_o in 0..2",
        "  for i_i in 4*i_o + 1..4*i_o + 5",
        "    B[i_i] = A[i_i]",
    ];
    let rest = ["for i_r in 9..10", "  B[i_r] = A[i_r]"];
    by("1..9", 4, &blocks);
    by("1..10", 4, &[&blocks[..], &rest].concat());
    // Fewer iterations than the factor, one, none.
    by("1..4", 4, &["for i_r in 1..4", "  B[i_r] = A[i_r]"]);
    by(
        "0..1",
        1,
        &[
            "for i_o in 0..1",
            "  for i_i in i_o..i_o + 1",
            "    B[i_i] = A[i_i]",
        ],
    );
    by("3..3", 4, &[]);
    by("5..3", 4, &[]);
    // Of several bounds that are constants apart, one counts.
    let blocks = [
        "for i_o in 0..2",
        "  for i_i in 3*i_o + 2..3*i_o + 5",
        "    B[i_i] = A[i_i]",
    ];
    by("max(2, 0)..min(8, 10)", 3, &blocks);
    by("max(0, 2)..min(10, 8)", 3, &blocks);
}

#[test]
fn stripmine_cuts_blocks_of_blocks() {
    becomes(
        &STRIPMINE,
        &[
            "f64 B[10], A[10]",
            "for o in 0..2",
            "  B[o] = A[o]",
            "  for i in 5*o..5*o + 5",
            "    B[i] = A[i]",
        ],
        &[level(2), Arg::Int(3), word("cut")],
        &[
            "for o in 0..2",
            "  B[o] = A[o]",
            "  for i_o in 0..1",
            "    for i_i in 3*i_o + 5*o..3*i_o + 5*o + 3",
            "      B[i_i] = A[i_i]",
            "  for i_r in 5*o + 3..5*o + 5",
            "    B[i_r] = A[i_r]",
        ],
    );
}

#[test]
fn stripmine_divides_or_refuses() {
    line_becomes(
        &STRIPMINE,
        "2..6",
        &[Arg::Int(2), word("exact")],
        &[
            "for i_o in 0..2",
            "  for i_i in 2*i_o + 2..2*i_o + 4",
            "    B[i_i] = A[i_i]",
        ],
    );
}

#[test]
fn parts_keep_what_runs_in_parallel() {
    becomes(
        &STRIPMINE,
        &[
            "f64 B[10], A[10]",
            "parallel vector for i in 0..10",
            "  B[i] = A[i]",
        ],
        &[level(1), Arg::Int(4), word("cut")],
        &[
            "parallel for i_o in 0..2",
            "  vector for i_i in 4*i_o..4*i_o + 4",
            "    B[i_i] = A[i_i]",
            "parallel vector for i_r in 8..10",
            "  B[i_r] = A[i_r]",
        ],
    );
}

#[test]
fn peel_takes_what_is_there() {
    let by = |range, count, end, after: &[&str]| {
        line_becomes(&PEEL, range, &[Arg::Int(count), word(end)], after);
    };
    let main = |range: &str| format!("for i in {range}");
    let copy = "  B[i] = A[i]";
    let front = ["for i_f in 2..3", "  B[i_f] = A[i_f]"];
    let back = ["for i_b in 9..10", "  B[i_b] = A[i_b]"];
    by(
        "2..10",
        1,
        "front",
        &[front[0], front[1], &main("3..10"), copy],
    );
    by("2..10", 1, "back", &[&main("2..9"), copy, back[0], back[1]]);
    // All that there is, more, and nothing.
    by("2..3", 1, "front", &front);
    by("9..10", 7, "back", &back);
    by("3..3", 1, "front", &[]);
    let triangle = [
        "f64 B[9][9]",
        "for k in 0..9",
        "  for i in k..min(k + k, 9)",
        "    for j in 0..2",
        "      B[i][j] = B[i][j]",
    ];
    becomes(
        &PEEL,
        &triangle,
        &[level(2), Arg::Int(2), word("front")],
        &[
            "for k in 0..9",
            "  for i_f in k..min(2*k, 9, k + 2)",
            "    for j_2 in 0..2",
            "      B[i_f][j_2] = B[i_f][j_2]",
            "  for i in k + 2..min(2*k, 9)",
            "    for j in 0..2",
            "      B[i][j] = B[i][j]",
        ],
    );
    becomes(
        &PEEL,
        &[
            "f64 B[9][9]",
            "for k in 0..9",
            "  for i in max(k, 3)..2*k - 7",
            "    B[k][i] = B[k][i]",
        ],
        &[level(2), Arg::Int(2), word("back")],
        &[
            "for k in 0..9",
            "  for i in max(k, 3)..2*k - 9",
            "    B[k][i] = B[k][i]",
            "  for i_b in max(k, 3)..2*k - 7",
            "    B[k][i_b] = B[k][i_b]",
        ],
    );
}

#[test]
fn unroll_by_a_factor_copies_what_is_inside() {
    becomes(
        &UNROLL,
        &[
            "f64 B[3][2], A[3][2]",
            "for i in 0..3",
            "  for j in 0..2",
            "    B[i][j] = A[i][j]",
        ],
        &[named("i"), Arg::Int(2)],
        &[
            "for i_o in 0..1",
            "  for j_u0 in 0..2",
            "    B[2*i_o][j_u0] = A[2*i_o][j_u0]",
            "  for j_u1 in 0..2",
            "    B[2*i_o + 1][j_u1] = A[2*i_o + 1][j_u1]",
            "for i_r in 2..3",
            "  for j_2 in 0..2",
            "    B[i_r][j_2] = A[i_r][j_2]",
        ],
    );
    line_becomes(
        &UNROLL,
        "4..7",
        &[Arg::Int(9)],
        &["for i_r in 4..7", "  B[i_r] = A[i_r]"],
    );
    line_becomes(&UNROLL, "7..4", &[Arg::Int(1)], &[]);
    // Blocks of constant size unroll wherever they start.
    becomes(
        &UNROLL,
        &[
            "f64 B[4]",
            "for o in 0..2",
            "  for i in 2*o..2*o + 2",
            "    B[i] = B[i]",
        ],
        &[level(2)],
        &[
            "for o in 0..2",
            "  B[2*o] = B[2*o]",
            "  B[2*o + 1] = B[2*o + 1]",
        ],
    );
    line_becomes(
        &UNROLL,
        "1..8 step 3",
        &[],
        &["B[1] = A[1]", "B[4] = A[4]", "B[7] = A[7]"],
    );
}

#[test]
fn unroll_and_jam_brings_copies_together() {
    becomes(
        &UNROLL_AND_JAM,
        &[
            "f64 y[5], A[5][3]",
            "for i in 1..4",
            "  fill y[i..+1] = 0",
            "  for j in 0..3",
            "    y[i] += A[i][j]",
        ],
        &[level(1), Arg::Int(2)],
        &[
            "for i_o in 0..1",
            "  fill y[2*i_o + 1..+1] = 0",
            "  fill y[2*i_o + 2..+1] = 0",
            "  for j in 0..3",
            "    y[2*i_o + 1] += A[2*i_o + 1][j]",
            "    y[2*i_o + 2] += A[2*i_o + 2][j]",
            "for i_r in 3..4",
            "  fill y[i_r..+1] = 0",
            "  for j_2 in 0..3",
            "    y[i_r] += A[i_r][j_2]",
        ],
    );
    line_becomes(
        &UNROLL_AND_JAM,
        "2..3",
        &[Arg::Int(2)],
        &["for i_r in 2..3", "  B[i_r] = A[i_r]"],
    );
}

#[test]
fn copies_avoid_the_names_of_loops_around() {
    let whole = nest(&[
        "f64 B[3][5][2], A[3][5][2]",
        "for j_2 in 0..3",
        "  for i in 0..5",
        "    for j in 0..2",
        "      B[j_2][i][j] = A[j_2][i][j]",
    ]);
    let part = focus(&whole, &LoopRef::Name("i".to_owned())).unwrap();
    let args = [Arg::Nest(part), level(1), Arg::Int(4), word("cut")];
    let cut = transform(&STRIPMINE, &args).unwrap();
    let loops = cut.loops().into_iter();
    let names: Vec<String> = loops.map(|(_, l)| l.name.to_string()).collect();
    assert_eq!(names, ["i_o", "i_i", "j", "i_r", "j_3"]);
}

#[test]
fn sharing_is_said_in_the_pragma() {
    let pragma = |head: &str, inner: &str| {
        let nest = nest(&[
            "f64 B[8][8], A[8][8]",
            &format!("{head} for i in 0..8"),
            inner,
            "    B[i][j] = A[i][j]",
        ]);
        let source = generate(&[nest], "kernel", Reductions::Strict)
            .unwrap()
            .source();
        let mut lines = source.lines().filter(|l| l.contains("#pragma omp"));
        lines.next().unwrap().trim().to_owned()
    };
    let square = "  for j in 0..8";
    assert_eq!(pragma("parallel", square), "#pragma omp parallel for");
    assert_eq!(
        pragma("parallel collapse(2) guided", square),
        "#pragma omp parallel for collapse(2) schedule(guided)"
    );
    assert_eq!(
        pragma("parallel static vector", "  for j in 0..i + 1"),
        "#pragma omp parallel for simd schedule(static)"
    );
}

#[test]
fn blocks_of_shared_loops_are_shared_alone() {
    becomes(
        &STRIPMINE,
        &[
            "f64 B[5][8]",
            "parallel collapse(2) dynamic for i in 0..5",
            "  for j in 0..8",
            "    B[i][j] = B[i][j]",
        ],
        &[level(1), Arg::Int(2), word("cut")],
        &[
            "parallel dynamic for i_o in 0..2",
            "  for i_i in 2*i_o..2*i_o + 2",
            "    for j in 0..8",
            "      B[i_i][j] = B[i_i][j]",
            "parallel collapse(2) dynamic for i_r in 4..5",
            "  for j_2 in 0..8",
            "    B[i_r][j_2] = B[i_r][j_2]",
        ],
    );
}
