//! `pad(tensor, multiple)`: storage with zeros behind its elements, which every assignment keeps.

use super::{fault, printed, teml};

const MATRIX: &str = "let A = pad(tensor([5, 7]), 4); let x = pad(tensor([7]), 4);
    init(A, |i, j| 10.0 * i + j + 1); init(x, |j| 1.0 + j);
    let B = tensor([5, 7]); let z = tensor([7]);
    init(B, |i, j| 10.0 * i + j + 1); init(z, |j| 1.0 + j);\n";

#[test]
fn results_equal_those_without_padding() {
    for (padded, plain) in [
        ("einsum(\"ij,j->i\", A, x)", "einsum(\"ij,j->i\", B, z)"),
        (
            "eq(vadd(A, A, [[i, j], [i, j]]), [j, i])",
            "eq(vadd(B, B, [[i, j], [i, j]]), [j, i])",
        ),
        (
            "eq(vdiv(A, A, [[i, j], [i, j]]), [i, j])",
            "eq(vdiv(B, B, [[i, j], [i, j]]), [i, j])",
        ),
        (
            "eq(vsum(vmul(A, x, [[i, j], [j]]) - vat(A, [i, j]), [j]), [i])",
            "eq(vsum(vmul(B, z, [[i, j], [j]]) - vat(B, [i, j]), [j]), [i])",
        ),
        (
            "eq(vexp(vat(A, [i, j]) / 50), [i, j], #{i: 0..5, j: 0..7})",
            "eq(vexp(vat(B, [i, j]) / 50), [i, j])",
        ),
    ] {
        let script = format!(
            "{MATRIX}let p = {padded}; let q = {plain};\n\
             let found = run(build(p)).p; let expected = run(build(q)).q;\n\
             print(found.shape == expected.shape); print(close(found, expected));"
        );
        let (code, out, err) = teml(&["run"], &script);
        assert_eq!((code, out.as_str()), (0, "true\ntrue\n"), "{padded}: {err}");
    }
}

/// A product of two steps: the target of the first is padded as its operands are.
#[test]
fn targets_are_padded_as_their_operands() {
    let script = format!(
        "{MATRIX}let y = einsum(\"ij,j->i\", A, x); let s = einsum(\"i,i->\", y, y);\n\
         let u = einsum(\"ij,j->i\", B, z); let t = einsum(\"i,i->\", u, u);\n\
         print(close(run([build(y), build(s)]).s, run([build(u), build(t)]).t));\n\
         compare([[build(y), build(s)], [build(y).vectorize(1), build(s)]]);"
    );
    let (code, out, err) = teml(&["run"], &script);
    assert!(code == 0 && out.starts_with("true\n"), "{out}{err}");
    assert!(out.contains("checked: all"), "{out}");
}

/// Behind the extents of A, A/d is 0/0 without control.
#[test]
fn divisions_keep_zeros() {
    let script = "let A = pad(tensor([5]), 4); let d = scalar(); init(d, 0.0); init(A, 0.0);
        let q = eq(vdiv(A, d, [[i], ()]), [i]); let s = einsum(\"i->\", q);
        let p = eq(vat(A, [i]) / 2, [i]); print(p);
        print(close(run([build(q), build(s)]).s, 0.0));";
    let (code, out, err) = teml(&["run"], script);
    assert_eq!(
        (code, out.as_str()),
        (0, "f64 p[8], A[8]\np[i] = A[i] / 2\ntrue\n"),
        "{err}"
    );
}

#[test]
fn values_that_are_not_zero_behind_are_refused() {
    for (call, message) in [
        (
            "eq(vexp(A, [i, j]), [i, j])",
            "this is not 0 at `i`: exp(A[i][j])",
        ),
        (
            "eq(vat(A, [i, j]) + 1, [i, j])",
            "this is not 0 at `i`: A[i][j] + 1",
        ),
        (
            "eq(vmax(vat(A, [i, j]), [j]), [i])",
            "this is not 0 at `j`: A[i][j]",
        ),
        (
            "eq(vat(A, [i, j + 1]), [i, j], #{j: 0..7})",
            "the index j + 1 of A may reach the zeros",
        ),
        ("pad(B + 1, 4)", "is not a tensor without indices"),
        (
            "pad(B, 0)",
            "extents become multiples of 1 or more, not of 0",
        ),
    ] {
        let (text, _) = fault(&format!("{MATRIX}let y = {call};"));
        assert!(text.contains(message), "{call}: {text}");
    }
    let script = "let A = pad(tensor([3]), 4); init(A, [1, 2, 3, 4]);";
    assert!(
        fault(script)
            .0
            .contains("has a list of 4 where the tensor has the extent 3")
    );
    let shown = printed("let A = pad(tensor([3]), 4); print(A); print(pad(tensor([8]), 4));");
    assert_eq!(shown, "f64 A[4]\nf64 □[8]\n");
}

/// The space that a function has for a padded temporary begins with zeros, which nothing sets.
#[test]
fn functions_have_zeros_behind_their_own_tensors() {
    let text = printed(
        "let a = pad(tensor([5]), 8); let t = pad(tensor([5]), 8);
         t = eq(a + 1, [i] -> [i], #{i: 0..5});
         let y = eq(t * 2, [i] -> [i], #{i: 0..5});
         print(codegen(program(y)));",
    );
    assert!(text.contains("TEML_SPACE_ZERO(double, t, [8]);"), "{text}");
}
