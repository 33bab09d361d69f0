//! The tensor operations of the library and their counterparts in the core: what they define, and
//! that kernels compute it.

use std::process::Command;

/// The output of the script.
fn printed(script: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("tensors.rhai");
    std::fs::write(&file, script).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_teml"))
        .arg("run")
        .arg(&file)
        .env("TEML_CACHE_DIR", directory.path())
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{shown}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn reductions_have_one_meaning_in_both_styles() {
    let declared = "let A = tensor([4, 5, 6]); let x = tensor([5]);";
    for (by_dimensions, by_iterators) in [
        ("sum(A, [2])", "eq(vsum(vat(A, [i, j, k]), [j]), [i, k])"),
        ("max(A, [3, 1])", "eq(vmax(vat(A, [i, j, k]), [k, i]), [j])"),
        ("mean(A)", "eq(vmean(vat(A, [i, j, k]), [i, j, k]), [])"),
        ("A.prod([1])", "eq(vprod(vat(A, [i, j, k]), [i]), [j, k])"),
        (
            "min(A * A)",
            "eq(vmin(vmul(A, A, [[i, j, k], [i, j, k]])), [])",
        ),
        ("stored(vsum(A, [2]))", "sum(vat(A, [i, j, k]), [j])"),
        ("eq(vsum(A, [1, 3]), [i] -> [i])", "sum(A, [1, 3])"),
        (
            "mul(vsum(A, [1, 3]), x, [[i], [i]] -> [i])",
            "mul(sums, x, [[i], [i]] -> [i])",
        ),
    ] {
        // Two kernels that are compared must assign the same tensors.
        let sums = "let sums = vsum(A, [1, 3]);";
        let one = format!("let y = {by_dimensions}; let one = build(y);");
        let two = format!("let z = @y: {by_iterators};");
        let script = format!("{declared}{sums}{one}{two} compare([one, build(z)]);");
        assert!(
            printed(&script).contains("equal the definition"),
            "{script}"
        );
    }
    // Numbers have their own.
    let numbers = "print(min(3, 4)); print(max(2.5, 1)); print([3, 1].len())";
    assert_eq!(printed(numbers), "3\n2.5\n2\n");
}

#[test]
fn einsum_understands_numpy() {
    let declared = "let A = tensor([4, 4]); let B = tensor([4, 5]); let T = tensor([3, 4, 4]);";
    for (call, assignment) in [
        (r#"einsum("ii->i", A)"#, "y[i] = A[i][i]"),
        (r#"einsum("ii", A)"#, "y[] = sum(i: A[i][i])"),
        (r#"einsum("ij->", B)"#, "y[] = sum(i, j: B[i][j])"),
        (
            r#"einsum(" i j , jk -> i k", A, B)"#,
            "y[i][k] = sum(j: A[i][j] * B[j][k])",
        ),
        (
            r#"einsum("ij,jk", A, B)"#,
            "y[i][k] = sum(j: A[i][j] * B[j][k])",
        ),
        (
            r#"einsum("bij,bjk->bik", T, T)"#,
            "y[b][i][k] = sum(j: T[b][i][j] * T[b][j][k])",
        ),
        (r#"einsum("bii->b", T)"#, "y[b] = sum(i: T[b][i][i])"),
        (r#"einsum("ba", B)"#, "y[a][b] = B[b][a]"),
    ] {
        let shown = printed(&format!("{declared} let y = {call}; print(y)"));
        assert_eq!(shown.lines().nth(1), Some(assignment), "{call}");
    }
}

#[test]
fn convolutions_are_what_deep_learning_calls_so() {
    for (input, weights, options, definition) in [
        (
            "[2, 3, 8]",
            "[4, 3, 3]",
            "#{}",
            "O[n][f][o1] = sum(c, k1: I[n][c][k1 + o1] * W[f][c][k1])",
        ),
        (
            "[2, 6, 9, 7]",
            "[4, 3, 3, 2]",
            "#{groups: 2, stride: [2, 1]}",
            "O[n][f + 2*g][o1][o2] = sum(c, k1, k2: \
             I[n][c + 3*g][k1 + 2*o1][k2 + o2] * W[f + 2*g][c][k1][k2])",
        ),
        (
            "[1, 4, 9]",
            "[4, 1, 3]",
            "#{groups: 4, dilation: 2}",
            "O[n][f + g][o1] = sum(c, k1: I[n][c + g][2*k1 + o1] * W[f + g][c][k1])",
        ),
        (
            "[1, 2, 5, 6, 7]",
            "[3, 2, 2, 1, 3]",
            "#{stride: 2, dilation: [1, 3, 2]}",
            "O[n][f][o1][o2][o3] = sum(c, k1, k2, k3: \
             I[n][c][k1 + 2*o1][3*k2 + 2*o2][2*k3 + 2*o3] * W[f][c][k1][k2][k3])",
        ),
    ] {
        let script = format!(
            "let I = tensor({input}); let W = tensor({weights});
             let O = conv(I, W, {options}); print(O);
             let nest = build(O);
             let at_filters = nest.place_init(\"f\");
             compare([nest, nest.parallelize(1), nest.parallelize(\"o1\"), at_filters]);"
        );
        let shown = printed(&script);
        assert_eq!(shown.lines().nth(1), Some(definition));
        assert!(shown.contains("equal the definition"), "{shown}");
    }
}

/// Elements without all neighbors keep what they hold.
#[test]
fn stencils_leave_the_border_alone() {
    for offsets in ["[[0]]", "[[-1], [0], [2]]", "[[1], [3]]", "[[-4], [-4]]"] {
        let script = format!(
            "let u = tensor([9]); let offsets = {offsets};
             let weights = []; weights.pad(offsets.len(), 0.5);
             let v = stencil(u, offsets, weights); print(shape(v));
             let nest = build(v);
             compare([nest, nest.stripmine(1, 4).parallelize(1), nest.reverse(1)]);"
        );
        let shown = printed(&script);
        assert!(shown.starts_with("[9]\n"), "{shown}");
        assert!(
            shown.contains("all 9 elements equal the definition"),
            "{shown}"
        );
    }
}

#[test]
fn a_convolution_takes_a_padded_input() {
    let script = "let input = tensor([1, 2, 5]); let W = tensor([3, 2, 3]);
        let P = padded(input, [0, 0, 1]);
        let O = conv(P, W); print(shape(O));
        compare([[build(P), build(O)]]);";
    let shown = printed(script);
    assert!(shown.starts_with("[1, 3, 5]\n"), "{shown}");
    assert!(shown.contains("equal the definition"), "{shown}");
}

/// Old values in the border do not matter, and the C agrees with the definition.
#[test]
fn padding_sets_every_element() {
    for (padded, shape) in [
        ("padded(A, [1, [0, 3]])", "[6, 8]"),
        ("padded(A, [0, 0])", "[4, 5]"),
        ("padded(A, [[2, 0], 0], -1.5)", "[6, 5]"),
        ("padded(2 * A + A, [1, 1], 7)", "[6, 7]"),
        ("padded(vcontract(A, B, [2, 1]), [0, 1])", "[4, 5]"),
        ("padded(s, [])", "[]"),
        ("padded(n, [1], 3)", "[3]"),
        ("eq(A, [i, j] -> [2*i, j + 1], [9, 8], 1)", "[9, 8]"),
    ] {
        let script = format!(
            "let A = tensor([4, 5]); let B = tensor([5, 3]); let s = scalar();
             let n = tensor([1], \"i32\");
             let P = {padded}; print(shape(P)); init(P, 99);
             let nest = build(P);
             let plans = [nest];
             if shape(P).len() == 2 {{
                 plans.push(nest.stripmine(1, 3).parallelize(1));
                 plans.push(nest.interchange(1, 2).reverse(1));
             }}
             compare(plans);"
        );
        let shown = printed(&script);
        let first = shown.lines().next();
        assert_eq!(first, Some(shape), "{padded}");
        assert!(shown.contains("equal the definition"), "{padded}: {shown}");
    }
}

/// Prints the operations that a call makes, and whether they compute the definition.
fn split(declared: &str, calls: &str) -> String {
    printed(&format!(
        "reductions(\"reassoc\"); {declared}
         let steps = {calls};
         for s in steps {{ print(s) }}
         compare([build(A), steps.map(|s| build(s))]);"
    ))
}

const MTTKRP: &str =
    "let B = tensor([7, 9, 13]); let C = tensor([9, 11]); let D = tensor([13, 11]);
    let A = einsum(\"ikl,lj,kj->ij\", B, D, C);";

#[test]
fn factors_leave_sums() {
    let text = split(MTTKRP, "factor_out(A, C)");
    for part in [
        "BD[i][k][j] = sum(l: B[i][k][l] * D[l][j])",
        "A[i][j] = sum(k: BD[i][k][j] * C[k][j])",
        "equal the definition",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // Below an operation, and with integers, which need no permission.
    let sampled = "let B = tensor([7, 9], \"i64\"); let CD = tensor([7, 5], \"i64\");
        let D = tensor([5, 9], \"i64\"); let A = entrywise_mul(B, vcontract(CD, D, [2, 1]));
        reductions(\"strict\");";
    let text = split(sampled, "factor_out(A, B)");
    assert!(
        text.contains("CDD[_1][_2] = sum(_3: CD[_1][_3] * D[_3][_2])"),
        "{text}"
    );
    assert!(
        text.contains("A[_1][_2] = B[_1][_2] * CDD[_1][_2]"),
        "{text}"
    );
    assert!(text.contains("equal the definition"), "{text}");
    // Iterators that start at a number other than 0, and a name that is taken.
    let shifted = "let P = tensor([6, 9]); let x = tensor([9]); let Px = tensor([7]);
        let A = tensor([7]);
        A = eq(vsum(vmul(vmul(P, x, [[i - 1, k], [k]]), Px, [(), [i]]), [k]), [i]);";
    let text = split(shifted, "factor_out(A, Px)");
    assert!(
        text.contains("Px2[i - 1] = sum(k: P[i - 1][k] * x[k])"),
        "{text}"
    );
    assert!(text.contains("equal the definition"), "{text}");
    // Without the other factor, the window of i + k has no ranges.
    let window =
        "let P = tensor([12]); let x = tensor([9]); let y = tensor([5]); let A = tensor([5]);
        A = eq(vsum(vmul(vmul(P, P, [[i + k], [2*k]]), y, [(), [i]]), [k]), [i]);
        reductions(\"reassoc\"); try { factor_out(A, y) } catch (e) { print(e) }";
    assert!(
        printed(window).contains("other ranges of iterators"),
        "{}",
        printed(window)
    );
}

#[test]
fn chains_take_the_fewest_operations() {
    let text = split(MTTKRP, "contraction_chain(A)");
    assert!(text.contains("DC[l][j][k] = D[l][j] * C[k][j]"), "{text}");
    assert!(text.contains("equal the definition"), "{text}");
    let chain = "let M = tensor([4, 30]); let N = tensor([30, 5]); let P = tensor([5, 40]);
        let x = tensor([40]); let A = einsum(\"ij,jk,kl,l->i\", M, N, P, x);";
    let text = split(chain, "contraction_chain(A)");
    for part in [
        "Px[k] = sum(l: P[k][l] * x[l])",
        "NPx[j] = sum(k: N[j][k] * Px[k])",
        "A[i] = sum(j: M[i][j] * NPx[j])",
        "equal the definition",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let one = "let M = tensor([4, 30]); let N = tensor([30, 5]); let A = contract(M, N, [2, 1]);";
    assert!(split(one, "contraction_chain(A)").contains("A[_1][_2] = sum(_3:"));
}

#[test]
fn contractions_become_products_of_matrices() {
    let declared = "let P = tensor([3, 7, 5, 6]); let Q = tensor([6, 4, 7, 2]);
        let S = tensor([6, 4, 7, 3]); let U = tensor([7, 4, 4]);
        let V = tensor([7, size(\"SIZE\"), 3]); let M = tensor([5, 7]); let N = tensor([7, 4, 3]);
        let L = tensor([7, 9]); let K = tensor([7, 7]); let B = tensor([5, 4, 3]);
        let x = tensor([7]); let y = tensor([5]);";
    let cases: [(&str, &[&str]); 4] = [
        (
            "einsum(\"aebf,fced->abcd\", P, Q)",
            &[
                "P2[5*a + b][6*e + f] = P[a][e][b][f]",
                "Q2[6*e + f][2*c + d] = Q[f][c][e][d]",
                "A2[a][c] = sum(e: P2[a][e] * Q2[e][c])",
                "A[a][b][c][d] = A2[5*a + b][2*c + d]",
            ],
        ),
        // The last index of the result is one of the first operand.
        (
            "einsum(\"aebf,fced->dcba\", P, Q)",
            &[
                "Q2[c + 4*d][6*e + f] = Q[f][c][e][d]",
                "P2[6*e + f][a + 3*b] = P[a][e][b][f]",
                "A2[d][b] = sum(e: P2[e][b] * Q2[d][e])",
                "A[d][c][b][a] = A2[c + 4*d][a + 3*b]",
            ],
        ),
        // A matrix is not copied, and neither is a result that is one.
        (
            "einsum(\"bk,kcd->bcd\", M, N)",
            &[
                "N2[k][3*c + d] = N[k][c][d]",
                "A2[b][c] = sum(k: M[b][k] * N2[k][c])",
                "A[b][c][d] = A2[b][3*c + d]",
            ],
        ),
        ("einsum(\"aebf,fcea->bc\", P, S)", &["A[b][c] = sum("]),
    ];
    for (value, parts) in cases {
        let declared = format!("{declared} let A = {value};");
        let text = split(&declared, "as_matrices(A)");
        for part in parts.iter().chain(&["equal the definition"]) {
            assert!(text.contains(part), "{value}: {part}\n{text}");
        }
    }
    let others = [
        "einsum(\"bk,kc->bc\", M, L)",
        "einsum(\"bk,kcd,b->bcd\", M, N, y)",
        // Both operands and the result have an index.
        "einsum(\"bk,bcd->bcd\", M, B)",
        "einsum(\"bk,kcc->bc\", M, U)",
        "einsum(\"kk,kcd->cd\", K, N)",
        "einsum(\"bk,bk->\", M, M)",
        "einsum(\"k,kcd->cd\", x, N)",
        "stored(2 * einsum(\"bk,kcd->bcd\", M, N))",
        "eq(vsum(vat(M, [b, k]) * vat(N, [k, c, d]), [k], #{k: 1..7}), [b, c, d])",
        "eq(vsum(vat(M, [b, k]) * vat(N, [k, c, d]), [k]), [b, c, d], #{c: 0..3})",
        "eq(vsum(vat(M, [b, k]) * vat(N, [6 - k, c, d]), [k]), [b, c, d])",
        "einsum(\"bk,kcd->bcd\", M, V)",
    ];
    let tried = "try { as_matrices(A); print(\"made\") } catch (e) { print(e) }";
    for value in others {
        let text = printed(&format!("{declared} let A = {value}; {tried}"));
        let refused = text.contains("one of which has several indices");
        assert!(refused, "{value}: {text}");
    }
}

#[test]
fn symmetric_results_are_mirrored() {
    let symmetric = [
        "einsum(\"ik,jk->ij\", M, M)",
        "eq(vsum(vat(x, [k]) * (vat(M, [i, k]) * vat(M, [j, k])), [k]) / 3, [i, j])",
        "eq(vexp(vat(x, [i]) + vat(x, [j])), [i, j])",
    ];
    let declared = "let M = tensor([9, 9]); let N = tensor([9, 9]); let x = tensor([9]);";
    for value in symmetric {
        let text = split(&format!("{declared} let A = {value};"), "mirrored(A)");
        for part in [
            "where j in 0..i + 1",
            "A[j][i] = A[i][j] where j in 0..i",
            "equal the definition",
        ] {
            assert!(text.contains(part), "{value}: {part}\n{text}");
        }
    }
    let others = [
        "einsum(\"ik,kj->ij\", M, M)",
        "einsum(\"ik,jk->ij\", M, N)",
        "eq(vat(x, [i]) - vat(x, [j]), [i, j])",
        "eq(vat(x, [i]) * (vat(x, [j]) * vat(x, [i])), [i, j])",
        "eq(vsum(vat(M, [i, k]) * vat(M, [j, k]), [k]) + vat(x, [i]), [i, j])",
        "eq(vsum(vat(M, [i, k]) * vat(M, [j, k]), [k], #{k: 0..i + 1}), [i, j])",
        "eq(vsum(vat(M, [i, k]) * vat(M, [j, k]), [k]), [i, j], #{j: 0..4})",
        "eq(vat(x, [i]) * vat(x, [8 - j]), [i, j])",
        // It would read what it sets.
        "tensor([9, 9]); A = eq(vat(x, [i]) * vat(x, [j]) + vat(A, [i, j]), [i, j])",
    ];
    let tried = "try { mirrored(A); print(\"made\") } catch (e) { print(e) }";
    for value in others {
        let text = printed(&format!("{declared} let A = {value}; {tried}"));
        let refused = text.contains("stays the same if both iterators are exchanged");
        assert!(refused, "{value}: {text}");
    }
}
