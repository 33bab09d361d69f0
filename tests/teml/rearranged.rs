//! What loop transformations make of nests at the limits: one iteration, none, bounds below
//! zero, factors that do not divide, nests that are not perfect. Every result still computes
//! the same numbers.

use crate::trees::{level, named, nest, transformed};
use teml::transform::nest::distribute::DISTRIBUTE;
use teml::transform::nest::fuse::FUSE;
use teml::transform::nest::peel::PEEL;
use teml::transform::nest::reorder::REORDER;
use teml::transform::nest::reverse::REVERSE;
use teml::transform::nest::shift::SHIFT;
use teml::transform::nest::skew::SKEW;
use teml::transform::nest::stripmine::STRIPMINE;
use teml::transform::nest::unroll::UNROLL;
use teml::transform::nest::unroll_and_jam::UNROLL_AND_JAM;
use teml::transform::{Arg, LoopRef, Op};

/// Applies `op`, checks the numbers, and compares the loops and statements as they print.
fn becomes(op: &'static Op, before: &[&str], args: &[Arg], after: &[&str]) {
    let result = transformed(op, &nest(before), args);
    let lines: Vec<String> = result.lines().iter().map(ToString::to_string).collect();
    assert_eq!(lines, after, "{} of\n{}", op.name, before.join("\n"));
}

fn word(text: &str) -> Arg {
    Arg::Word(text.to_owned())
}

/// As [`becomes`], for a copy of the elements in `range`.
fn line_becomes(op: &'static Op, range: &str, args: &[Arg], after: &[&str]) {
    let head = format!("for i in {range}");
    // The statement after the loop stays when the loop disappears.
    let before = ["f64 B[10], A[10]", &head, "  B[i] = A[i]", "B[0] = A[1]"];
    let args: Vec<Arg> = [level(1)].iter().chain(args).cloned().collect();
    becomes(op, &before, &args, &[after, &before[3..]].concat());
}

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
fn reorder_keeps_what_is_not_listed() {
    let before = [
        "f64 B[2][3][4][5]",
        "fill B[0..2][0..3][0..4][0..5] = 0",
        "for i in 0..2",
        "  for j in 0..3",
        "    for k in 0..4",
        "      for l in 0..5",
        "        B[i][j][k][l] = B[i][j][k][l]",
    ];
    let after = |order: [&str; 4]| {
        let extent = |l: &str| {
            2 + before[2..6]
                .iter()
                .position(|b| b.contains(&format!(" {l} ")))
                .unwrap()
        };
        let loops = order.iter().enumerate();
        let loops = loops.map(|(k, l)| format!("{:1$}for {l} in 0..{2}", "", 2 * k, extent(l)));
        let all = [before[1].to_owned()].into_iter().chain(loops);
        all.chain([before[6].to_owned()]).collect::<Vec<_>>()
    };
    let check = |listed: &[LoopRef], order| {
        let after = after(order);
        let after: Vec<&str> = after.iter().map(String::as_str).collect();
        becomes(&REORDER, &before, &[Arg::Loops(listed.to_vec())], &after);
    };
    let name = |l: &str| LoopRef::Name(l.to_owned());
    check(&[name("l"), name("i")], ["l", "j", "k", "i"]);
    check(&[name("k"), name("i"), name("j")], ["k", "i", "j", "l"]);
    check(
        &[LoopRef::Level(4), name("k"), LoopRef::Level(2)],
        ["i", "l", "k", "j"],
    );
    check(&[name("i"), name("l")], ["i", "j", "k", "l"]);
    check(&[name("k")], ["i", "j", "k", "l"]);
    check(&[], ["i", "j", "k", "l"]);
}

#[test]
fn reverse_mirrors_the_range() {
    line_becomes(
        &REVERSE,
        "2..10",
        &[],
        &["for i in 2..10", "  B[-i + 11] = A[-i + 11]"],
    );
    line_becomes(
        &REVERSE,
        "3..4",
        &[],
        &["for i in 3..4", "  B[-i + 6] = A[-i + 6]"],
    );
    line_becomes(
        &REVERSE,
        "4..4",
        &[],
        &["for i in 4..4", "  B[-i + 7] = A[-i + 7]"],
    );
    // Bounds inside follow, and several bounds turn around.
    let triangle = [
        "f64 B[6][6], A[6][6]",
        "for i in 0..5",
        "  for j in max(i, 2)..min(i + 3, 5)",
        "    B[i][j] = A[i][j]",
    ];
    becomes(
        &REVERSE,
        &triangle,
        &[named("i")],
        &[
            "for i in 0..5",
            "  for j in max(-i + 4, 2)..min(-i + 7, 5)",
            "    B[-i + 4][j] = A[-i + 4][j]",
        ],
    );
    becomes(
        &REVERSE,
        &triangle,
        &[named("j")],
        &[
            "for i in 0..5",
            "  for j in max(-i - 2, -4)..min(-i + 1, -1)",
            "    B[i][-j] = A[i][-j]",
        ],
    );
}

