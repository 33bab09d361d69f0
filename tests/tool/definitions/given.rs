//! Given ranges, and reductions inside operations, compared with loops in order.

use crate::definitions::{printed, teml};

pub const N: usize = 5;

/// A matrix and two vectors, as the scripts below initialize them.
const TENSORS: &str = "let A = tensor([5, 5]); init(A, |p, q| p * 1.5 - q + (p * q) % 3);
    let x = tensor([5]); init(x, |p| 2.0 - p * 0.5);
    let y = tensor([5]); init(y, |p| p * p * 0.25 - 1.0);\n";

pub fn a(i: usize, j: usize) -> f64 {
    let (p, q) = (i as f64, j as f64);
    p * 1.5 - q + (i * j % 3) as f64
}

pub fn x(i: usize) -> f64 {
    2.0 - i as f64 * 0.5
}

pub fn y(i: usize) -> f64 {
    let p = i as f64;
    p * p * 0.25 - 1.0
}

/// The numbers of an array that a script computes.
pub fn numbers(script: &str, array: &str) -> Vec<f64> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("array.npy");
    let script = format!("{TENSORS}{script} save({array}, \"{}\");", file.display());
    let (code, _, messages) = teml(&["run"], &script);
    assert_eq!(code, 0, "{messages}");
    let bytes = std::fs::read(file).unwrap();
    let header = 10 + usize::from(bytes[8]) + 256 * usize::from(bytes[9]);
    let numbers = bytes[header..].chunks_exact(8);
    numbers
        .map(|b| f64::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

/// Asserts that `name = value` computes these numbers, in row-major order; `let name` is a new
/// tensor.
pub fn computes(name: &str, value: &str, expected: &[f64]) {
    let script = format!("{name} = {value};");
    let name = name.trim_start_matches("let ");
    let computed = numbers(&script, &format!("run(build({name})).{name}"));
    assert_eq!(computed.len(), expected.len(), "{value}: {computed:?}");
    for (k, (computed, expected)) in computed.iter().zip(expected).enumerate() {
        let near = (computed - expected).abs() <= 1e-12 * expected.abs().max(1.0);
        assert!(
            near,
            "{value}: element {k} is {computed} and not {expected}"
        );
    }
}

fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    terms.fold(0.0, |sum, term| sum + term)
}

#[test]
fn elements_outside_of_a_range_keep_what_they_held() {
    let expected: Vec<f64> = (0..N)
        .map(|i| {
            if (1..4).contains(&i) {
                x(i) + 1.0
            } else {
                x(i)
            }
        })
        .collect();
    computes("x", "eq(x + 1, [i] -> [i], #{i: 1..4})", &expected);
    computes("x", "eq(x + 1, [i] -> [i], #{i: 1..=3})", &expected);
    let expected: Vec<f64> = (0..N)
        .map(|i| if i % 2 == 1 { 7.0 * x(i) } else { x(i) })
        .collect();
    computes("x", "eq(7 * x, [i] -> [i], #{i: 1..5 by 2})", &expected);
    let unchanged: Vec<f64> = (0..N).map(x).collect();
    computes("x", "eq(x + 1, [i] -> [i], #{i: 3..3})", &unchanged);
    computes("x", "eq(x + 1, [i] -> [i], #{i: 4..2})", &unchanged);
}

#[test]
fn sums_run_over_triangles_and_bands() {
    let rows = |terms: &dyn Fn(usize) -> std::ops::Range<usize>| -> Vec<f64> {
        (0..N)
            .map(|i| sum(terms(i).map(|j| a(i, j) * x(j))))
            .collect()
    };
    let product = "vmul(A, x, [[i, j], [j]])";
    let lower = format!("eq(vsum({product}, [j], #{{j: 0..i + 1}}), [i])");
    computes("y", &lower, &rows(&|i| 0..i + 1));
    let strictly = format!("eq(vsum({product}, [j], #{{j: 0..i}}), [i])");
    computes("y", &strictly, &rows(&|i| 0..i));
    let band = format!("eq(vsum({product}, [j], #{{j: max(0, i - 1)..min(5, i + 2)}}), [i])");
    computes("y", &band, &rows(&|i| i.saturating_sub(1)..(i + 2).min(N)));
}

