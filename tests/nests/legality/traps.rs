//! Steps that have broken programs before. Each is refused with a witness, or done correctly.
//! Beside each trap is a legal alternative.

use super::{illegal, legal, not_done};

/// Each element needs its upper right neighbor: a dependence by (1, -1).
const BAND: &str = "
    let A = tensor([12, 11]);
    let B = eq(vadd(A, A, [[i - 1, j + 1], [i, j]]), [i, j], [12, 11]);
    init(B, 0);
    let C = eq(vadd(B, B, [[i - 1, j + 1], [i, j]]), [i, j], [12, 11]);
    let band = fuse_outer(build(B), build(C), 2);
    let rows = fuse_outer(build(B), build(C), 1);
";

#[test]
fn loops_with_a_dependence_from_the_upper_right_keep_their_order() {
    legal(
        BAND,
        &["band", "band.skew(\"j\", \"i\", 1).interchange(1, 2)"],
    );
    illegal(
        BAND,
        "band.interchange(1, 2)",
        &[
            "loop `j` reverses two statements",
            "and then `C[2][0] = B[1][1] + B[2][0]`",
            "the first one runs at j = 1, i = 1, and the second one, before it, at j = 0, i = 2",
        ],
    );
    illegal(
        BAND,
        "band.reverse(\"i\")",
        &["loop `i` reverses two statements"],
    );
    legal(BAND, &["band.reverse(\"j\")"]);
}

#[test]
fn bands_that_are_not_permutable_are_not_tiled() {
    illegal(
        BAND,
        "band.tile(4)",
        &["loop `j_o` reverses two statements", "reads B[1][4]"],
    );
    legal(
        BAND,
        &[
            "band.skew(\"j\", \"i\", 1).interchange(1, 2).stripmine(\"j\", 4).interchange(2, 3)",
            "band.stripmine(\"i\", 4).stripmine(\"j\", 4)",
        ],
    );
}

#[test]
fn carried_dependences_are_not_jammed() {
    illegal(
        BAND,
        "band.unroll_and_jam(\"i\", 2)",
        &["loop `j` reverses two statements"],
    );
    legal(
        BAND,
        &["band.unroll(\"i\", 2)", "band.unroll_and_jam(\"j\", 3)"],
    );
    // A block's statements of one kind come first, in order.
    legal(BAND, &["rows.unroll_and_jam(\"j\", 2)"]);
}

#[test]
fn diagonals_are_parallel_and_rows_are_not() {
    illegal(
        BAND,
        "band.parallelize(\"i\")",
        &["loop `i` cannot be parallelized: its iterations share B[1][1]"],
    );
    illegal(
        BAND,
        "band.skew(\"j\", \"i\", 1).interchange(1, 2).parallelize(\"i\")",
        &["loop `i` cannot be parallelized"],
    );
    legal(
        BAND,
        &[
            "band.parallelize(\"j\")",
            "band.skew(\"j\", \"i\", 1).interchange(1, 2).parallelize(\"j\")",
        ],
    );
}

#[test]
fn producers_are_not_fused_with_what_reads_ahead() {
    let script = "
        let A = tensor([50]);
        let B = eq(vmul(A, 2, [[i], ]), [i]);
        let C = eq(vadd(B, B, [[i], [i + 2]]), [i]);
        let both = fuse_outer(build(B), build(C), 0);
    ";
    illegal(
        script,
        "both.fuse(\"i\", \"i_2\")",
        &[
            "loop `i` reverses two statements",
            "`B[2] = A[2] * 2`",
            "`C[0] = B[0] + B[2]`",
        ],
    );
    illegal(
        script,
        "both.shift(\"i_2\", 1).fuse(\"i\", \"i_2\")",
        &["reads B[2]"],
    );
    legal(script, &["both.shift(\"i_2\", 2).fuse(\"i\", \"i_2\")"]);
}

#[test]
fn sums_are_not_reversed_unless_the_script_says_so() {
    let script = "
        let A = tensor([9]);
        let s = sum(A, [1]);
        let l = build(s);
        let least = min(A, [1]);
        let m = build(least);
    ";
    illegal(
        script,
        "l.reverse(1)",
        &[
            "the terms of a floating-point reduction",
            "both update s",
            "`s[] += A[0]`",
        ],
    );
    legal(script, &["m.reverse(1)"]);
    let allowed = format!("{script} reductions(\"reassoc\");");
    legal(&allowed, &["l.reverse(1)"]);
    // Under any policy, the initialization of a sum stays before it.
    illegal(
        &allowed,
        "l.reverse(1).parallelize(1)",
        &["loop `i1` cannot be parallelized", "both update s"],
    );
}

/// A recurrence of distance 4.
const RECURRENCE: &str = "
    let A = tensor([107]);
    let B = eq(vadd(A, A, [[i - 4], [i]]), [i], [107]);
    init(B, 0);
    let C = eq(vadd(B, B, [[i - 4], [i]]), [i], [107]);
    let l = fuse_outer(build(B), build(C), 1);
";

