//! Iterations at the same time.

use super::{illegal, legal};

const SUMS: &str = "
    let A = tensor([9, 8]);
    let x = tensor([8]);
    let y = eq(vsum(vmul(A, x, [[i, j], [j]]), [j]), [i]);
    let l = build(y);
    let s = sum(x, [1]);
    let total = build(s);
";

#[test]
fn reductions_are_carried() {
    legal(
        SUMS,
        &[
            "l.parallelize(1)",
            "l.parallelize(1).interchange(1, 2)",
            "l.interchange(1, 2).vectorize(2)",
        ],
    );
    illegal(
        SUMS,
        "l.parallelize(2)",
        &[
            "loop `j` cannot be parallelized: its iterations share y[0]",
            "one thread runs `y[0] += A[0][0] * x[0]`",
            "while another one runs `y[0] += A[0][1] * x[1]`",
            "the first one at i = 0, j = 0, and the second one at i = 0, j = 1",
        ],
    );
    illegal(SUMS, "total.parallelize(1)", &["both update s"]);
    illegal(
        SUMS,
        "l.parallelize(1, #{collapse: 2})",
        &["loop `j` cannot be parallelized"],
    );
}

#[test]
fn blocks_are_apart() {
    let script = "
        let A = tensor([50]);
        let B = eq(A, [i] -> [i]);
        let l = build(B);
    ";
    legal(
        script,
        &[
            "l.stripmine(1, 7).parallelize(1).vectorize(2)",
            "l.stripmine(1, 7, \"cut\").parallelize(\"i_o\").vectorize(\"i_i\").parallelize(\"i_r\")",
            "l.unroll(1, 4).parallelize(\"i_o\")",
        ],
    );
}

/// Copies of a loop may run in different modes, and each is proved.
#[test]
fn copies_with_other_lanes_are_other_loops() {
    let script = "
        let l = nest(`
            f64 A[2][12]
            for i in 0..2
              for j in 2..12
                A[i][j] += A[i][j - 2]
        `).unroll(\"i\");
    ";
    legal(script, &["l.vectorize(\"j_u0\", 2).vectorize(\"j_u1\", 2)"]);
    let two_and_eight = "l.vectorize(\"j_u0\", 2).vectorize(\"j_u1\", 8)";
    illegal(script, two_and_eight, &["loop `j_u1` cannot be vectorized"]);
}
