//! Definitions whose order is part of their meaning: sweeps and time loops.

use super::{illegal, legal, nest, string};
use std::collections::HashMap;
use teml::interp::execute;
use teml::interp::store::{Data, Store};
use teml::interp::symbolic::{self, Answer, Policy};

const SEIDEL: &str = "
    let A = tensor([11, 12]);
    let square = [[-1, -1], [-1, 0], [-1, 1], [0, -1], [0, 0], [0, 1], [1, -1], [1, 0], [1, 1]];
    let sum = vstencil(A, square, [1, 1, 1, 1, 1, 1, 1, 1, 1]);
    A = eq(sum / 9, [i, j] -> [i, j], [11, 12]);
    let one = sweep(A);
    let seidel = sweep(A).repeat(\"t\", 5);
    let skewed = seidel.skew(\"i\", \"t\", 1).skew(\"j\", \"t\", 1).skew(\"j\", \"i\", 1);
";

#[test]
fn seidel_2d() {
    legal(
        SEIDEL,
        &[
            "one",
            "one.skew(\"j\", \"i\", 1)",
            "one.skew(\"j\", \"i\", 2)",
            "one.skew(\"j\", \"i\", 1).interchange(\"i\", \"j\")",
            "one.tile([4, 12])",
            "one.tile([1, 4])",
            "one.skew(\"j\", \"i\", 1).tile([3, 4])",
            "seidel",
            "seidel.skew(\"i\", \"t\", 1)",
            "skewed",
            "skewed.tile([2, 3, 4])",
            "skewed.interchange(\"t\", \"i\")",
        ],
    );
    illegal(
        SEIDEL,
        "one.interchange(\"i\", \"j\")",
        &["loop `j` reverses two statements"],
    );
    illegal(
        SEIDEL,
        "one.skew(\"j\", \"i\", 1).interchange(\"i\", \"j\").parallelize(\"i\")",
        &["loop `i` cannot be parallelized"],
    );
    legal(
        SEIDEL,
        &["one.skew(\"j\", \"i\", 2).tile([1, 4]).stripmine(\"j_i\", 2, \"grid\")"],
    );
    illegal(SEIDEL, "one.tile(4)", &["reverses two statements"]);
    illegal(
        SEIDEL,
        "seidel.interchange(\"t\", \"i\")",
        &["loop `i` reverses two statements"],
    );
    illegal(SEIDEL, "one.reverse(\"i\")", &["loop `i` reverses"]);
    for mark in [
        "parallelize(\"i\")",
        "parallelize(\"j\")",
        "vectorize(\"j\")",
    ] {
        illegal(SEIDEL, &format!("one.{mark}"), &["loop `"]);
    }
}

#[test]
fn a_sweep_reads_what_it_has_assigned() {
    let nest = nest(SEIDEL, "seidel");
    let [tensor] = &nest.tensors()[..] else {
        panic!("{nest}")
    };
    let start = |x: u64| ((x * 7) % 101) as f64;
    let mut store: Store = HashMap::new();
    store.insert(
        tensor.name().unwrap().clone(),
        Data::generate(tensor, start),
    );
    execute::run(&nest, &mut store).unwrap();

    let mut a: Vec<Vec<f64>> = (0..11)
        .map(|i| (0..12).map(|j| start(i * 12 + j)).collect())
        .collect();
    for _ in 0..5 {
        for i in 1..10 {
            for j in 1..11 {
                let mut sum = 0.0;
                for row in &a[i - 1..=i + 1] {
                    for x in &row[j - 1..=j + 1] {
                        sum += x;
                    }
                }
                a[i][j] = sum / 9.0;
            }
        }
    }
    let Data::F64(found) = &store[tensor.name().unwrap()] else {
        panic!("another type")
    };
    for (found, expected) in found.iter().zip(a.iter().flatten()) {
        assert!((found - expected).abs() <= 1e-12 * expected.abs());
    }
}

const JACOBI: &str = "
    let A = tensor([9, 8]);
    let B = tensor([9, 8]);
    let star = [[0, 0], [0, -1], [0, 1], [-1, 0], [1, 0]];
    B = eq(vstencil(A, star, [1, 1, 1, 1, 1]) * 0.2, [i, j] -> [i, j], [9, 8]);
    let first = build(B);
    A = eq(vstencil(B, star, [1, 1, 1, 1, 1]) * 0.2, [i, j] -> [i, j], [9, 8]);
    let steps = fuse_outer(first, build(A), 0).repeat(\"t\", 4);
    let rows = steps.shift(\"i_2\", 1).fuse(\"i\", \"i_2\");
";

#[test]
fn jacobi_2d_with_a_time_loop() {
    legal(
        JACOBI,
        &[
            "steps",
            "steps.parallelize(\"i\").vectorize(\"j\").parallelize(\"i_2\")",
            "rows",
            "rows.shift(\"j_2\", 1).fuse(\"j\", \"j_2\")",
        ],
    );
    illegal(JACOBI, "steps.fuse(\"i\", \"i_2\")", &["reverses"]);
    illegal(
        JACOBI,
        "steps.parallelize(\"t\")",
        &["loop `t` cannot be parallelized"],
    );
    illegal(JACOBI, "steps.reverse(\"t\")", &["loop `t` reverses"]);
    illegal(JACOBI, "steps.distribute(\"t\")", &["the second one"]);
}

/// A product in each of several steps, which begins anew each time.
const PRODUCTS: &str = "
    let A = tensor([4, 4]);
    let x = tensor([4]);
    let y = tensor([4]);
    y = eq(vsum(vmul(A, x, [[i, k], [k]]), [k]), [i]);
    let product = build(y);
    x = eq(0.5 * y, [i] -> [i]);
    let steps = fuse_outer(product, build(x), 0).repeat(\"t\", 3);
";

#[test]
fn reductions_begin_anew_in_each_step() {
    legal(
        PRODUCTS,
        &[
            "steps",
            "steps.parallelize(\"i\").parallelize(\"i_2\")",
            "steps.stripmine(\"t\", 2, \"cut\").unroll(\"t_i\")",
        ],
    );
    illegal(PRODUCTS, "steps.fuse(\"i\", \"i_2\")", &["reverses"]);
}

#[test]
fn the_instances_agree() {
    let equal = |script: &str, nests: &str| {
        let nests = [nest(script, nests)];
        let answer = symbolic::compare(&nests, Policy::Strict, &|| false).unwrap();
        matches!(answer, Answer::Equal { .. })
    };
    for (script, legal, illegal) in [
        (SEIDEL, "skewed.tile([2, 3, 4])", "one.tile(4)"),
        (JACOBI, "rows", "steps.fuse(\"i\", \"i_2\")"),
        (
            PRODUCTS,
            "steps.interchange(\"i\", \"k\")",
            "steps.fuse(\"i\", \"i_2\")",
        ),
    ] {
        assert!(equal(script, legal), "{legal}");
        assert!(!equal(script, illegal), "{illegal}");
    }
}

#[test]
fn paths_say_how_assignments_are_meant() {
    let path = string(SEIDEL, "`${skewed.path()}`");
    assert!(path.contains("sweep(A)\n    .repeat(\"t\", 5)"), "{path}");
}