#[test]
fn recurrences_take_as_many_lanes_as_their_distance() {
    legal(
        RECURRENCE,
        &[
            "l.vectorize(\"i\", 2)",
            "l.vectorize(\"i\", 4)",
            "l.stripmine(\"i\", 4).vectorize(\"i_i\")",
            "l.stripmine(\"i\", 4).parallelize(\"i_i\")",
        ],
    );
    let shared = "loop `i` cannot be vectorized: its iterations share B[4]";
    illegal(
        RECURRENCE,
        "l.vectorize(\"i\", 8)",
        &[shared, "at i = 4", "at i = 8"],
    );
    illegal(RECURRENCE, "l.vectorize(\"i\")", &[shared]);
    illegal(
        RECURRENCE,
        "l.stripmine(\"i\", 5).vectorize(\"i_i\")",
        &["loop `i_i` cannot be vectorized"],
    );
    illegal(
        RECURRENCE,
        "l.parallelize(\"i\")",
        &["loop `i` cannot be parallelized"],
    );
}

#[test]
fn one_scalar_for_all_iterations_is_a_race_and_one_for_each_is_not() {
    let script = "
        let A = tensor([9, 7]);
        let total = sum(A, [1, 2]);
        let l = build(total);
        let D = eq(A * A, [i, j] -> [i, j]);
        let E = eq(D + A, [i, j] -> [i, j]);
        let both = fuse_outer(build(D), build(E), 2);
    ";
    for (marked, name) in [
        ("l.parallelize(1)", "i1"),
        ("l.vectorize(2)", "i2"),
        ("l.stripmine(1, 4).parallelize(\"i1_o\")", "i1_o"),
    ] {
        let fault = format!("loop `{name}` cannot be");
        illegal(script, marked, &[&fault, "its iterations share total"]);
    }
    legal(
        script,
        &[
            "both.localize(D).parallelize(1)",
            "both.localize(D).vectorize(2)",
        ],
    );
}

const MATMUL: &str = "
    let A = tensor([17, 23]);
    let B = tensor([23, 19]);
    let C = contract(A, B, [2, 1]);
    let l = build(C);
    let tiles = l.tile([4, 8, 5]).reorder([\"i3_o\", \"i3_i\", \"i1_i\", \"i2_i\"]);
    let close = l.interchange(2, 3).pack(\"i1\", A);
    let late = close.shift(\"A_pack_2\", 1);
";

#[test]
fn what_is_written_is_not_packed() {
    not_done(
        MATMUL,
        "tiles.pack(\"i3_o\", C)",
        "but would read a copy of it",
    );
    not_done(BAND, "rows.pack(\"i\", B)", "loop `i` writes B");
    legal(BAND, &["rows.pack(\"j_2\", B)", "rows.stage(\"i\", B)"]);
    illegal(
        BAND,
        "rows.stage(\"i\", B).parallelize(\"i\")",
        &["loop `i` cannot be parallelized: its iterations share B["],
    );
}

#[test]
fn buffers_are_filled_before_they_are_read() {
    // The fused part of the copy is one element ahead of what reads all of them.
    illegal(
        MATMUL,
        "l.pack(\"i1\", A).fuse(\"A_pack_2\", \"i2\")",
        &[
            "gets a wrong value from A_pack[1]",
            "it is set later or never",
        ],
    );
    illegal(
        MATMUL,
        "late.fuse(\"A_pack_2\", \"i3\")",
        &[
            "gets a wrong value from A_pack[0]",
            "it is set later or never",
        ],
    );
    legal(
        MATMUL,
        &[
            "close.fuse(\"A_pack_2\", \"i3\")",
            "l.pack(0, B).interchange(\"B_pack_1\", \"B_pack_2\").reverse(\"B_pack_1\")",
            "tiles.pack(\"i3_o\", B).stripmine(\"B_pack_2\", 3)",
        ],
    );
}

#[test]
fn threads_share_no_buffer_and_no_tile() {
    legal(
        MATMUL,
        &[
            "tiles.stage(\"i2_o\", C).parallelize(\"i2_o\")",
            "tiles.pack(\"i3_o\", B).parallelize(\"i1_o\")",
            "l.pack(0, B).parallelize(\"B_pack_1\").parallelize(\"i1\")",
        ],
    );
    // One tile of C around all iterations of the reduction.
    illegal(
        MATMUL,
        "tiles.stage(\"i2_o\", C).parallelize(\"i3_o\")",
        &["loop `i3_o` cannot be parallelized: its iterations share C_tile[0][0]"],
    );
    illegal(
        MATMUL,
        "tiles.pack(\"i3_o\", B).parallelize(\"i3_o\")",
        &["loop `i3_o` cannot be parallelized: its iterations share C[0][0]"],
    );
    // All of C is stored by each iteration.
    illegal(
        MATMUL,
        "tiles.reorder([\"i3_o\", \"i1_o\", \"i2_o\"]).stage(\"i3_o\", C).parallelize(\"i3_o\")",
        &["loop `i3_o` cannot be parallelized"],
    );
}
