//! Values that pass through local tensors, are computed again, or are combined of partial results.

use super::{illegal, legal, verdict};

const MATMUL: &str = "
    let A = tensor([17, 23]);
    let B = tensor([23, 19]);
    let C = contract(A, B, [2, 1]);
    let l = build(C);
    let tiles = l.tile([4, 8, 5]).reorder([\"i3_o\", \"i3_i\", \"i1_i\", \"i2_i\"]);
";

#[test]
fn packed_and_staged_blocks_hold_what_the_tensors_do() {
    legal(
        MATMUL,
        &[
            "l.pack(0, B, [2, 1])",
            "l.pack(1, A)",
            "tiles.pack(\"i2_o\", A).pack(\"i3_o\", B, [2, 1])",
            "tiles.stage(\"i2_o\", C)",
            "tiles.pack(\"i2_o\", A).stage(\"i2_o\", C).parallelize(\"i1_o\").vectorize(\"i2_i\")",
            "l.reorder([\"i1\", \"i2\", \"i3\"]).place_init(\"i2\").stage(\"i2\", C)",
            "l.pack(0, B).pack(\"i1\", \"B_pack\")",
        ],
    );
}

#[test]
fn what_is_done_to_buffers_later_can_be_wrong() {
    // The copy has to be done before it is read.
    illegal(
        MATMUL,
        "l.pack(0, B).skew(\"B_pack_2\", \"B_pack_1\", 1).shift(\"B_pack_1\", 0).peel(\"B_pack_1\", 1, \"front\").reverse(\"i3\")",
        &["where C[0][0] holds the initial 0"],
    );
}

const PASSES: &str = "
    let A = tensor([12, 11]);
    let B = eq(vadd(A, A, [[i - 1, j], [i, j + 1]]), [i, j]);
    init(B, 0);
    let C = eq(vadd(B, B, [[i - 1, j], [i, j + 1]]), [i, j]);
    let b = build(B);
    let c = build(C);
";

#[test]
fn parts_of_a_loop_set_a_tensor_together() {
    let script = "
        let A = tensor([12, 11]);
        let B = eq(vmul(A, 2, [[i, j], ]), [i, j]);
        let C = eq(vmul(B, A, [[j, i], [i, j]]), [i, j], #{i: 0..11, j: 0..11});
        let parts = build(B).peel(1, 3, \"front\").peel(\"i\", 2, \"back\");
    ";
    legal(script, &["parts.fuse_outer(build(C), 0).localize(B)"]);
}

#[test]
fn producers_are_computed_where_they_are_read() {
    legal(
        "
        let A = tensor([12, 11]);
        let B = eq(vmul(A, 2, [[i, j], ]), [i, j]);
        let C = eq(vadd(B, B, [[i - 1, j], [i, j + 1]]), [i, j]);
        let b = build(B);
        let c = build(C);
        ",
        &[
            "b.inline(c)",
            "b.inline(c).tile(4).parallelize(1)",
            "b.compute_at(c, \"i\")",
            "b.compute_at(c.tile(4), \"j_o\").parallelize(\"i_o\")",
            "fuse_outer(b, c, 0).shift(\"i_2\", 1)",
        ],
    );
    assert_eq!(verdict(PASSES, "[b, c]"), "legal");
}

#[test]
fn consumers_are_computed_where_all_is_finished() {
    let script = "
        let A = tensor([17, 23]);
        let B = tensor([23, 19]);
        let T = contract(A, B, [2, 1]);
        let x = tensor([19]);
        let C = mul(T, x, [[i, j], [j]] -> [i, j]);
        let l = build(T).tile([4, 8, 5]).reorder([\"i3_o\", \"i3_i\", \"i1_i\", \"i2_i\"]);
        let last = build(T).reorder([\"i3\", \"i1\", \"i2\"]).peel(\"i3\", 1, \"back\");
        let parts = last.peel(\"i1_2\", 3, \"back\");
        let c = build(C);
    ";
    legal(
        script,
        &[
            "l.reverse_compute_at(c, 0)",
            "l.reverse_compute_at(c, \"i1_o\").parallelize(\"i1_o\")",
            "l.reverse_compute_at(c.vectorize(\"j\"), \"i2_o\").stage(\"i2_o\", T)",
            "l.reverse_compute_at(c, \"i2_o\").reuse_buffer(T, C).stage(\"i2_o\", C)",
            "last.reverse_compute_at(c, \"i2_2\").reuse_buffer(T, C)",
            "parts.reverse_compute_at(c, [\"i1_2\", \"i1_2_b\"]).reuse_buffer(T, C)",
        ],
    );
    illegal(
        script,
        "parts.reverse_compute_at(c, \"i1_2\")",
        &["`C[14][0] = T[14][0] * x[0]` is never executed"],
    );
    // The first block of terms is followed by others.
    let first = "last.peel(\"i3\", 1, \"front\").reverse_compute_at(c, \"i1_3\")";
    illegal(script, first, &["C[0][0]", "T[0][0]"]);
    // A tensor that is read again is overwritten too early.
    let again = format!("{script} let D = mul(T, x, [[i, j], [j]] -> [i, j]);");
    illegal(
        &again,
        "fuse_outer(l.reverse_compute_at(c, \"i2_o\"), build(D), 0).reuse_buffer(T, C)",
        &["D[0][0] = C[0][0] * x[0]"],
    );
}

/// A copy of a loop that has no terms combines an empty slot.
#[test]
fn partial_results_without_terms() {
    let script = "
        let A = tensor([3], \"i64\");
        let y = sum(A, [1]);
        let l = build(y).stripmine(\"i1\", 1, \"guard\").split_at(\"i1_i\", \"1\").rfactor(\"i1_i\");
    ";
    legal(script, &["l", "l.unroll(\"i1_o\")"]);
    // Of many slots, a size decides which ones stay empty.
    let many = "
        let A = tensor([size(\"N\")], \"i64\");
        let s = sum(A);
        let l = build(s).stripmine(\"i1\", 262144).stripmine(\"i1_i\", 1024).stripmine(\"i1_i_i\", 4);
        let l = l.reorder([\"i1_i_o\", \"i1_i_i_o\", \"i1_o\"]).rfactor(\"i1_i_o\");
        let l = l.stage(\"i1_i_o\", \"s_i1_i_o\").rfactor(\"i1_i_i_o\");
    ";
    legal(
        many,
        &["l", "l.stripmine(\"i1_i_o_2\", 16).rfactor(\"i1_i_o_2_i\")"],
    );
    let early = "l.place_init(\"i1_i_o\", \"s_i1_i_o\")";
    illegal(many, early, &["should hold the initial 0", "at N = 0"]);
}

const SUMS: &str = "
    let A = tensor([9, 30]);
    let y = sum(A, [2]);
    let l = build(y).stripmine(2, 8);
";

#[test]
fn partial_results_need_a_policy() {
    let factored = "l.rfactor(\"i2_i\")";
    illegal(
        SUMS,
        factored,
        &["the terms of a floating-point reduction are combined in another order"],
    );
    let allowed = format!("{SUMS} reductions(\"reassoc\");");
    legal(
        &allowed,
        &[
            factored,
            "l.rfactor(\"i2_i\").vectorize(\"i2_i\")",
            "l.reorder([\"i2_o\", \"i1\"]).rfactor(\"i2_o\").parallelize(\"i2_o\")",
            "l.reverse(\"i2_o\")",
            "l.rfactor(\"i2_o\").rfactor(\"i2_i\")",
        ],
    );
    let integers = SUMS.replace("[9, 30]", "[9, 30], \"i64\"");
    legal(&integers, &[factored]);
}

/// Between the rows that a step leaves out, nothing is combined.
#[test]
fn partial_results_of_every_second_row() {
    let rows = |range: &str| {
        format!(
            "let A = tensor([9, 30], \"i64\");
             let y = eq(vsum(vat(A, [i, k]), [k]), [i], #{{i: {range}}});
             let l = build(y).interchange(\"i\", \"k\");"
        )
    };
    for range in ["0..9 by 2", "3..9 by 3", "8..9", "2..7"] {
        legal(
            &rows(range),
            &["l.rfactor(\"k\")", "l.rfactor(\"k\").parallelize(\"k\")"],
        );
    }
}

#[test]
fn temporaries_shrink() {
    let script = "
        let A = tensor([12, 11]);
        let D = eq(vmul(A, 2, [[i, j], ]), [i, j]);
        let E = eq(vadd(D, A, [[i, j], [i, j]]), [i, j]);
        let both = fuse_outer(build(D), build(E), 2);
    ";
    legal(
        script,
        &[
            "both.localize(D)",
            "both.localize(D).tile(4).parallelize(1).vectorize(\"j_i\")",
        ],
    );
}
