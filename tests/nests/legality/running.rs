//! Running reductions in blocks.

use super::{illegal, legal};

/// A running sum, in blocks.
const SUMS: &str = "
    reductions(\"reassoc\");
    let X = tensor([40]);
    let R = tensor([40]);
    let plain = nest(`
        ${X}
        ${R}
        R[0] = X[0]
        for i in 1..40
            R[i] = R[i - 1] + X[i]
    `);
    let cut = plain.stripmine(\"i\", 8, \"cut\");
    let blocks = cut.scan(\"i_o\");
";

#[test]
fn sums_of_blocks_are_carried_on() {
    legal(
        SUMS,
        &[
            "plain.scan(\"i\")",
            "plain.stripmine(\"i\", 8).scan(\"i_o\")",
            "plain.stripmine(\"i\", 8, \"aligned\").scan(\"i_o\")",
            "plain.stripmine(\"i\", 12).stripmine(\"i_i\", 3).scan(\"i_o\")",
            "blocks.parallelize(\"i_o\").parallelize(\"i_o_2\")",
            "blocks.skew(\"i_i\", \"i_o\", -8).unroll_and_jam(\"i_o\", 2)",
            "blocks.reverse(\"i_o\").reverse(\"i_o_2\").reverse(\"i_i_2\")",
            "blocks.stripmine(\"i_i_2\", 4).rfactor(\"i_i_2_i\").vectorize(\"i_i_2_i\")",
            "blocks.unroll(\"i_o_3\").unroll(\"i_i\")",
        ],
    );
}

#[test]
fn they_need_a_policy() {
    let strict = SUMS.replace("reductions(\"reassoc\");", "");
    illegal(
        &strict,
        "blocks",
        &["another order", "R_i_o[0] holds the initial 0"],
    );
    for exact in ["R[i] = max(R[i - 1], X[i])", "R[i] = min(X[i], R[i - 1])"] {
        let script = strict.replace("R[i] = R[i - 1] + X[i]", exact);
        legal(&script, &["blocks"]);
    }
    let integers = strict.replace("tensor([40])", "tensor([40], \"i64\")");
    legal(&integers, &["blocks"]);
}

#[test]
fn wrong_orders_are_refused() {
    for wrong in [
        "blocks.reverse(\"i_o_3\")",
        "blocks.reverse(\"i_i\")",
        "blocks.parallelize(\"i_o_3\")",
        "blocks.parallelize(\"i_i\")",
        "blocks.parallelize(\"i_i_2\")",
        "blocks.move_before(\"i_o\", \"i_o_3\")",
    ] {
        illegal(SUMS, wrong, &["R"]);
    }
}

#[test]
fn scalars_run_as_well() {
    let script = "
        reductions(\"reassoc\");
        let X = tensor([5, 40]);
        let R = tensor([5, 40]);
        let s = tensor([]);
        let plain = nest(`
            ${X}
            ${R}
            ${s}
            for r in 0..5
                s[] = 1
                for i in 0..40
                    R[r][i] = X[r][i] / s[]
                    s[] += X[r][i]
        `);
        let blocks = plain.stripmine(\"i\", 7).scan(\"i_o\");
    ";
    legal(
        script,
        &[
            "blocks",
            "blocks.parallelize(\"i_o\").parallelize(\"i_o_2\")",
        ],
    );
    illegal(script, "blocks.reverse(\"i_o_3\")", &["s_i_o"]);
}
