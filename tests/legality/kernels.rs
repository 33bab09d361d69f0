//! Kernels with several statements: what textbooks do to them is legal, and what they warn of is
//! not. Time steps are assignments, one after the other.

use super::classics::{FDTD_2D, GEMVER, HEAT_3D, JACOBI_2D};
use super::{illegal, legal};

#[test]
fn jacobi_2d() {
    let script = &format!("{JACOBI_2D} let rows = steps.shift(\"i_2\", 1).fuse(\"i\", \"i_2\");");
    legal(
        script,
        &[
            "[first, second]",
            "[first.tile(4).parallelize(\"i_o\").vectorize(\"j_i\"), second.parallelize(\"i\")]",
            "first.reverse(\"i\").interchange(1, 2)",
            "steps.parallelize(\"i\").vectorize(\"j_2\")",
            "rows",
            "rows.vectorize(\"j\").vectorize(\"j_2\")",
            "rows.fuse(\"j\", \"j_2\")",
            "rows.shift(\"j_2\", 1).fuse(\"j\", \"j_2\")",
            "rows.stripmine(\"i\", 4).distribute(\"i_i\").parallelize(\"i_i\").parallelize(\"i_i_2\")",
        ],
    );
    illegal(
        script,
        "steps.fuse(\"i\", \"i_2\")",
        &[
            "loop `i` reverses two statements",
            "the second one reads B[2][1]",
        ],
    );
    illegal(
        script,
        "rows.parallelize(\"i\")",
        &["loop `i` cannot be parallelized"],
    );
    illegal(
        script,
        "rows.reverse(\"i\")",
        &["loop `i` reverses two statements"],
    );
}

/// Four steps between two tensors, the second one a row behind the first one.
#[test]
fn jacobi_2d_in_several_steps() {
    let script = "
        fn step(from, to) {
            let star = [[0, 0], [0, -1], [0, 1], [-1, 0], [1, 0]];
            vstencil(from, star, [1, 1, 1, 1, 1]) * 0.2
        }
        let A = tensor([9, 8]);
        let B = tensor([9, 8]);
        let plan = ();
        let nests = [];
        for t in 0..4 {
            let nest = ();
            if t % 2 == 0 {
                B = eq(step(A, B), [i, j] -> [i, j], [9, 8]);
                nest = build(B);
            } else {
                A = eq(step(B, A), [i, j] -> [i, j], [9, 8]);
                nest = build(A);
            }
            nests.push(nest);
            if t == 0 {
                plan = nest;
            } else {
                plan = fuse_outer(plan, nest, 0);
            }
            if t == 1 {
                plan = plan.shift(\"i_2\", 1).fuse(\"i\", \"i_2\");
            }
        }
    ";
    legal(script, &["nests", "plan"]);
    illegal(
        script,
        "plan.parallelize(\"i\")",
        &["loop `i` cannot be parallelized"],
    );
}

#[test]
fn heat_3d() {
    let script = &format!("{HEAT_3D} let planes = steps.shift(\"i_2\", 1).fuse(\"i\", \"i_2\");");
    legal(
        script,
        &[
            "first.tile(3).parallelize(\"i_o\").vectorize(\"k_i\")",
            "planes.parallelize(\"j\").parallelize(\"j_2\").vectorize(\"k\")",
            "planes.shift(\"j_2\", 1).fuse(\"j\", \"j_2\").shift(\"k_2\", 1).fuse(\"k\", \"k_2\")",
        ],
    );
    illegal(
        script,
        "steps.fuse(\"i\", \"i_2\")",
        &["loop `i` reverses two statements"],
    );
    illegal(
        script,
        "planes.parallelize(\"i\")",
        &["loop `i` cannot be parallelized"],
    );
}

#[test]
fn fdtd_2d() {
    legal(
        FDTD_2D,
        &[
            "[first, second, third]",
            "fields.fuse(\"i\", \"i_2\").parallelize(\"i\")",
            "fields.fuse(\"i\", \"i_2\").fuse(\"j\", \"j_2\")",
            "steps.parallelize(\"i\").parallelize(\"i_2\").parallelize(\"i_3\").vectorize(\"j_3\")",
            "steps.fuse(\"i\", \"i_2\").shift(\"i_3\", 1).fuse(\"i\", \"i_3\")",
            "third.tile(4).parallelize(1)",
        ],
    );
    illegal(
        FDTD_2D,
        "steps.fuse(\"i\", \"i_2\").fuse(\"i\", \"i_3\")",
        &["reads ey[1][0]"],
    );
    illegal(
        FDTD_2D,
        "steps.fuse(\"i\", \"i_2\").shift(\"i_3\", 1).fuse(\"i\", \"i_3\").parallelize(\"i\")",
        &["loop `i` cannot be parallelized"],
    );
}

#[test]
fn gemver() {
    let script = &format!(
        "{GEMVER}
        let last = build(w);
        let both = fuse_outer(update, product.interchange(1, 2), 2);"
    );
    legal(
        script,
        &[
            "[update, product, build(x), last]",
            "both",
            "both.tile(5)",
            "both.vectorize(\"j\")",
            "both.interchange(1, 2).parallelize(\"j\")",
            "[both, build(x), last.parallelize(1)]",
        ],
    );
    illegal(
        script,
        "fuse_outer(update, product, 2)",
        &["loop `i` reverses two statements", "reads A[1][0]"],
    );
    illegal(
        script,
        "both.parallelize(\"i\")",
        &["loop `i` cannot be parallelized: its iterations share t[0]"],
    );
    illegal(
        script,
        "[both, build(x), last.vectorize(2)]",
        &["loop `j` cannot be vectorized: its iterations share w[0]"],
    );
}

#[test]
fn two_matrix_products() {
    let script = "
        let A = tensor([12, 13]);
        let B = tensor([13, 14]);
        let C = tensor([14, 15]);
        let T = contract(A, B, [2, 1]);
        let D = contract(T, C, [2, 1]);
        let t = build(T);
        let d = build(D);
        let rows = fuse_outer(t, d, 1);
    ";
    legal(
        script,
        &[
            "[t.tile(4), d.interchange(2, 3).vectorize(3)]",
            "rows",
            "rows.parallelize(\"i1\")",
            "rows.localize(T).parallelize(\"i1\")",
            "fuse_outer(t, d.interchange(2, 3), 2)",
        ],
    );
    // A column of T is complete before it is used, and an element of it is not.
    illegal(
        script,
        "fuse_outer(t, d.interchange(2, 3), 2).fuse(\"i3\", \"i2_2\")",
        &["reads T[0][0]"],
    );
    illegal(script, "rows.fuse(\"i2\", \"i2_2\")", &["reads T[0][1]"]);
}

#[test]
fn mvt() {
    let script = "
        let A = tensor([12, 12]);
        let y1 = tensor([12]);
        let y2 = tensor([12]);
        let x1 = eq(vsum(vmul(A, y1, [[i, j], [j]]), [j]), [i]);
        let x2 = eq(vsum(vmul(A, y2, [[j, i], [j]]), [j]), [i]);
        let a = build(x1);
        let b = build(x2);
        let both = fuse_outer(a, b.interchange(1, 2), 2);
    ";
    legal(
        script,
        &[
            "[a.parallelize(1), b.parallelize(1)]",
            "both",
            "both.tile(5)",
            "both.unroll_and_jam(\"i\", 2)",
        ],
    );
    for name in ["i", "j"] {
        let marked = format!("both.parallelize(\"{name}\")");
        let fault = format!("loop `{name}` cannot be parallelized: its iterations share");
        illegal(script, &marked, &[&fault]);
    }
}
