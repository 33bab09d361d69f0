//! Operations that rearrange loops, at the limits: bounds below zero, bounds that vary, parts that
//! do not coincide, and imperfect nests. Every result still computes the same numbers.

use crate::teml::trees::{becomes, level, line_becomes, named, nest, transform, transformed};
use teml::codegen::{NoCode, generate};
use teml::ir::Nest;
use teml::legality::Reductions;
use teml::transform::nest::distribute::DISTRIBUTE;
use teml::transform::nest::fuse::FUSE;
use teml::transform::nest::interchange::INTERCHANGE;
use teml::transform::nest::mode::PARALLELIZE;
use teml::transform::nest::pad::PAD;
use teml::transform::nest::place_init::PLACE_INIT;
use teml::transform::nest::reorder::REORDER;
use teml::transform::nest::reverse::REVERSE;
use teml::transform::nest::shift::SHIFT;
use teml::transform::nest::skew::SKEW;
use teml::transform::{Arg, LoopRef};

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
fn reorder_turns_bounds_around() {
    let swap = |range: [&str; 2], after: [&str; 2]| {
        let [i, j] = range.map(str::to_owned);
        let before = [
            "f64 A[20], B[20]",
            &format!("for i in {i}"),
            &format!("  for j in {j}"),
            "    A[i] += B[j]",
        ];
        let [j, i] = after;
        let after = [
            &format!("for j in {j}"),
            &format!("  for i in {i}"),
            before[3],
        ];
        let listed = Arg::Loops(["j", "i"].map(|l| LoopRef::Name(l.to_owned())).to_vec());
        becomes(&REORDER, &before, &[listed], &after);
    };
    swap(["0..9", "i..9"], ["0..9", "0..j + 1"]);
    swap(["0..9", "0..i"], ["0..8", "j + 1..9"]);
    swap(
        ["0..9", "i..i + 5"],
        ["0..13", "max(j - 4, 0)..min(j + 1, 9)"],
    );
    swap(
        ["0..9", "max(0, i - 1)..min(i + 2, 9)"],
        ["0..9", "max(j - 1, 0)..min(j + 2, 9)"],
    );
    swap(
        ["0..9", "8 - i..10 - i"],
        ["0..10", "max(8 - j, 0)..min(10 - j, 9)"],
    );
    // One iteration, and none.
    swap(["3..4", "i..i + 1"], ["3..4", "j..j + 1"]);
    swap(["5..2", "i..9"], ["5..9", "5..2"]);
}

/// Bounds that are known of the loops between limit a loop that runs to a size.
#[test]
fn reorder_turns_bounds_with_sizes_around() {
    let before = [
        "size N",
        "f64 A[N], B[N]",
        "for i in 0..N",
        "  for j in i..i + 1",
        "    for k in N - j - 1..N - j",
        "      A[k] = B[k]",
    ];
    let after = [
        "for k in 0..N",
        "  for j in max(N - k - 1, 0)..min(N - k, N)",
        "    for i in j..min(j + 1, N)",
        "      A[k] = B[k]",
    ];
    let listed = Arg::Loops(
        ["k", "j", "i"]
            .map(|l| LoopRef::Name(l.to_owned()))
            .to_vec(),
    );
    becomes(&REORDER, &before, &[listed], &after);
}

/// Each element needs the ones before it in both directions, so no loop runs in parallel until
/// skewing collects independent elements.
#[test]
fn a_skewed_stencil_becomes_a_wavefront() {
    let stencil = nest(&[
        "f64 A[9][9]",
        "for i in 1..9",
        "  for j in 1..9",
        "    A[i][j] = A[i - 1][j] + A[i][j - 1]",
    ]);
    let refused = |nest: &Nest, l| {
        let nest = transformed(&PARALLELIZE, nest, &[level(l)]);
        matches!(
            generate(&[nest], "k", Reductions::Strict),
            Err(NoCode::Race { .. })
        )
    };
    assert!(refused(&stencil, 1) && refused(&stencil, 2));
    let skewed = transformed(&SKEW, &stencil, &[level(2), level(1), Arg::Int(1)]);
    assert!(refused(&skewed, 1) && refused(&skewed, 2));
    let wavefront = transformed(&INTERCHANGE, &skewed, &[level(1), level(2)]);
    assert!(
        refused(&wavefront, 1) && !refused(&wavefront, 2),
        "{wavefront}"
    );
}

