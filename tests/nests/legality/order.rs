//! Statements in another order.

use super::{illegal, legal};

const MATMUL: &str = "
    let A = tensor([17, 23]);
    let B = tensor([23, 19]);
    let C = contract(A, B, [2, 1]);
    let l = build(C);
";

#[test]
fn matrix_multiplication_takes_any_order_that_keeps_its_sums() {
    legal(
        MATMUL,
        &[
            "l",
            "l.interchange(1, 2)",
            "l.interchange(2, 3)",
            "l.reorder([\"i3\", \"i2\", \"i1\"])",
            "l.tile(4)",
            "l.tile(4).reorder([\"i3_o\", \"i1_o\", \"i2_o\", \"i3_i\"])",
            "l.reverse(1).reverse(2)",
            "l.unroll(\"i3\", 5)",
            "l.stripmine(\"i1\", 4, \"cut\").unroll(\"i1_i\")",
            "l.unroll_and_jam(\"i1\", 4)",
            "l.place_init(1)",
            "l.place_init(2).parallelize(1).vectorize(2)",
            "l.skew(3, 1, 2)",
            "l.skew(2, 1, 1).interchange(1, 2)",
            "l.shift(2, -7)",
            "l.peel(2, 3, \"front\").peel(\"i2\", 2, \"back\")",
            "l.at(2, |sub| sub.stripmine(2, 5).unroll(2))",
        ],
    );
    illegal(
        MATMUL,
        "l.reverse(\"i3\")",
        &[
            "the terms of a floating-point reduction are combined in another order",
            "first has to run `C[0][0] += A[0][0] * B[0][0]` and then `C[0][0] += A[0][1] * B[1][0]`",
            "because both update C[0][0]",
            "the first one runs at i1 = 0, i2 = 0, i3 = 22, and the second one, before it, at i1 = 0, i2 = 0, i3 = 21",
        ],
    );
}

#[test]
fn the_order_of_sums_of_integers_does_not_matter() {
    let script = "
        let a = tensor([9, 7], \"i32\");
        let s = sum(a, [2]);
        let l = build(s);
        let f = tensor([9, 7]);
        let greatest = max(f, [2]);
        let m = build(greatest);
    ";
    legal(script, &["l.reverse(2)", "m.reverse(2)"]);
}

/// Two passes: each needs what lies above and to the right of it.
const PASSES: &str = "
    let A = tensor([12, 11]);
    let B = eq(vadd(A, A, [[i - 1, j], [i, j + 1]]), [i, j]);
    init(B, 0);
    let C = eq(vadd(B, B, [[i - 1, j], [i, j + 1]]), [i, j]);
    let passes = fuse_outer(build(B), build(C), 0);
";

#[test]
fn producers_and_consumers_fuse_where_the_distance_allows() {
    legal(
        PASSES,
        &[
            "passes",
            "passes.fuse(\"i\", \"i_2\")",
            "passes.shift(\"i_2\", 1).fuse(\"i\", \"i_2\")",
        ],
    );
    illegal(
        PASSES,
        "passes.fuse(\"i\", \"i_2\").fuse(\"j\", \"j_2\")",
        &[
            "loop `j` reverses two statements",
            "because the second one reads B[1][1]",
        ],
    );
    illegal(
        PASSES,
        "passes.shift(\"i\", 3).fuse(\"i\", \"i_2\")",
        &[
            "two statements that depend on each other are reversed",
            "because the second one reads B[",
        ],
    );
}

#[test]
fn nests_of_a_program_stay_in_order() {
    let script = "
        let A = tensor([6]);
        let B = eq(vadd(A, 1, [[i], ]), [i]);
        let b = build(B);
        let B = eq(vmul(A, 2, [[i], ]), [i]);
        let again = build(B);
        let both = fuse_outer(b, again, 0);
    ";
    legal(script, &["[b, again]", "both", "both.fuse(\"i\", \"i_2\")"]);
    illegal(
        script,
        "both.shift(\"i\", 2).fuse(\"i\", \"i_2\")",
        &["because both set B[0]"],
    );
}

#[test]
fn unrolled_loops_take_no_longer() {
    let script = "
        let A = tensor([64, 64]);
        let B = tensor([64, 64]);
        let C = contract(A, B, [2, 1]);
        let l = build(C).tile([16, 16, 16]).reorder([\"i2_i\", \"i1_i\", \"i3_i\"]);
    ";
    legal(script, &["l.unroll(\"i3_i\").unroll(\"i1_i\")"]);
    illegal(
        script,
        "l.reverse(\"i3_i\").unroll(\"i3_i\").unroll(\"i1_i\")",
        &[
            "the terms of a floating-point reduction",
            "because both update C[0][0]",
        ],
    );
}

/// Sums of neighbors at two distances in a tensor with a border.
const PADDED: &str = "
    let A = tensor([14]);
    let P = padded(A, [1]);
    let B = eq(vadd(P, P, [[i], [i + 1]]), [i]);
    let near = fuse_outer(build(P), build(B), 0);
    let C = eq(vadd(P, P, [[i], [i + 2]]), [i]);
    let far = fuse_outer(build(P), build(C), 0);
";

#[test]
fn borders_are_set_before_what_they_surround() {
    legal(
        PADDED,
        &[
            "near",
            "near.reverse(\"i1\").stripmine(\"i1\", 4).vectorize(\"i1_i\")",
            "near.peel(\"i\", 1, \"back\").fuse(\"i1\", \"i\")",
            "far.shift(\"i1\", 1).shift(\"i\", 1)",
        ],
    );
    illegal(
        PADDED,
        "far.fuse(\"i1\", \"i\")",
        &[
            "first has to run `P[2] = A[1]` and then `C[0] = P[0] + P[2]`",
            "because the second one reads P[2], which the first one sets",
        ],
    );
}
