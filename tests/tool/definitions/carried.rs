//! Iterators that are given stay, in every spelling, or are refused.

use crate::definitions::{fault, printed, teml};

const TENSORS: &str = "let A = tensor([3, 3]); let B = tensor([3, 3]); let x = tensor([3]);
    let s = scalar(); let v = vat(A, [i, j]); let t = vat(A, [j, i]);\n";

#[test]
fn operators_keep_iterators() {
    for (value, shown) in [
        ("v + t", "A[i][j] + A[j][i]"),
        ("1.2 * v", "1.2 * A[i][j]"),
        ("v - 1", "A[i][j] - 1"),
        ("s * v", "s * A[i][j]"),
        ("v / s", "A[i][j] / s"),
        ("-v", "neg(A[i][j])"),
        ("1 / vsqrt(v)", "1 / sqrt(A[i][j])"),
        ("vdiv(1, vsqrt(v))", "1 / sqrt(A[i][j])"),
        ("vsqrt(v + t)", "sqrt(A[i][j] + A[j][i])"),
        ("v * vat(x, [2])", "A[i][j] * x[2]"),
        ("v * vat(x, [k])", "A[i][j] * x[k]"),
        ("2 * vsum(v, [j])", "2 * sum(j: A[i][j])"),
        ("vsum(v, [2])", "sum(j: A[i][j])"),
        ("vmean(v, [1]) + 1", "sum(i: A[i][j]) / 3 + 1"),
        ("vsum(v) - s", "sum(i, j: A[i][j]) - s"),
        ("vmul(v, t) + v", "A[i][j] * A[j][i] + A[i][j]"),
        // Without iterators, entries at the same position meet.
        ("A + B", "[_1, _2] -> A[_1][_2] + B[_1][_2]"),
        ("A * vat(x, [0])", "[_1, _2] -> A[_1][_2] * x[0]"),
    ] {
        let text = printed(&format!("{TENSORS}print({value});"));
        assert_eq!(text.lines().last(), Some(shown), "{value}");
    }
}

#[test]
fn a_matrix_and_its_transpose_are_added() {
    let script = "let M = tensor([2, 2]); init(M, |p, q| 10.0 * p + q);
        let S = eq(vat(M, [i, j]) + vat(M, [j, i]), [i, j]);
        print(run(build(S)).S);";
    let (code, out, _) = teml(&["run"], script);
    assert_eq!(
        (code, out.as_str()),
        (0, "f64[2][2]:\n   0.0  11.0\n  11.0  22.0\n")
    );
}

#[test]
fn what_cannot_stay_is_refused() {
    for (value, expected) in [
        ("v + B", "+: B has no iterators yet, and A carries [i, j]"),
        ("x * v", "*: x has no iterators yet, and A carries [i, j]"),
        (
            "v - (A + B)",
            "-: `[_1, _2] -> A[_1][_2] + B[_1][_2]` has no iterators yet, and A carries [i, j]",
        ),
        (
            "eq(v + t, [i, j] -> [i, j])",
            "eq: this operand carries iterators already: [i, j]",
        ),
        (
            "vexp(-v, [i, j])",
            "vexp: this operand carries iterators already: [i, j]",
        ),
        (
            "vsum(v, [])",
            "vsum: nothing is left to reduce over: the list is empty",
        ),
        (
            "sum(A, [])",
            "sum: nothing is left to reduce over: the list is empty",
        ),
        (
            "vmax(s)",
            "vmax: nothing is left to reduce over: s has no dimensions",
        ),
        (
            "vmean(vat(x, [1]))",
            "vmean: nothing is left to reduce over: x has no dimensions",
        ),
        (
            "vsum(v, [3])",
            "vsum: A has no dimension 3: its dimensions are 1 and 2 (counted from 1)",
        ),
    ] {
        let (message, _) = fault(&format!("{TENSORS}let y = {value};"));
        assert_eq!(message, expected, "{value}");
    }
}
