//! Programs that are written as text: factorizations and recurrences in triangles.

use super::dialog::nest as dialog_nest;
use super::{illegal, legal, not_done, string};
use std::sync::Arc;
use teml::interp::symbolic::{Answer, Policy, compare};
use teml::ir::{BinaryOp, Loop, Stmt, Tree};
use teml::legality::{self, Reductions};

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

/// The partial results of a difference are added up, and subtracted in the end.
#[test]
fn partial_results_of_differences() {
    let script = |elem: &str| {
        format!(
            "let p = nest(`
               {elem} f[4][5], a[4][5][6]
               for z in 0..6
                 for i in 0..4
                   for j in 0..5
                     f[i][j] -= a[i][j][z] * 5
             `);"
        )
    };
    let factored = [
        "p.rfactor(\"z\")",
        "p.rfactor(\"z\").parallelize(\"z\")",
        "p.stripmine(\"z\", 4).rfactor(\"z_o\").parallelize(\"z_o\")",
        "p.reorder([\"i\", \"j\", \"z\"]).rfactor(\"z\").vectorize(\"z\")",
    ];
    legal(&script("i64"), &factored);
    for plan in factored {
        let nests = [dialog_nest(&script("i64"), plan)];
        let answer = compare(&nests, Policy::Strict, &|| false);
        assert_eq!(answer, Ok(Answer::Equal { elements: 20 }), "{plan}");
    }
    illegal(
        &script("f64"),
        factored[1],
        &["the terms of a floating-point reduction are combined in another order"],
    );
    let allowed = format!("{} reductions(\"reassoc\");", script("f64"));
    legal(&allowed, &factored);
}

/// A sum in place of a difference is wrong at any position.
#[test]
fn sums_are_no_differences() {
    let script = "
        let p = nest(`
          i64 f[4], a[4][6]
          for z in 0..6
            for i in 0..4
              f[i] -= a[i][z]
        `);";
    let factored = dialog_nest(script, "p.rfactor(\"z\")");
    // The partial results, then what combines them.
    for (plan, at) in [("p", 0), ("p.rfactor(\"z\")", 0), ("p.rfactor(\"z\")", 1)] {
        let nest = dialog_nest(script, plan);
        let mut number = 0;
        let trees = nest.trees().iter().map(|t| opposed(t, at, &mut number));
        let damaged = nest.with_trees(trees.collect());
        assert_ne!(damaged, nest);
        let verdict = legality::check(std::slice::from_ref(&damaged), Reductions::Strict);
        assert_ne!(verdict, legality::Verdict::Legal, "{damaged}");
        let answer = compare(&[damaged], Policy::Strict, &|| false);
        assert!(matches!(answer, Ok(Answer::Differs(_))), "{answer:?}");
    }
    assert_eq!(
        legality::check(&[factored], Reductions::Strict),
        legality::Verdict::Legal
    );
}

/// The tree, with addition and subtraction swapped in the statement of this number.
fn opposed(tree: &Tree, at: usize, number: &mut usize) -> Tree {
    match tree {
        Tree::Loop(l) => Tree::of_loop(Loop {
            body: l.body.iter().map(|t| opposed(t, at, number)).collect(),
            ..(**l).clone()
        }),
        Tree::Stmt(s) => {
            *number += 1;
            let update = match s.update {
                Some(BinaryOp::Sub) => Some(BinaryOp::Add),
                _ => Some(BinaryOp::Sub),
            };
            if *number == at + 1 {
                Tree::Stmt(Arc::new(Stmt {
                    update,
                    ..(**s).clone()
                }))
            } else {
                tree.clone()
            }
        }
        other => other.clone(),
    }
}

/// `v = e + v` is an update, which may be reordered and have partial results.
#[test]
fn statements_that_combine_their_target_are_updates() {
    let text = |elem: &str, statement: &str| {
        format!(
            "let p = nest(`\n {elem} s[4], x[4][6]\n for k in 0..6\n  for i in 0..4\n   {statement}\n`);"
        )
    };
    for (elem, statement, update) in [
        ("f64", "s[i] = x[i][k] + s[i]", "s[i] += x[i][k]"),
        ("f64", "s[i] = s[i] + x[i][k]", "s[i] += x[i][k]"),
        ("f64", "s[i] = s[i] - 2 * x[i][k]", "s[i] -= 2 * x[i][k]"),
        ("f64", "s[i] = x[i][k] * s[i]", "s[i] *= x[i][k]"),
        ("f64", "s[i] = s[i] / x[i][k]", "s[i] /= x[i][k]"),
        ("f64", "s[i] = max(x[i][k], s[i])", "s[i] max= x[i][k]"),
        (
            "f32",
            "s[i] = min(min(s[i], x[i][k]), x[i][0])",
            "s[i] min= min(x[i][k], x[i][0])",
        ),
        (
            "i64",
            "s[i] = s[i] - x[i][k] + x[i][0]",
            "s[i] -= x[i][k] - x[i][0]",
        ),
        ("i32", "s[i] = 3 + (x[i][k] + s[i])", "s[i] += 3 + x[i][k]"),
        // Other elements, and sums that would be rounded in another place.
        (
            "f64",
            "s[i] = s[i] + x[i][k] + 1",
            "s[i] = s[i] + x[i][k] + 1",
        ),
        ("f64", "s[i] = x[i][k] - s[i]", "s[i] = x[i][k] - s[i]"),
        (
            "f64",
            "s[i] = s[3 - i] + x[i][k]",
            "s[i] = s[3 - i] + x[i][k]",
        ),
    ] {
        let nest = dialog_nest(&text(elem, statement), "p");
        let shown = nest.to_string();
        assert_eq!(shown.lines().last().map(str::trim), Some(update));
    }
    let reversed = |statement: &str| text("f64", statement);
    legal(
        &format!(
            "{} reductions(\"reassoc\");",
            reversed("s[i] = x[i][k] + s[i]")
        ),
        &["p.rfactor(\"k\").parallelize(\"k\")"],
    );
    legal(
        &reversed("s[i] = max(x[i][k], s[i])"),
        &["p.rfactor(\"k\").parallelize(\"k\")"],
    );
}

/// Loops with a step and several lower bounds are proved like others.
#[test]
fn steps_from_the_greatest_of_several_bounds() {
    let script = "
        let p = nest(`
          i64 B[17], A[17]
          for m in 2..7
            for k in max(4, 2*m - 3, 9 - m)..13 step 3
              B[k] = 2 * B[k] + A[m]
        `);
        let q = nest(`
          i64 B[17], A[17]
          for m in 2..7
            for k in max(4, 2*m - 3, 9 - m)..13 step 3
              B[k] += A[m]
        `);";
    let plans = [
        "q.reverse(\"m\")",
        "q.peel(\"m\", 2, \"front\")",
        "p.parallelize(\"k\")",
    ];
    legal(script, &plans);
    for plan in plans {
        let answer = compare(&[dialog_nest(script, plan)], Policy::Strict, &|| false);
        assert!(
            matches!(answer, Ok(Answer::Equal { .. })),
            "{plan}: {answer:?}"
        );
    }
    illegal(script, "p.reverse(\"m\")", &["reverses"]);
    illegal(script, "p.parallelize(\"m\")", &["share B["]);
    // The steps lead past each other.
    let apart = "let p = nest(`
          i64 B[17], A[17]
          for m in 0..2
            for k in max(4, m + 4)..13 step 2
              B[k] = 2 * B[k] + A[m]
        `);";
    legal(apart, &["p", "p.parallelize(\"m\")", "p.reverse(\"m\")"]);
}