#[test]
fn shift_and_skew_move_bounds() {
    line_becomes(
        &SHIFT,
        "0..10",
        &[Arg::Int(-3)],
        &["for i in -3..7", "  B[i + 3] = A[i + 3]"],
    );
    line_becomes(
        &SHIFT,
        "0..10 step 4",
        &[Arg::Int(1)],
        &["for i in 1..11 step 4", "  B[i - 1] = A[i - 1]"],
    );
    line_becomes(
        &SHIFT,
        "0..10",
        &[Arg::Int(0)],
        &["for i in 0..10", "  B[i] = A[i]"],
    );
    becomes(
        &SKEW,
        &[
            "f64 B[6][6], A[6][6]",
            "for i in 0..5",
            "  B[i][0] = A[i][0]",
            "  for j in max(i, 2)..5",
            "    for k in j..6",
            "      B[i][j] += A[j][k]",
        ],
        &[named("j"), level(1), Arg::Int(-2)],
        &[
            "for i in 0..5",
            "  B[i][0] = A[i][0]",
            "  for j in max(-i, -2*i + 2)..-2*i + 5",
            "    for k in 2*i + j..6",
            "      B[i][2*i + j] += A[2*i + j][k]",
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
            "  for i_b in max(k, 3, 2*k - 9)..2*k - 7",
            "    B[k][i_b] = B[k][i_b]",
        ],
    );
}

#[test]
fn distribute_takes_fills_and_loops_apart() {
    becomes(
        &DISTRIBUTE,
        &[
            "f64 y[4], A[4][3]",
            "vector for i in 0..4 step 2",
            "  fill y[i..+1] = 0",
            "  for j in 0..3",
            "    y[i] += A[i][j]",
            "  y[i] += A[i][0]",
        ],
        &[level(1)],
        &[
            "vector for i in 0..4 step 2",
            "  fill y[i..+1] = 0",
            "vector for i_2 in 0..4 step 2",
            "  for j in 0..3",
            "    y[i_2] += A[i_2][j]",
            "vector for i_3 in 0..4 step 2",
            "  y[i_3] += A[i_3][0]",
        ],
    );
}

fn siblings(first: &str, second: &str) -> [String; 7] {
    [
        "f64 B[5][10], A[5][10], D[5][10], C[5][10]".to_owned(),
        "for k in 0..5".to_owned(),
        format!("  for i in {first}"),
        "    B[k][i] = A[k][i]".to_owned(),
        format!("  for j in {second}"),
        "    D[k][j] = C[k][j]".to_owned(),
        "  B[k][9] = A[k][9]".to_owned(),
    ]
}

#[test]
fn fuse_peels_both_loops_at_both_ends() {
    let check = |first, second, after: &[&str]| {
        let before = siblings(first, second);
        let before: Vec<&str> = before.iter().map(String::as_str).collect();
        let after = [&["for k in 0..5"], after, &["  B[k][9] = A[k][9]"]].concat();
        becomes(&FUSE, &before, &[named("i"), named("j")], &after);
    };
    let part = |name: &str, range: &str| {
        let [to, from] = if name.starts_with('i') {
            ["B", "A"]
        } else {
            ["D", "C"]
        };
        [
            format!("  for {name} in {range}"),
            format!("    {to}[k][{name}] = {from}[k][{name}]"),
        ]
    };
    let fused = |range: &str| {
        [
            format!("  for i in {range}"),
            "    B[k][i] = A[k][i]".to_owned(),
            "    D[k][i] = C[k][i]".to_owned(),
        ]
    };
    let with = |first, second, parts: &[&[String]]| {
        let parts = parts.concat();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        check(first, second, &parts);
    };
    with("0..9", "0..9", &[&fused("0..9")]);
    with("k..9", "k..9", &[&fused("k..9")]);
    with("0..9 step 2", "0..9 step 2", &[&fused("0..9 step 2")]);
    let outer = [
        &part("i_f", "0..2")[..],
        &fused("2..5"),
        &part("i_b", "5..9"),
    ];
    with("0..9", "2..5", &outer);
    let inner = [
        &part("j_f", "0..2")[..],
        &fused("2..5"),
        &part("j_b", "5..9"),
    ];
    with("2..5", "0..9", &inner);
    let crossed = [
        &part("i_f", "0..2")[..],
        &fused("2..5"),
        &part("j_b", "5..9"),
    ];
    with("0..5", "2..9", &crossed);
    let other = [
        &part("j_f", "0..2")[..],
        &fused("2..5"),
        &part("i_b", "5..9"),
    ];
    with("2..9", "0..5", &other);
    let one = [&fused("k..k + 1")[..], &part("j_b", "k + 1..k + 3")];
    with("k..k + 1", "k..k + 3", &one);
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
