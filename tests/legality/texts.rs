//! Programs that are written as text: factorizations and recurrences in triangles.

use super::{illegal, legal, not_done, string};

const LU: &str = "
    let A = tensor([12, 12]);
    let lu = nest(`
        ${A}
        for k in 0..12
          for i in k + 1..12
            A[i][k] /= A[k][k]
          for i in k + 1..12
            for j in k + 1..12
              A[i][j] -= A[i][k] * A[k][j]
    `);
";

#[test]
fn lu_is_what_its_text_says() {
    legal(
        LU,
        &[
            "lu",
            "lu.parallelize(\"i\").parallelize(\"i_2\").vectorize(\"j\")",
            "lu.interchange(\"i_2\", \"j\")",
            "lu.fuse(\"i\", \"i_2\")",
            "lu.reverse(\"i\")",
            "lu.stripmine(\"j\", 5)",
            "lu.at(\"i_2\", |l| l.tile([4, 4]))",
            "lu.stripmine(\"k\", 4)",
            "lu.peel(\"k\", 2, \"front\")",
            "lu.fuse(\"i\", \"i_2\").interchange(\"k\", \"i\")",
        ],
    );
    illegal(
        LU,
        "lu.reverse(\"k\")",
        &["loop `k` reverses", "A[2][1] /= A[1][1]"],
    );
    illegal(
        LU,
        "lu.parallelize(\"k\")",
        &["loop `k` cannot be parallelized"],
    );
    illegal(
        LU,
        "lu.distribute(\"k\")",
        &["two statements that depend on each other are reversed"],
    );
    not_done(LU, "lu.interchange(\"k\", \"i\")", "not perfect");
}

#[test]
fn loops_that_a_text_calls_parallel_are_proved() {
    let text = |mode: &str| {
        format!("let l = nest(`\n f64 A[9]\n {mode}for i in 1..9\n   A[i] += A[i - 1]\n`);")
    };
    legal(&text(""), &["l"]);
    for mode in ["parallel ", "vector "] {
        illegal(&text(mode), "l", &["its iterations share A[1]"]);
    }
    let tiles = "let l = nest(`\n f64 A[9]\n parallel for i in 0..9\n   A[i] = 2 * A[i]\n`);";
    legal(tiles, &["l", "l.tile(4)"]);
}

#[test]
fn local_tensors_are_not_results() {
    let sums = "
        let A = tensor([6, 7]);
        let s = tensor([6]);
        let l = nest(`
            ${A}
            ${s}
            for i in 0..6
              local f64 t
              fill t = 0
              for k in 0..7
                t += A[i][k]
              s[i] = t / 7
        `);";
    legal(sums, &["l", "l.parallelize(\"i\")"]);
    illegal(sums, "l.parallelize(\"k\")", &["both update t"]);
    // Of the whole program, one for all iterations: threads would share it.
    let shared = sums.replace(
        "for i in 0..6\n              local f64 t",
        "local f64 t\n            for i in 0..6",
    );
    legal(&shared, &["l"]);
    illegal(&shared, "l.parallelize(\"i\")", &["share t"]);
    let declared = string(sums, "`${`${codegen(l)}`.contains(\"RESTRICT t\")}`");
    assert_eq!(declared, "false");
}

#[test]
fn paths_begin_with_the_text() {
    let path = string(LU, "`${path(lu.reverse(\"i\"))}`");
    assert!(
        path.contains("nest(\"") && path.contains(".reverse(\"i\")"),
        "{path}"
    );
    let again = string(LU, "`${undo(lu.reverse(\"i\"), 1) == lu}`");
    assert_eq!(again, "true");
}
