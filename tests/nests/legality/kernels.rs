//! Kernels with several statements: the transformations of textbooks are legal, and the mistakes
//! that they warn of are refused. Time steps are assignments, one after the other.

use super::classics::{FDTD_2D, GEMVER, HEAT_3D, JACOBI_2D};
use super::dialog::{shown, string};
use super::{illegal, legal, not_done, verdict};
use teml::interp::symbolic::{Answer, Policy, compare};

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
        init(B, 0);
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

/// Where the last tiles use less, their initialization does too: no box of constant size is left.
#[test]
fn initializations_of_remainders() {
    let script = "
        let A = tensor([20, 30], \"i64\");
        let B = tensor([30, 25], \"i64\");
        let C = einsum(\"ik,kj->ij\", A, B);
        let l = build(C);";
    let plans = [
        "l.tile([\"i\", \"j\", \"k\"], [10, 20, 8]).place_init(\"j_o\")",
        "l.tile([\"i\", \"j\", \"k\"], [8, 20, 8]).place_init(\"j_o\").parallelize(\"i_o\")",
        "l.tile([\"i\", \"j\", \"k\"], [8, 20, 8]).place_init(\"i_o\")",
        "l.stripmine(\"j\", 24, \"cut\").place_init([\"j_o\", \"j_r\"])",
        "l.stripmine(\"j\", 7).stripmine(\"j_i\", 3).place_init(\"j_i_o\")",
    ];
    legal(script, &plans);
    for plan in plans {
        let nest = super::dialog::nest(script, plan);
        let answer = compare(&[nest], Policy::Strict, &|| false);
        assert_eq!(answer, Ok(Answer::Equal { elements: 500 }), "{plan}");
    }
    not_done(
        script,
        "l.tile([\"i\", \"j\", \"k\"], [8, 20, 8]).place_init(\"k_o\")",
        "share elements of C",
    );
}

/// Letters of `einsum` are its own: tensors may have the same names, and so may variables.
#[test]
fn letters_and_tensors_may_share_names() {
    let script = "
        let k = 3;
        let a = tensor([4, 8, 9], \"i64\");
        let b = tensor([4, 9, 7], \"i64\");
        let j = einsum(\"bij,bjk->bik\", a, b);
        let c = j;
        let a_t = einsum(\"bij->bji\", a);";
    legal(
        script,
        &[
            "build(c)",
            "build(c).parallelize(\"b\").vectorize(\"k\")",
            "[build(c), build(a_t)]",
        ],
    );
    let code = string(script, "`${codegen(build(c).parallelize(\"b\"))}`");
    assert!(
        code.contains("// `for b` is spelled `b_2`: a tensor has the name"),
        "{code}"
    );
    let loops = [
        "for (int64_t b_2 = 0; b_2 < 4; b_2++)",
        "for (int64_t j_2 = 0; j_2 < 9; j_2++)",
    ];
    assert!(loops.iter().all(|l| code.contains(l)), "{code}");
}

/// Codegen accepts the nests that `check` calls legal, and both give the same reasons.
#[test]
fn check_says_what_codegen_does() {
    let script = "
        let A = tensor([4]);
        let B = eq(A, [i] -> [i]);
        let first = build(B);
        A = tensor([5]);
        let C = eq(A, [i] -> [i]);
        let second = build(C);";
    let said = verdict(script, "[first, second]");
    let refused = shown(script, "codegen([first, second])").unwrap_err();
    assert!(
        said.starts_with("refused: two tensors are named A"),
        "{said}"
    );
    assert!(refused.contains("two tensors are named A"), "{refused}");
    assert_eq!(string(script, "`${check([first, second]).legal}`"), "false");
}