#[test]
fn targets_are_triangles() {
    let mut expected = vec![];
    for i in 0..N {
        expected.extend((0..N).map(|j| if j <= i { 2.0 * a(i, j) } else { a(i, j) }));
    }
    computes(
        "A",
        "eq(2 * A, [i, j] -> [i, j], #{j: 0..i + 1})",
        &expected,
    );
    // A reduction begins from nothing in the triangle, and the rest is kept.
    let mut expected = vec![];
    for i in 0..N {
        expected.extend((0..N).map(|j| {
            if j <= i {
                sum((0..=j).map(|k| a(i, k) * a(j, k)))
            } else {
                a(i, j)
            }
        }));
    }
    let product = "vat(A, [i, k]) * vat(A, [j, k])";
    let value = format!("eq(vsum({product}, [k], #{{k: 0..j + 1}}), [i, j], #{{j: 0..i + 1}})");
    computes("A", &value, &expected);
}

#[test]
fn reductions_are_operands_like_others() {
    let product = |i: usize| sum((0..N).map(|j| a(i, j) * x(j)));
    let expected: Vec<f64> = (0..N).map(|i| 2.0 * product(i) + 3.0 * y(i)).collect();
    let of_rows = "vsum(vmul(A, x, [[i, j], [j]]), [j])";
    computes(
        "y",
        &format!("eq(2 * {of_rows} + 3 * vat(y, [i]), [i])"),
        &expected,
    );
    // The sum reads what is assigned: all of it comes first.
    let product = |i: usize| sum((0..N).map(|j| a(i, j) * y(j)));
    let expected: Vec<f64> = (0..N).map(|i| 2.0 * product(i) + 3.0 * y(i)).collect();
    let of_itself = "vsum(vmul(A, y, [[i, j], [j]]), [j])";
    computes(
        "y",
        &format!("eq(2 * {of_itself} + 3 * vat(y, [i]), [i])"),
        &expected,
    );
    let greatest = |i: usize| (0..N).map(|j| a(i, j)).fold(f64::MIN, f64::max);
    let expected: Vec<f64> = (0..N)
        .map(|i| greatest(i) / (1.0 + sum((0..N).map(|j| a(i, j).abs()))))
        .collect();
    let value = "vmax(vat(A, [i, j]), [j]) / (1 + vsum(vabs(vat(A, [i, j])), [j]))";
    computes("y", &format!("eq({value}, [i])"), &expected);
    // A maximum of sums.
    let expected: Vec<f64> = (0..N)
        .map(|i| {
            let sums = (0..N).map(|k| sum((0..N).map(|j| a(i, j) * a(k, j))) + 1.0);
            sums.fold(f64::MIN, f64::max)
        })
        .collect();
    let value = "vmax(vsum(vat(A, [i, j]) * vat(A, [k, j]), [j]) + 1, [k])";
    computes("y", &format!("eq({value}, [i])"), &expected);
    // Over triangles with different ranges.
    let expected: Vec<f64> = (0..N)
        .map(|i| {
            let sums = (0..=i).map(|k| sum((0..=k).map(|j| a(k, j))) + 1.0);
            sums.fold(f64::MIN, f64::max)
        })
        .collect();
    let value = "vmax(vsum(vat(A, [k, j]), [j], #{j: 0..k + 1}) + 1, [k], #{k: 0..i + 1})";
    let assignment = format!("eq({value}, [i], #{{i: 0..5}})");
    computes("y", &assignment, &expected);
}

#[test]
fn a_softmax_is_one_line() {
    let mut expected = vec![];
    for i in 0..N {
        let greatest = (0..N).map(|j| a(i, j)).fold(f64::MIN, f64::max);
        let total = sum((0..N).map(|j| (a(i, j) - greatest).exp()));
        expected.extend((0..N).map(|j| (a(i, j) - greatest).exp() / total));
    }
    let greatest = "vmax(vat(A, [i, k]), [k])";
    let value =
        format!("vexp(vat(A, [i, j]) - {greatest}) / vsum(vexp(vat(A, [i, l]) - {greatest}), [l])");
    computes("A", &format!("eq({value}, [i, j])"), &expected);
    let text = printed(&format!(
        "{TENSORS}let B = eq({value}, [i, j]); print(build(B));"
    ));
    assert_eq!(
        text.matches("max=").count(),
        1,
        "the maximum is computed once: {text}"
    );
}