#[test]
fn reverse_mirrors_the_range() {
    line_becomes(
        &REVERSE,
        "2..10",
        &[],
        &["for i in 2..10", "  B[11 - i] = A[11 - i]"],
    );
    line_becomes(
        &REVERSE,
        "3..4",
        &[],
        &["for i in 3..4", "  B[6 - i] = A[6 - i]"],
    );
    line_becomes(
        &REVERSE,
        "4..4",
        &[],
        &["for i in 4..4", "  B[7 - i] = A[7 - i]"],
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
            "  for j in max(4 - i, 2)..min(7 - i, 5)",
            "    B[4 - i][j] = A[4 - i][j]",
        ],
    );
    becomes(
        &REVERSE,
        &triangle,
        &[named("j")],
        &[
            "for i in 0..5",
            "  for j in max(-i - 2, -4)..min(1 - i, -1)",
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
            "  for j in max(-i, 2 - 2*i)..5 - 2*i",
            "    for k in 2*i + j..6",
            "      B[i][2*i + j] += A[2*i + j][k]",
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
fn fuse_guards_where_a_range_ends_earlier() {
    let check = |first, second, after: &[&str]| {
        let before = siblings(first, second);
        let before: Vec<&str> = before.iter().map(String::as_str).collect();
        let after = [&["for k in 0..5"], after, &["  B[k][9] = A[k][9]"]].concat();
        let args = [named("i"), named("j"), Arg::Word("guard".to_owned())];
        becomes(&FUSE, &before, &args, &after);
    };
    check(
        "0..4",
        "6..9",
        &[
            "  for i in 0..9",
            "    for i_g in max(i, 0)..min(i + 1, 4)",
            "      B[k][i_g] = A[k][i_g]",
            "    for i_g_2 in max(i, 6)..min(i + 1, 9)",
            "      D[k][i_g_2] = C[k][i_g_2]",
        ],
    );
    // No constants apart: the box around both.
    check(
        "k..k + 2",
        "2..9",
        &[
            "  for i in 0..9",
            "    for i_g in max(i, k)..min(i + 1, k + 2)",
            "      B[k][i_g] = A[k][i_g]",
            "    for i_g_2 in max(i, 2)..min(i + 1, 9)",
            "      D[k][i_g_2] = C[k][i_g_2]",
        ],
    );
    check(
        "max(k, 1)..k + 4",
        "max(k + 1, 2)..k + 5",
        &[
            "  for i in max(k, 1)..k + 5",
            "    for i_g in max(i, k, 1)..min(i + 1, k + 4)",
            "      B[k][i_g] = A[k][i_g]",
            "    for i_g_2 in max(i, k + 1, 2)..min(i + 1, k + 5)",
            "      D[k][i_g_2] = C[k][i_g_2]",
        ],
    );
    check(
        "0..9",
        "0..9",
        &[
            "  for i in 0..9",
            "    B[k][i] = A[k][i]",
            "    D[k][i] = C[k][i]",
        ],
    );
}

/// Inner loops stay next to each other, so that they can also be fused.
#[test]
fn guards_are_innermost() {
    let before = [
        "f64 B[5][10], A[5][10], D[5][10], C[5][10]",
        "for i in 0..4",
        "  B[i][0] = A[i][0]",
        "  for j in 0..9",
        "    B[i][j] = A[i][j]",
        "    B[i][9] = A[i][j]",
        "for k in 1..5",
        "  for l in 0..k",
        "    D[k][l] = C[k][l]",
    ];
    let after = [
        "for i in 0..5",
        "  for i_g in max(i, 0)..min(i + 1, 4)",
        "    B[i_g][0] = A[i_g][0]",
        "  for j in 0..9",
        "    for i_g_2 in max(i, 0)..min(i + 1, 4)",
        "      B[i_g_2][j] = A[i_g_2][j]",
        "      B[i_g_2][9] = A[i_g_2][j]",
        "  for l in 0..i",
        "    for i_g_3 in max(i, 1)..min(i + 1, 5)",
        "      D[i_g_3][l] = C[i_g_3][l]",
    ];
    let args = [named("i"), named("k"), Arg::Word("guard".to_owned())];
    becomes(&FUSE, &before, &args, &after);
}

#[test]
fn pad_guards_each_innermost_body() {
    let pad = |multiple| [named("i"), Arg::Int(multiple)];
    let before = [
        "f64 B[13][13], A[13][13]",
        "for i in 0..13",
        "  B[i][0] = A[i][0]",
        "  for j in 0..i",
        "    B[i][j] = A[i][j]",
    ];
    let after = [
        "for i in 0..16",
        "  for i_g in i..min(i + 1, 13)",
        "    B[i_g][0] = A[i_g][0]",
        "  for j in 0..i",
        "    for i_g_2 in i..min(i + 1, 13)",
        "      B[i_g_2][j] = A[i_g_2][j]",
    ];
    becomes(&PAD, &before, &pad(8), &after);
    becomes(&PAD, &before, &pad(13), &before[1..]);
    becomes(&PAD, &before, &pad(1), &before[1..]);
}

#[test]
fn pad_rounds_every_bound_whose_remainder_is_constant() {
    let check = |range: &str, multiple, after: [&str; 2]| {
        let [range, own, guard] =
            [range, after[0], after[1]].map(|range| format!("  for i in {range}"));
        let guard = guard.replace("  for i in", "    for i_g in");
        let before = [
            "f64 B[50], A[50]",
            "for k in 0..4",
            &range,
            "    B[i] = A[i]",
        ];
        let after = ["for k in 0..4", &own, &guard, "      B[i_g] = A[i_g]"];
        becomes(&PAD, &before, &[named("i"), Arg::Int(multiple)], &after);
    };
    check("8*k + 8..49", 4, ["8*k + 8..52", "i..min(i + 1, 49)"]);
    // The last block of a guarded loop also gets whole multiples.
    check(
        "16*k..min(16*k + 16, 50)",
        8,
        ["16*k..min(16*k + 16, 56)", "i..min(i + 1, 50)"],
    );
    // A bound whose remainder varies is left to the guards.
    check(
        "2..min(k + 9, 11)",
        4,
        ["2..14", "i..min(i + 1, k + 9, 11)"],
    );
}

#[test]
fn fuse_knows_what_runs_once() {
    let line = |name: &str, to: &str| format!("    {to}[k][{name}] = A[k][{name}]");
    let (one, other) = (line("i", "B"), line("j", "C"));
    becomes(
        &FUSE,
        &[
            "f64 A[9][9], B[9][9], C[9][9]",
            "for k in 3..4",
            "  for i in k..min(2*k + 9, 9)",
            &one,
            "  for j in 2*k..9",
            &other,
        ],
        &[named("i"), named("j")],
        &[
            "for k in 3..4",
            "  for i_f in 3..6",
            &line("i_f", "B"),
            "  for i in 6..9",
            &one,
            &line("i", "C"),
        ],
    );
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
    // A bound that never counts.
    with("0..min(9, k + 9)", "2..5", &outer);
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
fn place_init_moves_in_and_out() {
    let reduction = |fill: &str, loops: [&str; 2]| {
        let lines = [
            "f64 y[8], A[8][5]",
            fill,
            loops[0],
            loops[1],
            "    y[i] += A[i][j]",
        ];
        lines.map(str::to_owned)
    };
    let before = reduction("fill y[0..8] = 0", ["for i in 0..8", "  for j in 0..5"]);
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    let inside = [
        "for i in 0..8",
        "  fill y[i..+1] = 0",
        "  for j in 0..5",
        "    y[i] += A[i][j]",
    ];
    becomes(&PLACE_INIT, &before, &[level(1)], &inside);
    becomes(&PLACE_INIT, &before, &[level(0)], &before[1..]);
    let inside: Vec<&str> = [before[0]].into_iter().chain(inside).collect();
    becomes(&PLACE_INIT, &inside, &[level(0)], &before[1..]);
    becomes(&PLACE_INIT, &inside, &[named("i")], &inside[1..]);
}

#[test]
fn place_init_sets_what_an_iteration_uses() {
    // Blocks with a smaller last one, and a dimension that is used in full.
    let tree = [
        "f64 y[10][3], A[10][5][3]",
        "fill y[0..10][0..3] = 0",
        "for i_o in 0..3",
        "  for i in 4*i_o..min(4*i_o + 4, 10)",
        "    for j in 0..5",
        "      for k in 0..3",
        "        y[i][2 - k] += A[i][j][k]",
    ];
    let fill = "    fill y[i..+1][0..3] = 0";
    let inside = [&tree[2..4], &[fill], &tree[4..]].concat();
    becomes(&PLACE_INIT, &tree, &[named("i")], &inside);
    let inside: Vec<&str> = [tree[0]].into_iter().chain(inside).collect();
    becomes(&PLACE_INIT, &inside, &[level(0)], &tree[1..]);
    let blocks = [
        "f64 y[8], A[8][5]",
        "fill y[0..8] = 0",
        "for i_o in 0..2",
        "  for j in 0..5",
        "    for i in 4*i_o..4*i_o + 4",
        "      y[i] += A[i][j]",
    ];
    let fill = "  fill y[4*i_o..+4] = 0";
    let inside = [&blocks[2..3], &[fill], &blocks[3..]].concat();
    becomes(&PLACE_INIT, &blocks, &[level(1)], &inside);
    let inside: Vec<&str> = [blocks[0]].into_iter().chain(inside).collect();
    becomes(&PLACE_INIT, &inside, &[level(0)], &blocks[1..]);
}

#[test]
fn place_init_sets_what_is_used_later_on() {
    let tree = [
        "f64 y[8], z[8], A[8][5]",
        "fill y[0..8] = 0",
        "for b in 0..2",
        "  for i in 4*b..4*b + 4",
        "    for j in 0..5",
        "      y[i] += A[i][j]",
        "for k in 0..8",
        "  z[k] = y[7 - k]",
    ];
    let fill = "    fill y[i..+1] = 0";
    let inside = [&tree[2..4], &[fill], &tree[4..]].concat();
    becomes(&PLACE_INIT, &tree, &[named("i")], &inside);
}

#[test]
fn place_init_leaves_loops_around_both_places_alone() {
    // A loop that held nothing else goes with the fill.
    let before = [
        "f64 y[4][8], A[4][8]",
        "for t in 0..4",
        "  for k in 0..8",
        "    fill y[t..+1][k..+1] = 0",
        "  for i in 0..8",
        "    y[t][i] += A[t][i]",
    ];
    let after = [
        "for t in 0..4",
        "  fill y[t..+1][0..8] = 0",
        "  for i in 0..8",
        "    y[t][i] += A[t][i]",
    ];
    let before_fused = [
        &before[..1],
        &["fill y[0..4][0..8] = 0"],
        &before[1..2],
        &before[4..],
    ]
    .concat();
    becomes(&PLACE_INIT, &before_fused, &[named("t")], &after);
    let again = [&before[..1], &after[..]].concat();
    let inner = [
        "for t in 0..4",
        "  for i in 0..8",
        "    fill y[t..+1][i..+1] = 0",
        before[5],
    ];
    becomes(&PLACE_INIT, &again, &[named("i")], &inner);
    // Here the fill is in a loop that does not hold what it initializes.
    let args = [Arg::Nest(nest(&before)), level(0)];
    assert!(transform(&PLACE_INIT, &args).is_err());
}
