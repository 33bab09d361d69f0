//! Which values iterators take, in every spelling.

use crate::definitions::{fault, printed};

const TENSORS: &str = "let A = tensor([5, 5]); let L = tensor([5, 5]); let x = tensor([5]);
    let w = tensor([3]); let B = tensor([5]);\n";

fn message(script: &str) -> String {
    fault(&format!("{TENSORS}{script}")).0
}

#[test]
fn a_sum_is_not_cut_in_silence() {
    for (script, parts) in [
        (
            "let y = eq(vsum(vmul(L, x, [[i, i - j], [i - j]]), [j]), [i]);",
            [
                "reduction over `j`",
                "would take only 0..1: `i - j`",
                "dimension 2 of L",
            ],
        ),
        (
            "let y = eq(vsum(vmul(x, B, [[k], [k - 1]]), [k]), []);",
            [
                "reduction over `k`",
                "`k - 1` in dimension 1 of B",
                "would take only 1..5",
            ],
        ),
        (
            "let y = sum(vmul(vmul(x, B, [[k], [k - 1]]), w, [(), [i]]), [k]);",
            [
                "reduction over `k`",
                "`k` in dimension 1 of x",
                "allows 0..5",
            ],
        ),
        (
            "let y = eq(vmax(vat(x, [k]) - vat(x, [k + 1]), [k]), []);",
            [
                "reduction over `k`",
                "`k + 1` in dimension 1 of x",
                "would take only 0..4",
            ],
        ),
        (
            "let y = eq(vmean(vsub(x, x, [[k], [k - 1]]), [k]), []);",
            ["reduction over `k`", "allows 1..6", "would take only 1..5"],
        ),
        (
            "let y = eq(vprod(vmul(A, x, [[i, k], [k + 1]])), []);",
            [
                "reduction over `k`",
                "`k` in dimension 2 of A",
                "would take only 0..4",
            ],
        ),
    ] {
        let message = message(script);
        for part in parts {
            assert!(message.contains(part), "{script}: {message}");
        }
    }
}

#[test]
fn sums_over_what_one_access_allows_are_computed() {
    for (script, shown) in [
        (
            "vsum(vmul(x, w, [[k + 1], [k]]), [k])",
            "sum(k: x[k + 1] * w[k])",
        ),
        (
            "vsum(vmul(x, w, [[i + k], [k]]), [k])",
            "sum(k: x[i + k] * w[k])",
        ),
        ("vsum(vat(A, [k, k + 1]), [k])", "sum(k: A[k][k + 1])"),
        (
            "vsum(vmul(x, w, [[2*k], [k]]), [k])",
            "sum(k: x[2*k] * w[k])",
        ),
    ] {
        let text = printed(&format!("{TENSORS}print({script});"));
        assert!(text.ends_with(&format!("{shown}\n")), "{text}");
    }
    // As the help says: what has as many elements as there are terms gives the range.
    let ones = "let ones = tensor([4]); init(ones, 1.0);
        let y = eq(vsum(vmul(vmul(x, B, [[k + 1], [k]]), ones, [, [k]]), [k]), []);
        print(build(y));";
    assert!(printed(&format!("{TENSORS}{ones}")).contains("for k in 0..4"));
}

#[test]
fn the_range_is_the_same_in_every_spelling() {
    let staggered = "let u = tensor([7, 6]); let v = tensor([6, 7]); let d = tensor([6, 6]);\n";
    let printed = |value: &str| printed(&format!("{staggered}let y = {value}; print(build(y));"));
    let expected = printed(
        "eq(vadd(vsub(u, u, [[i + 1, j], [i, j]]), vsub(v, v, [[i, j + 1], [i, j]])), [i, j])",
    );
    assert!(expected.contains("f64 y[6][6]"), "{expected}");
    assert!(
        expected.contains("for i in 0..6\n  for j in 0..6"),
        "{expected}"
    );
    for value in [
        "eq((vat(u, [i + 1, j]) - vat(u, [i, j])) + (vat(v, [i, j + 1]) - vat(v, [i, j])), [i, j])",
        "add(vsub(u, u, [[i + 1, j], [i, j]]), vsub(v, v, [[i, j + 1], [i, j]]), -> [i, j])",
        "vat(u, [i + 1, j]).vsub(vat(u, [i, j])).vadd(vat(v, [i, j + 1]).vsub(vat(v, [i, j])))
            .eq([i, j])",
    ] {
        assert_eq!(printed(value), expected, "{value}");
    }
}

#[test]
fn equal_indices_need_equal_extents_in_every_spelling() {
    let tensors = "let X = tensor([4, 5]); let p = tensor([4]); let q = tensor([5]);\n";
    for (script, index) in [
        ("eq(vat(X, [i, i]), [i])", "`i`"),
        ("eq(vat(X, [i - 1, i - 1]), [i - 1])", "`i - 1`"),
        ("eq(vexp(X, [i + 1, i + 1]), [i])", "`i + 1`"),
        ("eq(vadd(p, q, [[i], [i]]), [i])", "`i`"),
        ("eq(vadd(p, q, [[i - 1], [i - 1]]), [i])", "`i - 1`"),
        ("eq(vat(p, [i]) + vat(q, [i]), [i])", "`i`"),
        ("eq(vat(p, [2*i]) * vat(q, [2*i]), [i])", "`2*i`"),
        ("eq(p, [i] -> [i], [5])", "`i`"),
        ("eq(p, [i + 1] -> [i + 1], [5])", "`i + 1`"),
    ] {
        let (message, _) = fault(&format!("{tensors}let y = {script};"));
        let expected = format!("{index} indexes dimension 1 of ");
        assert!(message.contains(&expected), "{script}: {message}");
    }
}