#[test]
fn a_sum_may_read_what_a_sweep_has_assigned() {
    // A triangular solve.
    let diagonal = |i: usize| a(i, i) + 20.0;
    let mut solved: Vec<f64> = vec![];
    for i in 0..N {
        let known = sum((0..i).map(|j| a(i, j) * solved[j]));
        solved.push((y(i) - known) / diagonal(i));
    }
    let script = "x = eq((vat(y, [i]) - vsum(vat(A, [i, j]) * vat(x, [j]), [j], #{j: 0..i})) / \
                  (vat(A, [i, i]) + 20), [i]);";
    let computed = numbers(script, "run(sweep(x)).x");
    assert_eq!(computed.len(), N);
    for (computed, expected) in computed.iter().zip(&solved) {
        assert!(
            (computed - expected).abs() < 1e-12,
            "{computed} is not {expected}"
        );
    }
}

#[test]
fn given_ranges_come_before_inference() {
    let n = N;
    let cell = |i: usize, j: usize| if i < N && j < N { a(i, j) } else { 0.0 };
    let boxes = (0..n - 1).flat_map(|i| (0..n - 1).map(move |j| (i, j)));
    let boxes: Vec<f64> = boxes
        .map(|(i, j)| cell(i, j) + cell(i, j + 1) + cell(i + 1, j) + cell(i + 1, j + 1))
        .collect();
    computes(
        "let s",
        "eq(vsum(vat(A, [i + p, j + q]), [p, q], #{p: 0..2, q: 0..2}), [i, j])",
        &boxes,
    );
    let groups: Vec<f64> = (0..2).map(|j| x(2 * j).max(x(2 * j + 1))).collect();
    computes(
        "let s",
        "eq(vmax(vat(x, [2*j + r]), [r], #{r: 0..2}), [j])",
        &groups,
    );
    let means: Vec<f64> = (0..3).map(|i| (x(i) + x(i + 1) + x(i + 2)) / 3.0).collect();
    computes(
        "let s",
        "eq(vmean(vat(x, [i + k]), [k], #{k: 0..3}), [i])",
        &means,
    );
    let slice: Vec<f64> = (0..3).map(|j| a(1, j) * y(j)).collect();
    computes(
        "let s",
        "eq(vat(A, [value(1), j]) * vat(y, [j]), [j], #{j: 0..3})",
        &slice,
    );
    let shifted: Vec<f64> = (0..2).map(|j| x(j) + y(j + 3)).collect();
    computes(
        "let s",
        "eq(vadd(x, y, [[j], [j + 3]]), [j], #{j: 0..2})",
        &shifted,
    );
    let windows: Vec<f64> = (0..n)
        .map(|i| (0..3.min(i + 1)).map(|w| a(i, w) * x(i - w)).sum())
        .collect();
    computes(
        "let s",
        "eq(vsum(vmul(A, x, [[i, w], [i - w]]), [w], #{w: 0..min(3, i + 1)}), [i])",
        &windows,
    );
}

#[test]
fn a_reduction_that_leaves_out_terms_is_refused() {
    for (value, range) in [
        ("vsum(vmul(x, y, [[k + 1], [2*k]]), [k])", "0..3"),
        ("vsum(vmul(x, y, [[k], [k + 1]]), [k])", "0..4"),
    ] {
        let (message, at) =
            crate::definitions::fault(&format!("{TENSORS} let s = eq({value}, []);"));
        let expected = format!("the reduction over `k` would take only {range}");
        assert!(message.contains(&expected), "{message}");
        assert_eq!(at, "[k]");
    }
}

/// Rhai by itself takes values of two types as unequal, without a word.
#[test]
fn results_are_not_compared_for_equality() {
    let inputs = "let x = tensor([3]); let y = eq(x / 3, [i] -> [i]); let out = run(y);";
    for (comparison, help) in [
        ("out.y == out.y", "`close(a, b)`"),
        ("out.y == [0.0, 0.5, 1.0]", "`close(a, b)`"),
        ("3 == out.y", "`close(a, b)`"),
        ("out.y != 0.5", "`!close(a, b)`"),
        ("out == run(y)", "`close(a, b)`"),
        ("[out.y].contains(0.5)", "`close(a, b)`"),
    ] {
        let (code, _, error) = teml(&["run"], &format!("{inputs} print({comparison});"));
        assert_eq!(code, 1, "{comparison}: {error}");
        assert!(
            error.contains("does not compare arrays of numbers"),
            "{error}"
        );
        assert!(error.contains(help), "{error}");
    }
    let script = format!("{inputs} print(out.y[1] == out.y[1]); print(close(out.y, out.y));");
    assert_eq!(teml(&["run"], &script).1, "true\ntrue\n");
}
