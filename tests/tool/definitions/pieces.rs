//! Assignments in pieces, and what the library makes of them, compared with loops in order.

use crate::definitions::given::{N, a, computes, x, y};
use crate::definitions::{fault, printed, teml};

/// Elements row by row.
fn rows(height: usize, width: usize, element: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let rows = (0..height).flat_map(|i| (0..width).map(move |j| (i, j)));
    rows.map(|(i, j)| element(i, j)).collect()
}

#[test]
fn numbers_fill_ranges() {
    let expected = rows(N, N, |i, j| {
        if (1..4).contains(&i) && j < i {
            7.0
        } else {
            a(i, j)
        }
    });
    computes("A", "eq(7, [i, j], #{i: 1..4, j: 0..i})", &expected);
}

#[test]
fn triangles_are_put_together() {
    let pieces =
        "[eq(A, [i, j] -> [i, j], #{j: 0..i + 1}), eq(2 * A, [i, j] -> [j, i], #{j: 0..i})]";
    let expected = rows(N, N, |i, j| if j <= i { a(i, j) } else { 2.0 * a(j, i) });
    computes("let T", &format!("partition({pieces})"), &expected);
    // The old values, also of what other pieces assign.
    computes("A", &format!("partition({pieces})"), &expected);
}

#[test]
fn other_elements_get_a_number_a_tensor_or_what_they_held() {
    let band = "[eq(3 * A, [i, j] -> [i, j], #{j: max(0, i - 1)..min(5, i + 2)})]";
    let with = |other: &dyn Fn(usize, usize) -> f64| {
        rows(N, N, |i, j| {
            if i.abs_diff(j) <= 1 {
                3.0 * a(i, j)
            } else {
                other(i, j)
            }
        })
    };
    computes(
        "let T",
        &format!("partition({band}, -1)"),
        &with(&|_, _| -1.0),
    );
    computes("A", &format!("partition({band}, A)"), &with(&a));
    let sums = format!("partition({band}, eq(vat(x, [p]) * vat(y, [q]), [p, q]))");
    computes("let T", &sums, &with(&|i, j| x(i) * y(j)));
}

#[test]
fn tensors_are_joined() {
    let expected = rows(2 * N, N, |i, j| if i < N { a(i, j) } else { a(j, i - N) });
    computes("let T", "concat([A, vtranspose(A, [2, 1])], 1)", &expected);
    let expected = rows(
        N,
        2 * N,
        |i, j| if j < N { a(i, j) } else { 2.0 * a(i, j - N) },
    );
    computes("let T", "concat([A, vat(A, [i, j]) * 2], 2)", &expected);
    let expected: Vec<f64> = (0..N)
        .map(x)
        .chain((0..N).map(y))
        .chain((0..N).map(x))
        .collect();
    computes("let t", "concat([x, y, x], 1)", &expected);
    let expected = rows(2 * N, 2 * N, |i, j| match (i < N, j < N) {
        (true, true) => a(i, j),
        (false, false) => a(j - N, i - N),
        _ => 4.0,
    });
    computes(
        "let T",
        "blocks([[A, 4], [4, vtranspose(A, [2, 1])]])",
        &expected,
    );
}

#[test]
fn borders_continue_a_tensor() {
    let n = N as i64;
    let inside = |mode: &str, at: i64| -> usize {
        let at = match mode {
            "edge" => at.clamp(0, n - 1),
            "wrap" => at.rem_euclid(n),
            "reflect" if at < 0 => -at,
            "reflect" if at >= n => 2 * n - 2 - at,
            "symmetric" if at < 0 => -1 - at,
            "symmetric" if at >= n => 2 * n - 1 - at,
            _ => at,
        };
        usize::try_from(at).unwrap()
    };
    for mode in ["edge", "reflect", "symmetric", "wrap"] {
        let expected = rows(N + 4, N + 3, |i, j| {
            a(inside(mode, i as i64 - 1), inside(mode, j as i64 - 3))
        });
        computes(
            "let T",
            &format!("padded(A, [[1, 3], [3, 0]], \"{mode}\")"),
            &expected,
        );
    }
}

#[test]
fn a_partition_takes_the_shape_of_its_target() {
    let halves = "let u = tensor([9]); let e = tensor([5]);
         e = partition([
             eq(vat(u, [j]) + vat(u, [8 - j]), [j], #{j: 0..4}),
             eq(vat(u, [value(4)]), [value(4)]),
         ]);";
    assert_eq!(
        printed(&format!(
            "{halves} print(shape(e)); print(check(build(e)));"
        )),
        "[5]\nlegal\n"
    );
    let larger = halves.replace("tensor([5])", "tensor([6])");
    let (message, _) = fault(&larger);
    assert!(message.contains("no piece assigns e[5]"), "{message}");
    let (message, _) =
        fault("let u = tensor([9]); let e = partition([eq(vat(u, [j]), [j + 1], #{j: 0..4})]);");
    assert!(message.contains("no piece assigns e[0]"), "{message}");
}

/// Extents with sizes are those of the call, and not the likely ones.
#[test]
fn sizes_are_extents() {
    let head = "let n = size(\"N\", #{least: 2}); let m = size(\"M\");
        let A = tensor([n, m]); let B = tensor([n, 3]);";
    for (value, expected) in [
        (
            "concat([A, B], 2)",
            "f64 y[N][M + 3], A[N][M], B[N][3]\n\
             y[i1][i2] = A[i1][i2] where i1 in 0..N, i2 in 0..M\n\
             y[i1][M + i2] = B[i1][i2] where i1 in 0..N, i2 in 0..3\n",
        ),
        (
            "concat([B, B], 1)",
            "f64 y[2*N][3], B[N][3]\n\
             y[i1][i2] = B[i1][i2] where i1 in 0..N, i2 in 0..3\n\
             y[N + i1][i2] = B[i1][i2] where i1 in 0..N, i2 in 0..3\n",
        ),
        (
            "padded(A, [1, [0, 2]])",
            "f64 y[N + 2][M + 2], A[N][M]\n\
             y[_1 + 1][_2] = A[_1][_2] elsewhere 0\n",
        ),
        (
            "stencil(A, [[0, 0], [1, 0]], [1, 1])",
            "f64 y[N][M], A[N][M]\n\
             y[_1][_2] = A[_1][_2] + A[_1 + 1][_2]\n",
        ),
    ] {
        let shown = printed(&format!("{head} let y = {value}; print(y);"));
        assert!(shown.ends_with(expected), "{shown}");
    }
    assert_eq!(
        printed(&format!("{head} print(shape(A)); print(shape(B));")),
        "[N, M]\n[N, 3]\n"
    );
    let script = format!("{head} let y = concat([A, padded(B, [0, 1], \"edge\")], 2); compare(y);");
    let (code, out, err) = teml(&["run", "--set", "N=5", "--set", "M=1"], &script);
    assert_eq!(code, 0, "{out}{err}");
    let (message, _) = fault(&format!("{head} padded(A, [1, 1], \"edge\");"));
    assert!(message.contains("is 0 at"), "{message}");
}
