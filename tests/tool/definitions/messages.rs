//! Messages as values, and below tables.

use crate::definitions::{fault, printed, teml};

#[test]
fn a_caught_error_has_its_help() {
    let script = "
        let A = tensor([30, 40]);
        let C = eq(A, [i, j] -> [i, j]);
        let l = build(C).tile(8);
        try { l.parallelize(\"i\"); } catch (e) { print(e.message); print(e.help); print(e.op); }
        try { tensor([3], \"f16\"); } catch (e) { print(e); print(e.help.is_empty()); }
        try { tile(C, 8); } catch (e) { print(e.help); }";
    let expected = "\
parallelize: no loop is named `i`: the nest has `i_o`, `j_o`, `i_i`, `j_i`
help: `i` became `i_o` and `i_i`
`i` became `i_o` and `i_i`
parallelize
tensor: argument 2 `elem` must be an element type: \"f64\", \"f32\", \"i32\", \"i64\", not the string \"f16\"
true
`build` wraps an assignment in a loop nest: build(t)
";
    assert_eq!(printed(script), expected);
}

#[test]
fn what_a_strict_sum_costs_is_said_once() {
    let script = "
        let x = tensor([1000]);
        let s = eq(vsum(vmul(x, x, [[i], [i]]), [i]), []);
        let dot = build(s);
        compare(dot);
        compare(dot);
        reductions(\"reassoc\");
        compare(dot);";
    let (code, out, _) = teml(&["run"], script);
    let lines: Vec<&str> = out.lines().filter(|l| l.starts_with("order: ")).collect();
    let expected = "order: dot computes the sum over `i` one term after the other, without vectors; \
                    `reductions(\"reassoc\")` allows partial sums, as rfactor and \
                    schedules::reduction make them";
    assert_eq!((code, lines), (0, vec![expected]));
    // A loop over neighbors, or a tensor for the sums, helps without another order.
    for (script, advice) in [
        (
            "let A = tensor([20, 30]); let B = tensor([30, 40]); compare(build(matmul(A, B)));",
            "`interchange(\"i2\", \"i3\")` and `vectorize(\"i2\")` compute neighboring elements",
        ),
        (
            "let A = tensor([20, 30]); let B = tensor([30, 40]); let b = tensor([40]);
             compare(build(veinsum(\"ik,kj->ij\", A, B) / b + 1));",
            "its own tensor for the sum",
        ),
        (
            "let A = tensor([20, 30]); let x = tensor([30]); compare(build(matmul(A, x)));",
            "`unroll_and_jam(\"i1\", ",
        ),
        (
            "let A = tensor([20, 30]); compare(build(sum(A)));",
            "`reductions(\"reassoc\")` allows partial sums",
        ),
    ] {
        let (code, out, errors) = teml(&["run"], script);
        assert_eq!(code, 0, "{errors}");
        assert!(out.contains("order: ") && out.contains(advice), "{out}");
    }
    // Vectors run over elements of the result here, and integers may be summed in any order.
    for other in [
        "let A = tensor([50, 60]); let y = eq(vsum(vat(A, [i, j]), [i]), [j]);
         compare(build(y).interchange(1, 2).interchange(1, 2).vectorize(\"j\"));",
        "let n = tensor([100], \"i32\"); let t = sum(n); compare(build(t));",
    ] {
        let (code, out, _) = teml(&["run"], other);
        assert!(code == 0 && !out.contains("order: "), "{out}");
    }
}

#[test]
fn what_the_library_hands_on_is_said_of_the_arguments_of_the_script() {
    let setup = "let A = tensor([30, 40]); let B = tensor([40, 50]);
        let C = eq(A, [i, j] -> [i, j]); let l = build(C); let D = contract(A, B, [2, 1]);\n";
    for (call, message, at) in [
        (
            "l.tile([0, 4])",
            "tile: argument 2 `sizes` must be at least 1, and 0 is not",
            "[0, 4]",
        ),
        (
            "l.tile(0)",
            "tile: argument 2 `sizes` must be at least 1, and 0 is not",
            "0",
        ),
        (
            "tile(l, [\"i\"], [-3])",
            "tile: argument 3 `sizes` must be at least 1, and -3 is not",
            "[-3]",
        ),
        (
            "tile(l, [\"i\"], [\"x\"])",
            "tile: argument 3 `sizes` must be an integer, not the string \"x\"",
            "[\"x\"]",
        ),
        (
            "tile(C, [8])",
            "tile: argument 1 `nest` must be a nest, not a tensor",
            "C",
        ),
        (
            "C.tile([8])",
            "tile: argument 1 `nest` must be a nest, not a tensor",
            "C",
        ),
        (
            "tile(l, [\"k\"], [8])",
            "tile: no loop is named `k`: the nest has `i`, `j`",
            "[\"k\"]",
        ),
        (
            "schedules::gemm(A)",
            "schedules::gemm: argument 1 `nest` must be a nest, not a tensor",
            "A",
        ),
        (
            "contract(A, B, [1, 0])",
            "contract: B has no dimension 0: its dimensions are 1 and 2 (counted from 1)",
            "[1, 0]",
        ),
        (
            "contract(A, 3, [2, 1])",
            "contract: argument 2 `right` must be a tensor, not the integer 3",
            "3",
        ),
        (
            "einsum(\"ij,j\", A, 3)",
            "einsum: argument 3 `t2` must be a tensor",
            "3",
        ),
        (
            "entrywise_add(A, A, 4)",
            "entrywise_add: argument 3 `t3` must be a tensor",
            "4",
        ),
        (
            "stripmine_n(l, 2, 0)",
            "stripmine_n: argument 3 `factor` must be at least 1, and 0 is not",
            "0",
        ),
        (
            "interchange_n(l, \"k\", 1)",
            "interchange_n: no loop is named `k`: the nest has `i`, `j`",
            "\"k\"",
        ),
        (
            "transpose_layout(l, A, [2, 3])",
            "transpose_layout: [2, 3] does not list each of the 2 dimensions of A once",
            "[2, 3]",
        ),
        (
            "pluto_best(A)",
            "pluto_best: argument 1 `nests` must be a nest or a list of nests, not a tensor",
            "A",
        ),
    ] {
        let (found, place) = fault(&format!("{setup}{call}"));
        assert_eq!((found.as_str(), place.as_str()), (message, at), "{call}");
    }
}
