//! A variable that reads as an iterator and holds something else.

use crate::definitions::{fault, printed};

const TENSORS: &str = "let A = tensor([8, 5]); let x = tensor([8]);\n";

#[test]
fn a_variable_that_reads_as_an_iterator_is_refused_in_an_index() {
    for (script, name, held) in [
        (
            "let n = 3; let B = eq(A, [n, j] -> [j]);",
            "n",
            "an integer",
        ),
        (
            "let i = 0; let B = eq(2 * A, [i, j] -> [i, j]);",
            "i",
            "an integer",
        ),
        (
            "let i = 0; let B = eq(vat(A, [p, j]), [i, j]);",
            "i",
            "an integer",
        ),
        ("n = 3; let B = vat(A, [n, j]);", "n", "an integer"),
        (
            "let n = 2; let B = vmul(A, x, [[n - 1, j], [n]]);",
            "n",
            "an integer",
        ),
        (
            "let n = 2; let B = vexp(A, [-n + 3, j]);",
            "n",
            "an integer",
        ),
        (
            "for k in 0..3 { let B = vat(A, [i + k + 1, j]); }",
            "k",
            "an integer",
        ),
        (
            "for k in 0..3 { let B = vat(A, [k + 1 + i, j]); }",
            "k",
            "an integer",
        ),
        (
            "for k in 0..3 { let B = vat(A, [i + (2*k - 1), j]); }",
            "k",
            "an integer",
        ),
        (
            "for k in 0..3 { let d = i; d += k; let B = vat(A, [d, j]); }",
            "k",
            "an integer",
        ),
        (
            "let k = 1; let at = i - k; let B = vat(A, [at, j]);",
            "k",
            "an integer",
        ),
        ("let k = 2; let B = vat(A, [k * i, j]);", "k", "an integer"),
        ("fn f(t, n) { vat(t, [n, j]) } f(A, 3)", "n", "an integer"),
        ("[0, 1].map(|n| vat(A, [n, j]))", "n", "an integer"),
        (
            "let n = 1; let lists = [[n, j], [j]]; let B = vmul(A, x, lists);",
            "n",
            "an integer",
        ),
        ("let n = 1; let B = vat(A, [n] + [j]);", "n", "an integer"),
        (
            "let B = eq(A, [i, j] -> [i, j]); let l = build(B); vat(A, [l, j])",
            "l",
            "a nest",
        ),
        ("let t = x; let B = vat(A, [t, j]);", "t", "a tensor"),
        ("let s = \"row\"; let B = vat(A, [s, j]);", "s", "a string"),
        (
            "let f = 0.5; let B = vat(A, [f, j]);",
            "f",
            "a number with decimals",
        ),
        (
            "let j = 1; let B = eq(vsum(vat(A, [i, iter(\"j\")]), [j]), [i]);",
            "j",
            "an integer",
        ),
    ] {
        let (message, at) = fault(&format!("{TENSORS}{script}"));
        let expected =
            format!("`{name}` reads as an iterator, but the variable `{name}` is {held}");
        assert_eq!(message, expected, "{script}");
        assert_eq!(at, name, "{script}");
    }
}

#[test]
fn both_readings_can_be_written() {
    for (script, shown) in [
        ("vat(A, [2, j])", "A[2][j]"),
        ("vat(A, [i - 1, j + 2])", "A[i - 1][j + 2]"),
        ("let n = 3; vat(A, [value(n), j])", "A[3][j]"),
        ("let n = 3; vat(A, [value(n) - 1, j])", "A[2][j]"),
        ("let n = 3; vat(A, [iter(\"n\"), j])", "A[n][j]"),
        ("let k = 3; vat(A, [i + value(k) + 1, j])", "A[i + 4][j]"),
        ("let N = 8; vat(A, [N - 1, j])", "A[7][j]"),
        ("let rows = 8; vat(A, [i + rows, j])", "A[i + 8][j]"),
        ("let p = i + 1; vat(A, [p, j])", "A[i + 1][j]"),
        (
            "let o = [1, 2]; vat(A, [i + o[0], j + o[1]])",
            "A[i + 1][j + 2]",
        ),
        ("let o = #{x: 1}; vat(A, [i + o.x, j])", "A[i + 1][j]"),
        ("let g = |n| n + 1; vat(A, [g.call(2), j])", "A[3][j]"),
        ("let n = 3; let s = [n, n]; vat(A, [s[0], j])", "A[3][j]"),
        ("let n = 3; let row = [n][0]; vat(A, [row, j])", "A[3][j]"),
        ("let k = 1; vat(A, [iter(\"k\"), j])", "A[k][j]"),
    ] {
        let printed = printed(&format!(
            "{TENSORS}let shown = {{ {script} }}; print(shown);"
        ));
        assert_eq!(printed, format!("f64 A[8][5]\n{shown}\n"), "{script}");
    }
    assert_eq!(fault("let n = 1.5; value(n)").1, "n");
}

#[test]
fn variables_stay_numbers_where_no_iterator_is_meant() {
    for script in [
        "let n = 4; let m = 2; let T = tensor([n, m]);",
        "let n = 4; let B = eq(A, [i, j] -> [i, j]); build(B).tile([n, n])",
        "let d = 1; let s = sum(A, [d]);",
        "let r = 2; let s = 1; let C = contract(A, A, [r, s + 1]);",
        "let d = 1; let v = vsum(vat(A, [i, j]), [d]);",
        "let k = 1; let B = eq(A, [i, j] -> [i, j]); build(B).parallelize(k)",
        "let i = 0; let B = eq(A, [p, j] -> [p, j]); build(B).vectorize(i + 2)",
        "let o = -1; let v = stencil(x, [[o], [0]], [1, 1]);",
        "let i = 1; let j = 2; init(A, [i, j], 3.0);",
        "let n = 3; let list = [n, n + 1]; if list[0] + list[1] != 7 { throw \"\" }",
    ] {
        printed(&format!("{TENSORS}{script}"));
    }
}

#[test]
fn a_level_with_the_name_of_a_loop_is_refused() {
    let nest = "let B = eq(A, [i, j] -> [i, j]); let l = build(B);\n";
    for script in [
        "let i = 1; l.parallelize(i)",
        "let j = 1; interchange(l, j, \"i\")",
        "let j = 1; l.reorder([j, \"i\"])",
        "let i = 2; l.tile([i], [4])",
        "fn f(l, j) { l.unroll(j) } f(l, 2)",
    ] {
        let (message, at) = fault(&format!("{TENSORS}{nest}{script}"));
        let expected =
            format!("`{at}` is a loop of the nest, but the variable `{at}` is the integer");
        assert!(
            message.starts_with(&expected),
            "{script}: {message} at {at}"
        );
    }
    for script in [
        "let i = 1; l.parallelize(value(i))",
        "let i = 1; l.parallelize(\"j\")",
        "let i = 1; l.parallelize(i + 1)",
        "let k = 1; l.parallelize(k)",
        "let i = \"j\"; l.parallelize(i)",
    ] {
        printed(&format!("{TENSORS}{nest}{script}"));
    }
}

#[test]
fn what_a_variable_means_is_said_in_the_dialog_too() {
    let (mut session, _) = crate::definitions::dialog();
    session.eval_line("let A = tensor([4, 4])").unwrap();
    session.eval_line("let n = 2").unwrap();
    let error = session
        .eval_line("let B = eq(A, [n, j] -> [j])")
        .unwrap_err();
    let shown = error.render(false);
    assert!(shown.contains("let n = 2"), "{shown}");
    assert!(shown.contains("`n` is declared here"), "{shown}");
}
