//! Whole tensors in expressions: broadcast, compared, reduced over dimensions, and stored where a
//! nest is asked for.

use crate::definitions::{fault, printed, teml};

#[test]
fn operands_are_broadcast_from_the_last_dimension_on() {
    let tensors = "let A = tensor([4, 5]); let r = tensor([5]); let c = tensor([4, 1]);
                   let T = tensor([3, 1, 5]); let N = size(\"N\"); let X = tensor([N, 4]);
                   let m = tensor([N, 1]);";
    for (expression, entry) in [
        ("A + r", "[_1, _2] -> A[_1][_2] + r[_2]"),
        ("r - A", "[_1, _2] -> r[_2] - A[_1][_2]"),
        ("A * c", "[_1, _2] -> A[_1][_2] * c[_1][0]"),
        ("c + r", "[_1, _2] -> c[_1][0] + r[_2]"),
        ("A / T", "[_1, _2, _3] -> A[_2][_3] / T[_1][0][_3]"),
        ("X - m", "[_1, _2] -> X[_1][_2] - m[_1][0]"),
        (
            "where(A > c, r, 0)",
            "[_1, _2] -> select(A[_1][_2] > c[_1][0], r[_2], 0)",
        ),
        ("vmaximum(c, r)", "[_1, _2] -> max(c[_1][0], r[_2])"),
        ("c + 1", "[_1, _2] -> c[_1][_2] + 1"),
    ] {
        let text = printed(&format!("{tensors} print({expression});"));
        assert_eq!(text.lines().last(), Some(entry), "{expression}");
    }
    for wrong in [
        "A + tensor([4], \"f64\", \"x\")",
        "X + tensor([5], \"f64\", \"x\")",
        "m + X + A",
    ] {
        let (message, _) = fault(&format!("{tensors} {wrong};"));
        assert!(message.contains("from the last dimension on"), "{message}");
    }
}

#[test]
fn dimensions_count_from_both_ends_and_are_kept() {
    let tensors = "let A = tensor([2, 3]); init(A, [[1, 2, 3], [4, 5, 6]]);";
    for (reduction, expected) in [
        ("sum(A, 2)", "[2] [6.0, 15.0]"),
        ("sum(A, -1)", "[2] [6.0, 15.0]"),
        ("sum(A, [-2])", "[3] [5.0, 7.0, 9.0]"),
        ("sum(A, [1, -1])", "[] [21.0]"),
        ("max(A, [1], #{keep: true})", "[1, 3] [4.0, 5.0, 6.0]"),
        ("mean(A, #{keep: true})", "[1, 1] [3.5]"),
        ("prod(A, -1, #{keep: false})", "[2] [6.0, 120.0]"),
        (
            "A / vsum(A, -1, #{keep: true}) * 30",
            "[2, 3] [5.0, 10.0, 15.0, 8.0, 10.0, 12.0]",
        ),
        ("variance(A, 1)", "[3] [2.25, 2.25, 2.25]"),
        ("argmax(A, -1)", "[2] [2, 2]"),
    ] {
        let script = format!(
            "{tensors} let y = {reduction}; let out = run(y).y; let all = [];
             for x in out {{ all.push(x); }} print(`${{out.shape}} ${{all}}`);"
        );
        let (code, text, errors) = teml(&["run"], &script);
        assert_eq!((code, text.trim()), (0, expected), "{reduction}: {errors}");
    }
    for (wrong, expected) in [
        ("sum(A, 0)", "A has no dimension 0"),
        ("sum(A, -3)", "A has no dimension -3"),
        ("sum(A, [1, -2])", "dimension -2 of A is listed twice"),
        ("max(A, 2)", "can be a dimension or a number"),
        ("sum(A, [2], #{keep: 1})", "must be `true` or `false`"),
    ] {
        let (message, _) = fault(&format!("{tensors} {wrong};"));
        assert!(message.contains(expected), "{wrong}: {message}");
    }
}

#[test]
fn comparisons_are_combined_and_chosen_by() {
    let tensors = "let x = tensor([4]); let k = tensor([4], \"i64\");
                   init(x, [-1, 0, 1, 2]); init(k, [0, 1, 2, 3]);";
    for (expression, expected) in [
        ("x > 0", "[0.0, 0.0, 1.0, 1.0]"),
        ("(x > 0) & (x < 2)", "[0.0, 0.0, 1.0, 0.0]"),
        ("(x > 1) | (k == 0)", "[1, 0, 0, 1]"),
        ("!(k != 2)", "[0, 0, 1, 0]"),
        ("where(x, 5, 7)", "[5.0, 7.0, 5.0, 5.0]"),
        ("where(!(x < 1), x, -x)", "[1.0, 0.0, 1.0, 2.0]"),
        ("where((k > 0) & !(x == 1), k, 0)", "[0, 1, 0, 3]"),
        ("(x > 0) * x", "[0.0, 0.0, 1.0, 2.0]"),
        ("sign(x)", "[-1.0, 0.0, 1.0, 1.0]"),
        ("clip(x, 0, 1)", "[0.0, 0.0, 1.0, 1.0]"),
        ("round(x / 4)", "[0.0, 0.0, 0.0, 0.0]"),
        ("floor(x / 4) + ceil(x / 4)", "[-1.0, 0.0, 1.0, 1.0]"),
    ] {
        let script = format!(
            "{tensors} let y = {expression}; let all = [];
             for x in run(y).y {{ all.push(x + 0); }} print(all);"
        );
        let (code, text, errors) = teml(&["run"], &script);
        assert_eq!((code, text.trim()), (0, expected), "{expression}: {errors}");
    }
}

#[test]
fn virtual_tensors_are_stored_under_the_names_of_their_variables() {
    let script =
        "let A = tensor([4]); let Y = 2 * A + 1; let naive = build(Y); let again = build(Y);
                  print(naive == again); print(naive); print(build(3 * A));";
    let expected = "true\nf64 Y[4], A[4]\nfor i in 0..4\n  Y[i] = 2 * A[i] + 1\n\
                    f64 t[4], A[4]\nfor i in 0..4\n  t[i] = 3 * A[i]\n";
    assert_eq!(printed(script).replace("i1", "i"), expected);
    // A tensor that it reads keeps its name.
    let script = "let A = tensor([4]); A = 2 * A; print(build(A));";
    assert!(
        printed(script).contains("A_2[i1] = 2 * A[i1]"),
        "{}",
        printed(script)
    );
    // Each time step has its own result.
    let script = "let u = tensor([1]); init(u, 1.0);
                  for step in 0..3 { u = eq(2 * u, [i]); let y = u + 1; print(run(y).y[0]); }";
    let (code, text, errors) = teml(&["run"], script);
    assert_eq!((code, text.as_str()), (0, "3.0\n5.0\n9.0\n"), "{errors}");
    let (message, _) = fault("let u = tensor([4]); let v = u * 1; u = eq(2 * u, [i]); build(v);");
    assert!(
        message.contains("`v` reads `u`, which is assigned after `v`"),
        "{message}"
    );
    // A declared tensor computes nothing, and iterators say no order.
    for wrong in [
        "build(tensor([4], \"f64\", \"x\"))",
        "build(vat(A, [i]) + vat(B, [j]))",
    ] {
        let (message, _) = fault(&format!(
            "let A = tensor([4]); let B = tensor([5]); {wrong};"
        ));
        assert!(message.contains("needs an assignment"), "{message}");
    }
}

#[test]
fn functions_keep_iterators_as_operators_do() {
    let script = "let x = tensor([9]); let y = tensor([8]);
                  print(exp(vat(x, [i + 1])) + vat(y, [i]));
                  print(maximum(vat(x, [i]), 0) * cast(vat(y, [i]), \"f64\"));
                  let d = eq(abs(vat(x, [i + 1]) - vat(x, [i])), [i]); print(d);";
    let text = printed(script);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1], "exp(x[i + 1]) + y[i]");
    assert_eq!(lines[3], "max(x[i], 0) * f64(y[i])");
    assert_eq!(lines[5], "d[i] = abs(x[i + 1] - x[i])");
}

#[test]
fn lists_of_nests_print_as_nests() {
    let script = "let A = tensor([4]); let s = sum(A); let y = eq(A / s, [i]); print(nests(y));
                  print([1, \"a\"]);";
    let expected = "f64 s[], A[4]\nfill s[] = 0\nfor i1 in 0..4\n  s[] += A[i1]\n\
                    f64 y[4], A[4], s[]\nfor i in 0..4\n  y[i] = A[i] / s[]\n[1, \"a\"]\n";
    assert_eq!(printed(script), expected);
}

#[test]
fn variants_need_no_list() {
    let script = "let A = tensor([40]); let y = 2 * A; let n = build(y); \
                  let rows = compare(y, n.vectorize(1)); print(rows.len());";
    let (code, text, errors) = teml(&["run"], script);
    assert_eq!(code, 0, "{errors}");
    assert!(
        text.contains("variant_2") && text.ends_with("2\n"),
        "{text}"
    );
    let (message, at) = fault("let A = tensor([4]); compare(build(2 * A), 3);");
    assert!(
        message.contains("argument 2") && at == "3",
        "{message}: {at}"
    );
}

#[test]
fn fractions_of_integers_are_warned_about() {
    let warned = |line: &str| {
        let (code, _, errors) = teml(
            &["run"],
            &format!("let A = tensor([4]);\n{line}\nprint(A);"),
        );
        assert_eq!(code, 0, "{errors}");
        errors.contains("the quotient of integers")
    };
    assert!(warned("let B = 1 / 2 * A;"));
    assert!(warned("let B = A + 7 / 2;"));
    for fine in [
        "let B = 1.0 / 2 * A;",
        "let B = 4 / 2 * A;",
        "let B = A * 1 / 2;",
        "let n = shape(A)[0] / 3;",
        "let s = \"1 / 2\"; // 1 / 2",
    ] {
        assert!(!warned(fine), "{fine}");
    }
}

#[test]
fn a_comment_that_reads_as_a_divisor_is_warned_about() {
    let warned = |line: &str| {
        let (code, _, errors) = teml(&["run"], &format!("let k = 7;\n{line}\nprint(k);"));
        assert_eq!(code, 0, "{errors}");
        errors.contains("nothing is divided")
    };
    assert!(warned("let h = k // 2;"));
    assert!(warned("let h = (k + 1) // (k - 2);"));
    for fine in [
        "let h = k; // 2;",
        "let h = k // the half",
        "let h = k // two halves;",
        "// k // 2;",
        "let h = `k // 2`;",
    ] {
        assert!(!warned(fine), "{fine}");
    }
}
