//! Triangular matrices: sums and targets are inside of the triangle, and data have zeros outside.

use crate::definitions::given::{N, a, numbers, x};
use crate::definitions::{printed, teml};

/// `L` and `U` from `A`.
const BOTH: &str = "let L = triangular(tensor([5, 5]), \"lower\");
    init(L, |p, q| if q <= p { p * 1.5 - q + (p * q) % 3 } else { 0.0 });
    let U = triangular(tensor([5, 5]), \"upper\");
    init(U, |p, q| if q >= p { p * 1.5 - q + (p * q) % 3 } else { 0.0 });";

fn lower(i: usize, j: usize) -> f64 {
    if j <= i { a(i, j) } else { 0.0 }
}

fn upper(i: usize, j: usize) -> f64 {
    if j >= i { a(i, j) } else { 0.0 }
}

#[test]
fn sums_take_the_terms_inside() {
    let products = |of: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..N)
            .map(|i| (0..N).map(|j| of(i, j) * x(j)).sum())
            .collect()
    };
    type Element<'a> = &'a dyn Fn(usize, usize) -> f64;
    let cases: [(&str, Element<'_>, &str); 4] = [
        ("ij,j->i\", L", &lower, "j in 0..i + 1"),
        ("ji,j->i\", L", &|i, j| lower(j, i), "j in i..5"),
        ("ij,j->i\", U", &upper, "j in i..5"),
        ("ji,j->i\", U", &|i, j| upper(j, i), "j in 0..i + 1"),
    ];
    for (call, of, range) in cases {
        let script = format!("{BOTH} let z = einsum(\"{call}, x);");
        let found = numbers(&script, "run(build(z)).z");
        assert_eq!(found, products(of), "{call}");
        let tensors = "let x = tensor([5]); let L = triangular(tensor([5, 5]), \"lower\");\n\
                       let U = triangular(tensor([5, 5]), \"upper\");";
        let shown = printed(&format!("{tensors} print(einsum(\"{call}, x));"));
        assert!(shown.contains(range), "{shown}");
    }
    // Both triangles limit the terms.
    let shown = printed(
        "let L = triangular(tensor([5, 5]), \"lower\");
         print(einsum(\"ik,jk->ij\", L, L));",
    );
    assert!(shown.contains("k in 0..min("), "{shown}");
}

#[test]
fn targets_are_assigned_inside() {
    let mut expected = Vec::new();
    for i in 0..N {
        for j in 0..N {
            let sum = (0..N).map(|k| a(i, k) * a(j, k)).sum();
            expected.push(if j <= i { sum } else { 0.0 });
        }
    }
    let script = "let S = triangular(tensor([5, 5]), \"lower\"); S = einsum(\"ik,jk->ij\", A, A);";
    assert_eq!(numbers(script, "run(build(S)).S"), expected);
}

#[test]
fn other_numbers_outside_are_errors() {
    let script = "let L = triangular(tensor([3, 3]), \"lower\"); let x = tensor([3]);
        init(L, |p, q| 1.0 + p + q);
        let y = einsum(\"ij,j->i\", L, x);
        compare(build(y));";
    let (code, _, messages) = teml(&["run"], script);
    assert_eq!(code, 1, "{messages}");
    assert!(
        messages.contains("`L` was said to be lower triangular, and L[0][1] is 2"),
        "{messages}"
    );
    // Without data there are zeros outside.
    let script = "let L = triangular(tensor([9, 9]), \"lower\"); let x = tensor([9]);
        let y = einsum(\"ij,j->i\", L, x); let n = build(y);
        compare([n, n.interchange(\"i\", \"j\")]);";
    let (code, _, messages) = teml(&["run"], script);
    assert_eq!(code, 0, "{messages}");
}
